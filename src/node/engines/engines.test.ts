import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { silentLogger, toBase64 } from "../../util/index.ts";
import { nodeConfig } from "../config.ts";
import { homePaths } from "../home/home.ts";
import { homeValidatorKey } from "../home/identity.ts";
import { initHome } from "../home/init.ts";
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
    chooseEngine({ home: "/nowhere", config: nodeConfig(given), logger: silentLogger, version: "v" });
  expect(choose).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
});

test("one server is refused, because no other confirms it", () => {
  expect(() => nodeConfig({ "state-sync.rpc-servers": "http://a.example" })).toThrow("two addresses or more");
});

test("a home without the private key of its validator needs a remote signer", () => {
  const home = mkdtempSync(join(tmpdir(), "signer-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  initHome({ home, moniker: "m", chainId: "c-1" });
  const { validatorKey: file } = homePaths(home);
  const { priv_key, ...shown } = JSON.parse(readFileSync(file, "utf8"));
  const whole = homeValidatorKey(home);
  const choose = (given: Record<string, string>) =>
    chooseEngine({ home, config: nodeConfig(given), logger: silentLogger, version: "v" }).validator;
  const program = join(home, "cometbft-double");
  writeFileSync(program, "#!/bin/sh\necho 0.38.26\n", { mode: 0o755 });
  const child = { ...ENGINE, cometbft: program };
  const elsewhere = { ...ENGINE, "with-cometbft": "false" };
  writeFileSync(file, JSON.stringify(shown));
  expect(choose(elsewhere).publicKey).toEqual(whole);
  expect(choose({ ...child, priv_validator_laddr: "tcp://127.0.0.1:1" }).publicKey).toEqual(whole);
  expect(homeValidatorKey(home)).toEqual(whole);
  expect(toBase64(whole)).toBe(shown.pub_key.value);
  for (const given of [{}, child]) {
    const hint = expect.stringContaining("--priv_validator_laddr");
    expect(() => choose(given)).toThrow(
      expect.objectContaining({ message: expect.stringContaining("has no private key"), hint }),
    );
  }
  for (const pub_key of [undefined, {}, { ...shown.pub_key, type: "other" }, { ...shown.pub_key, value: "AAAA" }]) {
    writeFileSync(file, JSON.stringify({ ...shown, pub_key }));
    expect(() => choose(elsewhere)).toThrow("the key file cannot be used");
  }
  writeFileSync(file, JSON.stringify({ ...shown, priv_key: { ...priv_key, value: "AAAA" } }));
  expect(() => choose(elsewhere)).toThrow("the key file cannot be used");
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
