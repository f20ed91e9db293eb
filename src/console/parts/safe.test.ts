import { describe, expect, it } from "vitest";
import { commandLine, MAX_TEXT, safe, safeUrl } from "./safe.ts";

describe("texts of strangers", () => {
  it("show direction, zero-width and control characters as codes", () => {
    expect(safe("a\u202ecod.exe\u200b\u0007").text).toBe("a\\u202ecod.exe\\u200b\\u0007");
    expect(safe("one\ntwo").text).toBe("one\ntwo");
    expect(safe("one\ntwo\u00a0", { isName: true }).text).toBe("one\\u000atwo\\u00a0");
  });

  it("are cut, and say by how much", () => {
    const { text, cut } = safe("x".repeat(1_000_000));
    expect([text.length, cut]).toEqual([MAX_TEXT, 1_000_000 - MAX_TEXT]);
  });

  it("are links only for https without a password", () => {
    expect(safeUrl("https://example.com/a")).toBe("https://example.com/a");
    for (const text of ["javascript:alert(1)", "http://example.com", "https://a:b@example.com", "https://", "//x"]) {
      expect(safeUrl(text), text).toBeUndefined();
    }
  });
});

const NODE = "http://127.0.0.1:26657/";

it.each([
  ["svc query", ["blocks", 7], "svc query blocks 7 --node http://127.0.0.1:26657/"],
  ["svc deploy", ["ps", "--from", "alice"], "svc deploy ps --node http://127.0.0.1:26657/ --from alice"],
  [
    "svc deploy",
    ["shell", "web", "-it", "--dseq", 204, "--from", "alice", "sh", "-c", "ls /"],
    "svc deploy shell web --node http://127.0.0.1:26657/ -it --dseq 204 --from alice sh -c 'ls /'",
  ],
  ["svc console --provider HOME", [], "svc console --provider HOME --node http://127.0.0.1:26657/"],
] as const)("the node of %s %j stands before words that are another program's", (program, words, line) => {
  expect(commandLine(program, words, NODE)).toBe(line);
});

it("a command line without a node has its words alone", () => {
  expect(commandLine("svc query", ["txs", "--query", "a='b'"], undefined)).toBe(
    `svc query txs --query 'a='\\''b'\\'''`,
  );
});
