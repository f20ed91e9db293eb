import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliChain, cliChain } from "./cli/chain.ts";

const ROOT = resolve(import.meta.dirname, "..");
const EXAMPLES = join(ROOT, "docs/examples");

describe("examples for developers", () => {
  let chain: CliChain;
  const address = (name: string): string => chain.addresses[name] ?? "";
  beforeAll(async () => {
    chain = await cliChain("alice", "bob");
  }, 60_000);
  afterAll(() => chain.stop());

  /** Runs an example as the guide says. */
  async function run(name: string, ...args: readonly string[]): Promise<string> {
    const env = { ...process.env, SVC_NODE: chain.node, SVC_HOME: chain.home };
    const command = [join(ROOT, "tools/run.mjs"), join(EXAMPLES, `${name}.ts`), ...args];
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  }

  it("send, ask and follow", { timeout: 60_000 }, async () => {
    const sent = await run("send", "alice", address("bob"));
    const [, hash = "", height = ""] = /^([0-9A-F]{64}) in block (\d+)$/m.exec(sent) ?? [];
    expect(hash).not.toBe("");
    expect(await run("balances", address("bob"))).toBe("5000stake\n1000001000000utoken\n");
    expect(await run("rpc")).toContain(`1 transfers\n${hash} in block ${height}\n`);
    const transfer = `${address("alice")} -> ${address("bob")} 1000000utoken`;
    expect(await run("follow", height)).toContain(`block ${height} ${hash.slice(0, 8)}: ${transfer}\n`);
  });

  it("test on a chain in memory", { timeout: 60_000 }, async () => {
    expect(await run("test-chain")).toMatch(/^in block 2, \d+ gas; bob has 5utoken more\n$/);
  });
});
