import { copyFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Peer } from "../../test/interop/peers.ts";
import { endNode } from "../../test/interop/simd-chain.ts";
import type { SimdGenesis } from "../../test/interop/simd-home.ts";
import { type Fixture, freePorts, waitFor } from "../../test/support/index.ts";

export interface SimdNetworkOptions {
  readonly count: number;
  readonly chainId: string;
  /** Bech32 prefix of the network. */
  readonly prefix: string;
  readonly blockTimeMs: number;
  readonly mempoolTxs: number;
  readonly finishGenesis: (genesis: SimdGenesis) => void;
}

export interface SimdNode {
  readonly pid: number;
  /** Port of JSON-RPC. */
  readonly port: number;
}

const KEYRING = ["--keyring-backend", "test"];
const [BALANCE, BONDED] = ["2000000stake", "1000000stake"];
const FIRST_BLOCKS_MS = 60_000;

/** Starts validators of the reference tool that make one chain, each with its built-in engine. */
export async function startSimdNetwork(fixture: Fixture, peer: Peer, options: SimdNetworkOptions): Promise<SimdNode[]> {
  const homes = await makeHomes(peer, options);
  const [rpc, p2p] = [await freePorts(homes.length), await freePorts(homes.length)];
  const ids = await Promise.all(homes.map((home) => peer.ok(["comet", "show-node-id", "--home", home])));
  const peers = ids.map((id, i) => `${id.trim()}@127.0.0.1:${p2p[i]}`).join(",");
  const nodes = homes.map((home, i) => {
    const places = ["--rpc.laddr", `tcp://127.0.0.1:${rpc[i]}`, "--p2p.laddr", `tcp://127.0.0.1:${p2p[i]}`];
    const others = ["--grpc.enable=false", "--rpc.pprof_laddr", "", "--log_level", "error", "--pruning", "nothing"];
    const words = ["--home", home, ...places, ...others, "--p2p.persistent_peers", peers, ...profiling(i)];
    const node = peer.start(["start", "--minimum-gas-prices", "0stake", ...words], { prefix: options.prefix });
    fixture.defer(() => endNode(node));
    return { ...node, pid: node.process.pid ?? 0, port: rpc[i] ?? 0 };
  });
  for (const node of nodes) {
    const serves = async () => node.ended() || (await height(node.port)) >= 2;
    await waitFor(serves, "the first blocks", { timeoutMs: FIRST_BLOCKS_MS });
    if (node.ended()) throw new Error(`a node ended: ${node.output()}`);
  }
  return nodes;
}

/** `BENCH_PROFILE=<folder>` leaves a CPU profile of each node there, for `go tool pprof`. */
function profiling(index: number): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ["--cpu-profile", join(folder, `simd-${Date.now()}-${index}.pprof`)];
}

/** Homes with one genesis file, in which each has a validator. */
async function makeHomes(peer: Peer, { count, chainId, prefix, ...options }: SimdNetworkOptions): Promise<string[]> {
  const homes = Array.from({ length: count }, (_, i) => join(peer.home, `validator-${i}`));
  const [first = "", ...others] = homes;
  const ok = (home: string, ...words: readonly string[]) => peer.ok([...words, "--home", home], { prefix });
  for (const home of homes) {
    await ok(home, "init", "bench", "--chain-id", chainId);
    const { address } = JSON.parse(await ok(home, "keys", "add", "validator", "--output", "json", ...KEYRING));
    await ok(first, "genesis", "add-genesis-account", address, BALANCE);
  }
  const genesis = (home: string) => join(home, "config", "genesis.json");
  for (const home of others) copyFileSync(genesis(first), genesis(home));
  for (const home of homes) {
    await ok(home, "genesis", "gentx", "validator", BONDED, "--chain-id", chainId, ...KEYRING);
    if (home !== first) cpSync(join(home, "config", "gentx"), join(first, "config", "gentx"), { recursive: true });
  }
  await ok(first, "genesis", "collect-gentxs");
  const document: SimdGenesis = JSON.parse(readFileSync(genesis(first), "utf8"));
  options.finishGenesis(document);
  for (const home of homes) {
    writeFileSync(genesis(home), JSON.stringify(document));
    configure(join(home, "config", "config.toml"), options);
  }
  return homes;
}

function configure(path: string, { blockTimeMs, mempoolTxs }: Pick<SimdNetworkOptions, "blockTimeMs" | "mempoolTxs">) {
  const settings: readonly (readonly [key: string, value: string])[] = [
    ["timeout_commit", `"${blockTimeMs}ms"`],
    ["addr_book_strict", "false"],
    ["allow_duplicate_ip", "true"],
    ["size", `${mempoolTxs}`],
  ];
  const text = settings.reduce(
    (all, [key, value]) => {
      const changed = all.replace(new RegExp(`^${key} = .*$`, "m"), `${key} = ${value}`);
      if (changed === all) throw new Error(`${path} names no ${key}`);
      return changed;
    },
    readFileSync(path, "utf8"),
  );
  writeFileSync(path, text);
}

async function height(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/status`);
  const { result } = (await response.json()) as { result: { sync_info: { latest_block_height: string } } };
  return Number(result.sync_info.latest_block_height);
}
