import { describe, expect, test } from "vitest";
import { queryFault, readRefusal } from "./refusal.ts";

function read(code: number, log: string, info = "", codespace = "sdk") {
  const error = readRefusal({ code, codespace, log, info });
  return [`${error.codespace}/${error.code}`, error.message, queryFault(error)];
}

describe("refusals of queries", () => {
  const notFound = "account cosmos1abc not found: key not found";

  test.each([
    // Nodes of releases 0.42, and clients in between, which say it twice.
    [22, `rpc error: code = NotFound desc = ${notFound}`, "", ["sdk/22", notFound, "NotFound"]],
    [
      22,
      `rpc error: code = NotFound desc = rpc error: code = NotFound desc = ${notFound}`,
      "",
      ["sdk/22", notFound, "NotFound"],
    ],
    [
      18,
      "decoding bech32 failed: invalid request",
      "",
      ["sdk/18", "decoding bech32 failed: invalid request", "InvalidArgument"],
    ],
    [
      18,
      "rpc error: code = InvalidArgument desc = bad: invalid request",
      "",
      ["sdk/18", "bad: invalid request", "InvalidArgument"],
    ],
    // Simulations of newer nodes.
    [
      6,
      "rpc error: code = Unknown desc = 5a < 7a: insufficient funds with gas used: '123': unknown request",
      "",
      ["sdk/5", "5a < 7a: insufficient funds", "Unknown"],
    ],
    [
      6,
      "rpc error: code = Unknown desc = expected 3, got 2: incorrect account sequence With gas wanted: '0' and gas used: '9' : unknown request",
      "",
      ["sdk/32", "expected 3, got 2: incorrect account sequence", "Unknown"],
    ],
    [
      6,
      "rpc error: code = Unknown desc = validator does not exist: unknown request",
      "",
      ["sdk/6", "validator does not exist", "Unknown"],
    ],
    // Our own node names its error.
    [
      22,
      "rpc error: code = NotFound desc = a/1: deployment not found: key not found",
      "deployment/4",
      ["deployment/4", "a/1: deployment not found", "NotFound"],
    ],
    [
      18,
      "rpc error: code = InvalidArgument desc = x: invalid address: invalid request",
      "sdk/7",
      ["sdk/7", "x: invalid address", "InvalidArgument"],
    ],
    // Answers without a status are reported unchanged.
    [26, "in the future: invalid height", "", ["sdk/26", "in the future: invalid height", "Unknown"]],
    [6, "unknown query path: unknown request", "", ["sdk/6", "unknown query path: unknown request", "Unknown"]],
  ])("%i %s %s", (code, log, info, expected) => {
    expect(read(code, log, info)).toEqual(expected);
  });

  test("of other codespaces have no status", () => {
    expect(read(22, "what", "", "market")).toEqual(["market/22", "what", "Unknown"]);
  });
});
