import { describe, expect, test } from "vitest";
import { defineErrors, sdkErrors } from "../../util/index.ts";
import { queryFailure, StatusError } from "./query-failure.ts";

const errors = defineErrors("probe", { notFound: [4, "thing not found"], refused: [5, "refused"] });

describe("a failed query", () => {
  test.each([
    [
      sdkErrors.keyNotFound("account svc1abc not found"),
      22,
      "rpc error: code = NotFound desc = account svc1abc not found: key not found",
      "sdk/22",
    ],
    [sdkErrors.notFound("x"), 22, "rpc error: code = NotFound desc = x: not found: key not found", "sdk/38"],
    [errors.notFound("a/1"), 22, "rpc error: code = NotFound desc = a/1: thing not found: key not found", "probe/4"],
    [errors.refused("b"), 18, "rpc error: code = InvalidArgument desc = b: refused: invalid request", "probe/5"],
    [sdkErrors.invalidRequest("c"), 18, "rpc error: code = InvalidArgument desc = c: invalid request", "sdk/18"],
    [
      sdkErrors.invalidAddress("d"),
      18,
      "rpc error: code = InvalidArgument desc = d: invalid address: invalid request",
      "sdk/7",
    ],
    [sdkErrors.unauthorized("e"), 4, "rpc error: code = Unauthenticated desc = e: unauthorized", "sdk/4"],
    [
      sdkErrors.notSupported("f"),
      6,
      "rpc error: code = Unimplemented desc = f: feature not supported: unknown request",
      "sdk/37",
    ],
  ])("%s", (error, code, log, info) => {
    expect(queryFailure(error)).toEqual({ codespace: "sdk", code, log, info });
  });

  test("may be given a status, as failed simulations are", () => {
    expect(queryFailure(new StatusError("Unknown", sdkErrors.insufficientFunds("a")))).toEqual({
      codespace: "sdk",
      code: 6,
      log: "rpc error: code = Unknown desc = a: insufficient funds: unknown request",
      info: "sdk/5",
    });
  });

  test("keeps programming errors to itself", () => {
    expect(queryFailure(new Error("secret"))).toMatchObject({
      code: 111222,
      codespace: "undefined",
      info: "undefined/111222",
    });
  });
});
