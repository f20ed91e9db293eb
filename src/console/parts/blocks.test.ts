import { beforeAll, expect, it, vi } from "vitest";

let blocks: typeof import("./blocks.tsx");
beforeAll(async () => {
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1:1/console/" });
  blocks = await import("./blocks.tsx");
  vi.unstubAllGlobals();
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
  expect(blocks.commandLine(program, words, NODE)).toBe(line);
});

it("a command line without a node has its words alone", () => {
  expect(blocks.commandLine("svc query", ["txs", "--query", "a='b'"], undefined)).toBe(
    `svc query txs --query 'a='\\''b'\\'''`,
  );
});
