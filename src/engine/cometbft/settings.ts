import { join } from "node:path";
import { engineErrors } from "../errors.ts";
import { BATCH_BYTES, BATCH_CALLS } from "./broadcasts.ts";

type Value = string | number | boolean | readonly string[];
/** Keys of CometBFT's `config.toml`, named `table.key`, or `key` above all tables. */
export type CometKeys = Readonly<Record<string, Value>>;

/** Settings of CometBFT that its operators know. */
export interface CometSettings {
  /** Milliseconds from a block to the next round. */
  readonly blockInterval: number;
  readonly moniker: string;
  readonly p2p: {
    readonly laddr: string;
    readonly externalAddress: string;
    readonly persistentPeers: string;
    readonly seeds: string;
    readonly privatePeerIds: string;
    readonly pex: boolean;
  };
  /** Where a remote signer connects; empty = the key of the home signs. */
  readonly signerLaddr: string;
  /** Blocks that are searched for own votes at start; 0 = none. */
  readonly doubleSignCheckHeight: number;
  readonly stateSync: StateSyncSettings;
  /** Keys that are passed on unchanged. */
  readonly others: CometKeys;
  readonly mempool: {
    readonly maxTxs: number;
    readonly maxBytes: number;
    readonly maxTxBytes: number;
    readonly cacheSize: number;
  };
}

/** How a home without blocks gets its state: from a snapshot whose hash follows from a trusted block. */
export interface StateSyncSettings {
  /** Addresses of JSON-RPC, at least two; none = there is no state sync. */
  readonly rpcServers: readonly string[];
  readonly trustHeight: number;
  /** Hash of the header in hexadecimal. */
  readonly trustHash: string;
  /** Milliseconds for which the block is trusted. */
  readonly trustPeriodMs: number;
}

/** Files of a home that the engine uses. */
export interface CometPaths {
  /** Directory of the engine. */
  readonly root: string;
  /** Directory of its blocks and its write-ahead log. */
  readonly data: string;
  /** Directory of chunks of a snapshot while they are fetched. */
  readonly sync: string;
  readonly abciSocket: string;
  readonly rpcSocket: string;
  readonly configFile: string;
  readonly genesis: string;
  readonly nodeKey: string;
  readonly validatorKey: string;
  readonly validatorState: string;
}

export function cometPaths(
  home: string,
  files: Pick<CometPaths, "genesis" | "nodeKey" | "validatorKey" | "validatorState">,
): CometPaths {
  const root = join(home, "cometbft");
  return {
    ...files,
    root,
    data: join(root, "data"),
    sync: join(root, "sync"),
    abciSocket: join(root, "run", "abci.sock"),
    rpcSocket: join(root, "run", "rpc.sock"),
    configFile: join(root, "config", "config.toml"),
  };
}

/** Bytes of a request besides its transactions. */
const RPC_ROOM = 64 * 1024;

/** Keys of the node's own choice, which others may replace. */
const DEFAULTS: CometKeys = { log_level: "error" };

/** The text of the engine's `config.toml`; keys that are not here have the engine's default. Throws on a key of the node. */
export function cometConfig(settings: CometSettings, paths: CometPaths): string {
  const own = ownKeys(settings, paths);
  // The engine reads names in any case.
  const taken = Object.keys(settings.others).find((name) => name.toLowerCase() in own);
  if (taken !== undefined) throw engineErrors.ownKey(taken);
  const [, level] = Object.entries(settings.others).find(([name]) => name.toLowerCase() === "log_level") ?? [];
  if (/\bnone\b/.test(String(level))) throw engineErrors.silent();
  const tables = new Map<string, string[]>([["", []]]);
  for (const [name, value] of Object.entries({ ...DEFAULTS, ...settings.others, ...own })) {
    const dot = name.indexOf(".");
    const [table, key] = dot < 0 ? ["", name] : [name.slice(0, dot), name.slice(dot + 1)];
    tables.set(table, [...(tables.get(table) ?? []), `${key} = ${JSON.stringify(value)}\n`]);
  }
  const text = [...tables].map(([table, lines]) => `${table === "" ? "" : `[${table}]\n`}${lines.join("")}`);
  return `# svc start writes this file again at each start.\n${text.join("\n")}`;
}

/** Keys that follow from the settings and the home of the node. */
function ownKeys({ p2p, mempool, ...settings }: CometSettings, paths: CometPaths): CometKeys {
  return {
    proxy_app: `unix://${paths.abciSocket}`,
    // The engine takes printable ASCII alone.
    moniker: settings.moniker.replace(/[^ -~]/g, "?").trim() || "node",
    log_format: "plain",
    genesis_file: paths.genesis,
    ...signerKeys(settings, paths),
    node_key_file: paths.nodeKey,
    "rpc.laddr": `unix://${paths.rpcSocket}`,
    "rpc.max_body_bytes": 2 * Math.max(mempool.maxTxBytes, BATCH_BYTES) + RPC_ROOM,
    "rpc.max_request_batch_size": BATCH_CALLS.child,
    "p2p.laddr": p2p.laddr,
    "p2p.external_address": p2p.externalAddress,
    "p2p.persistent_peers": p2p.persistentPeers,
    "p2p.seeds": p2p.seeds,
    "p2p.private_peer_ids": p2p.privatePeerIds,
    "p2p.pex": p2p.pex,
    "mempool.size": mempool.maxTxs,
    "mempool.max_txs_bytes": mempool.maxBytes,
    "mempool.max_tx_bytes": mempool.maxTxBytes,
    "mempool.cache_size": mempool.cacheSize,
    "consensus.timeout_commit": `${settings.blockInterval}ms`,
    "consensus.double_sign_check_height": settings.doubleSignCheckHeight,
    "tx_index.indexer": "null",
    ...stateSyncKeys(settings.stateSync, paths),
  };
}

/** With a remote signer the program still makes a key where it finds none; no block is signed with it. */
function signerKeys({ signerLaddr }: Pick<CometSettings, "signerLaddr">, paths: CometPaths): CometKeys {
  const isRemote = signerLaddr !== "";
  return {
    priv_validator_laddr: signerLaddr,
    priv_validator_key_file: isRemote ? join(paths.data, "spare_key.json") : paths.validatorKey,
    priv_validator_state_file: isRemote ? join(paths.data, "spare_state.json") : paths.validatorState,
  };
}

function stateSyncKeys(settings: StateSyncSettings, paths: CometPaths): CometKeys {
  return {
    "statesync.enable": settings.rpcServers.length > 0,
    "statesync.rpc_servers": settings.rpcServers.join(","),
    "statesync.trust_height": settings.trustHeight,
    "statesync.trust_hash": settings.trustHash,
    "statesync.trust_period": `${settings.trustPeriodMs}ms`,
    "statesync.temp_dir": paths.sync,
  };
}
