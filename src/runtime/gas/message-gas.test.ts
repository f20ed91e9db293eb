import { describe, expect, test } from "vitest";
import { Msg } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { fixedGas, gasTable, gasTableProblems } from "./message-gas.ts";

const table = gasTable({ MsgCreateCertificate: 5n, MsgRevokeCertificate: 7n });

test("the gas of a message is that of its row", () => {
  expect(fixedGas(table, "MsgRevokeCertificate")).toBe(7n);
  expect(() => fixedGas(table, "MsgSend")).toThrow("message_gas has no row for MsgSend");
});

describe("a table", () => {
  test("prices every message once", () => {
    expect(gasTableProblems(Msg, table)).toEqual([]);
  });

  test("is refused with every row that is missing, twice there or unknown", () => {
    expect(gasTableProblems(Msg, [])).toEqual([
      "params.message_gas: there is no row for MsgCreateCertificate",
      "params.message_gas: there is no row for MsgRevokeCertificate",
    ]);
    expect(gasTableProblems(Msg, [...table, ...gasTable({ MsgRevokeCertificate: 1n, "": 2n })])).toEqual([
      'params.message_gas: "MsgRevokeCertificate" appears twice or names no message',
      'params.message_gas: "" appears twice or names no message',
    ]);
    const most = 10n ** 12n;
    expect(gasTableProblems(Msg, gasTable({ MsgCreateCertificate: most, MsgRevokeCertificate: most + 1n }))).toEqual([
      "params.message_gas: MsgRevokeCertificate costs more than 1000000000000",
    ]);
  });
});
