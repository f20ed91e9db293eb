import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initHome, nodeConfig, startNode } from "../../src/node/index.ts";
import { silentLogger } from "../../src/util/index.ts";
import { type Ran, type RunOptions, runCli } from "./run.ts";

/** A running chain with a home that holds the keys of its accounts, and the command line on both. */
export interface CliChain {
  readonly home: string;
  /** Address of the node. */
  readonly node: string;
  /** Address of its REST; empty where it is not served. */
  readonly rest: string;
  /** Addresses by name of the key. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Runs a command with this home, keyring and node. */
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Runs a query and reads its JSON. */
  query(...words: string[]): Promise<Json>;
  /** Runs a transaction without a question, waits for its block and reads its result; a refusal is an error. */
  tx(...words: string[]): Promise<Json>;
  stop(): Promise<void>;
}

/** Results that tests look into; a path that is not there is undefined. */
export type Json = ReturnType<typeof JSON.parse>;

const HURRY_MS = 10;
const COINS = "1000000000000utoken,5000stake";

/** Starts a node in this process, with an account of much money for each name. */
export function cliChain(...names: readonly string[]): Promise<CliChain> {
  return cliChainOf(names, { blockInterval: "100ms", hurry: true });
}

export interface CliChainOptions {
  readonly blockInterval: string;
  /** Transactions need not wait for the interval. */
  readonly hurry: boolean;
  /** Serve REST too. */
  readonly rest?: boolean;
}

/** The same with the block time of a real chain. */
export async function cliChainOf(names: readonly string[], options: CliChainOptions): Promise<CliChain> {
  const root = mkdtempSync(join(tmpdir(), "svc-cli-"));
  const home = join(root, "home");
  const keyring = ["--home", home, "--keyring-backend", "test"];
  initHome({ home, moniker: "tester", chainId: "cli-test-1" });
  const addresses: Record<string, string> = {};
  for (const name of names) {
    addresses[name] = JSON.parse((await runCli(["keys", "add", name, "-o", "json", ...keyring])).out).address;
    await runCli(["add-genesis-account", name, COINS, ...keyring]);
  }
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.enable": "false",
    "block-interval": options.blockInterval,
    "check-invariants": "true",
    "api.enable": String(options.rest ?? false),
    "api.address": "tcp://127.0.0.1:0",
  });
  const node = await startNode({ home, config, logger: silentLogger, version: "v0.0.0" });
  // Most of the time of tests that are not about time would be the interval.
  const hurry = setInterval(
    () => options.hurry && node.engine.mempool.size > 0 && node.engine.produceBlock(),
    HURRY_MS,
  );
  const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_NODE: node.rpcUrl };
  const run: CliChain["run"] = (argv, options = {}) => runCli(argv, { ...options, env: { ...env, ...options.env } });
  const json = async (argv: readonly string[]): Promise<Json> => {
    const { code, out, err } = await run(argv);
    if (code !== 0) throw new Error(`svc ${argv.join(" ")}: exit code ${code}\n${err}${out}`);
    return JSON.parse(out);
  };
  return {
    home,
    node: node.rpcUrl,
    rest: node.restUrl ?? "",
    addresses,
    run,
    query: (...words) => json(["query", ...words, "-o", "json"]),
    tx: (...words) => json(["tx", ...words, "-y", "-b", "block", "--fees", "5000utoken"]),
    async stop() {
      clearInterval(hurry);
      await node.stop();
      rmSync(root, { recursive: true });
    },
  };
}
