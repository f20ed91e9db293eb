import { expect, test, vi } from "vitest";
import { silentLogger } from "../../util/index.ts";
import { nodeConfig } from "../config.ts";
import { chooseEngine, watchBlocks } from "./engines.ts";

const SERVERS = { "state-sync.rpc-servers": "http://a.example,http://b.example" };
const HASH = { "state-sync.trust-hash": "AB".repeat(32) };
const ENGINE = { engine: "cometbft" };

test.each([
  ["with the embedded engine", { ...SERVERS, ...HASH, "state-sync.trust-height": "7" }, "add --engine cometbft"],
  ["without a height", { ...SERVERS, ...HASH, ...ENGINE }, "--state-sync.trust-height"],
  ["without a hash", { ...SERVERS, ...ENGINE, "state-sync.trust-height": "7" }, "--state-sync.trust-hash"],
])("state sync is refused %s", (_, given, hint) => {
  const choose = () =>
    chooseEngine(
      { home: "/nowhere", config: nodeConfig(given), logger: silentLogger, version: "v" },
      new Uint8Array(32),
    );
  expect(choose).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
});

test("one server is refused, because no other confirms it", () => {
  expect(() => nodeConfig({ "state-sync.rpc-servers": "http://a.example" })).toThrow("two addresses or more");
});

test("a node under CometBFT warns while no block comes", () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const watch = watchBlocks({ warn: (text) => void lines.push(text) }, 6_000);
  try {
    vi.advanceTimersByTime(59_000);
    watch.blockCame();
    vi.advanceTimersByTime(59_000);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(61_000);
    const words = "CometBFT hangs, or too few validators are up";
    expect(lines).toEqual([`no block came for 60 s: ${words}`, `no block came for 120 s: ${words}`]);
    watch.blockCame();
    vi.advanceTimersByTime(59_000);
    expect(lines).toHaveLength(2);
  } finally {
    watch.stop();
    vi.useRealTimers();
  }
});
