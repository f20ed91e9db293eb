import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/index.ts";
import { sha256 } from "../../src/crypto/index.ts";
import { EmbeddedEngine, embeddedSource, memorySignState, parseGenesis, Signer } from "../../src/engine/index.ts";
import { nodeId, writeNodeKey, writeValidatorKey } from "../../src/node/home/keys.ts";
import {
  Dispatcher,
  genesisFile,
  homePaths,
  initHome,
  nodeConfig,
  RpcServer,
  readGenesisText,
} from "../../src/node/index.ts";
import { memoryDatabase } from "../../src/store/index.ts";
import { DISPLAY_DENOM, DISPLAY_EXPONENT, NATIVE_DENOM, toUtf8 } from "../../src/util/index.ts";
import { ManualClock } from "../support/block-engine/manual-clock.ts";
import { type Ran, type RunOptions, runCli } from "./run.ts";

/** A chain that is the same in every run: keys, times and heights, and so every byte of its answers. */
export interface FixedChain {
  /** Addresses by name of the key. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Runs a command with the home, keyring and node of the chain. */
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Sends a transaction, makes its block and returns its hash; a refusal is an error. */
  tx(...words: string[]): Promise<string>;
  /** Makes empty blocks. */
  blocks(count: number): void;
  /** Writes a file that commands can be given. */
  file(name: string, text: string): string;
  stop(): Promise<void>;
}

/** Throw-away phrases; never fund them. */
const PHRASES: readonly string[] = [
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
  "legal winner thank year wave sausage worth useful legal winner thank yellow",
  "letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
];

const START = 1_767_225_600_000_000_000n;
const BLOCK_MS = 6000;
const COINS = "1000000000000utoken,5000stake";
const seed = (name: string): Uint8Array => sha256(toUtf8(`fixed chain: ${name}`));

/** Makes a chain in memory, begun on 2026-01-01, with an account of much money for each of at most three names. */
export async function fixedChain(...names: readonly string[]): Promise<FixedChain> {
  const root = mkdtempSync(join(tmpdir(), "svc-fixed-"));
  const home = join(root, "home");
  const paths = homePaths(home);
  writeNodeKey(paths.nodeKey, seed("node"));
  writeValidatorKey(paths.validatorKey, seed("validator"));
  initHome({ home, moniker: "fixed", chainId: "fixed-1", time: START });
  const local = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test" };
  describeDenomination(paths.genesis);
  const addresses = await fund(names, local);
  const clock = new ManualClock(START);
  const database = memoryDatabase();
  const engine = new EmbeddedEngine({
    app: createApp({ database, checkInvariants: true, version: "v0.0.0" }),
    database,
    genesis: parseGenesis(readGenesisText(home)),
    signer: new Signer(seed("validator"), memorySignState()),
    blockInterval: 0,
    clock,
  });
  const chain = embeddedSource(engine);
  const nodeInfo = () => ({
    id: nodeId(seed("node")),
    moniker: "fixed",
    rpcAddress: "tcp://127.0.0.1:26657",
    listenAddress: "tcp://127.0.0.1:26657",
    applicationVersion: "v0.0.0",
    minGasPrices: [],
    haltHeight: 0n,
    pruning: { keepRecent: 0n, interval: 10n },
  });
  const dispatcher = new Dispatcher({ chain, nodeInfo });
  const server = new RpcServer(
    {
      chain,
      nodeInfo,
      genesis: genesisFile(home),
      query: (query) => dispatcher.query(query),
    },
    nodeConfig({ "rpc.laddr": "tcp://127.0.0.1:0" }).rpc,
  );
  const { port } = await server.listen();
  const blocks = (count: number): void => {
    for (let i = 0; i < count; i++) {
      clock.skip(BLOCK_MS);
      engine.produceBlock();
    }
  };
  blocks(1);
  const run = (argv: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    runCli(argv, { ...options, env: { ...local, SVC_NODE: `http://127.0.0.1:${port}`, ...options.env } });
  return {
    addresses,
    run,
    async tx(...words) {
      const { code, out, err } = await run(["tx", ...words, "-y", "--fees", "5000utoken"]);
      if (code !== 0) throw new Error(`svc tx ${words.join(" ")}: ${err}${out}`);
      blocks(1);
      const { txhash } = JSON.parse(out);
      const result = JSON.parse((await run(["query", "tx", txhash, "-o", "json"])).out);
      if (result.code !== 0) throw new Error(`svc tx ${words.join(" ")}: ${result.raw_log}`);
      return txhash;
    },
    blocks,
    file(name, text) {
      writeFileSync(join(root, name), text);
      return join(root, name);
    },
    async stop() {
      await server.close();
      await engine.stop();
      rmSync(root, { recursive: true });
    },
  };
}

/** A chain's own token is one that wallets can show. */
function describeDenomination(path: string): void {
  const genesis = JSON.parse(readFileSync(path, "utf8"));
  const units = [
    { denom: NATIVE_DENOM, exponent: 0 },
    { denom: DISPLAY_DENOM, exponent: DISPLAY_EXPONENT },
  ];
  const metadata = { description: "pays for leases", denom_units: units, base: NATIVE_DENOM, display: DISPLAY_DENOM };
  genesis.app_state.bank.denom_metadata = [metadata];
  writeFileSync(path, JSON.stringify(genesis));
}

async function fund(names: readonly string[], env: Record<string, string>): Promise<Record<string, string>> {
  const addresses: Record<string, string> = {};
  for (const [at, name] of names.entries()) {
    const add = ["keys", "add", name, "--recover", "-o", "json"];
    addresses[name] = JSON.parse((await runCli(add, { env, input: `${PHRASES[at]}\n` })).out).address;
    await runCli(["add-genesis-account", name, COINS], { env });
  }
  return addresses;
}
