import { MIN_KEEP_RECENT, MIN_PRUNING_INTERVAL } from "../store/index.ts";
import {
  asList,
  asSwitch,
  asText,
  optional,
  parseDecCoins,
  parseDurationMs,
  type SettingTable,
  WrongForm,
} from "../util/index.ts";
import { NET_SETTING } from "../util/servers/index.ts";
import { ENGINE_SETTINGS } from "./engines/settings.ts";
import { parseHostNames, parseOrigins, parseProxies } from "./parsers.ts";

const MIN_BLOCK_INTERVAL_MS = 100;
const MAX_BLOCK_INTERVAL_MS = 3_600_000;
const MAX_COUNT = 1_000_000_000n;

/** All settings of a node. Flags, variables, checks and documentation follow from this table. */
export const NODE_SETTINGS = {
  moniker: {
    name: "moniker",
    value: "<name>",
    summary: "name of the node (default: the one given to init)",
    parse: optional(asText),
  },
  blockInterval: {
    name: "block-interval",
    value: "<duration>",
    summary: "time between blocks, full or empty; at least 100ms; with cometbft: its timeout_commit",
    default: "6s",
    parse: parseInterval,
  },
  ...ENGINE_SETTINGS,
  minimumGasPrices: {
    name: "minimum-gas-prices",
    value: "<prices>",
    summary: "price per unit of gas below which transactions are refused",
    default: "0.0025utoken",
    parse: parseDecCoins,
  },
  haltHeight: {
    name: "halt-height",
    value: "<n>",
    summary: "stop after this block; 0 for never",
    default: "0",
    parse: parseCount,
  },
  unsafeSkipUpgrades: {
    name: "unsafe-skip-upgrades",
    value: "<heights>",
    summary: "heights at which a planned upgrade is dropped, separated by commas; every node must skip the same",
    parse: asList("heights such as 1200", (word) => (isCount(word) ? BigInt(word) : undefined)),
  },
  pruning: {
    name: "pruning",
    value: "<strategy>",
    summary:
      "which old heights are pruned: default keeps the last 362880, nothing keeps all, everything keeps 2, custom",
    default: "default",
    parse: parseStrategy,
  },
  pruningKeepRecent: {
    name: "pruning-keep-recent",
    value: "<n>",
    summary: "with custom: heights to keep, 0 for all",
    default: "0",
    parse: parseKeepRecent,
  },
  pruningInterval: {
    name: "pruning-interval",
    value: "<n>",
    summary: "with custom: blocks between prunings",
    default: "10",
    parse: parsePruningInterval,
  },
  minRetainBlocks: {
    name: "min-retain-blocks",
    value: "<n>",
    summary: "minimum blocks to keep, more where evidence or snapshots need them; 0 for all",
    default: "0",
    parse: parseCount,
  },
  snapshotInterval: {
    name: "state-sync.snapshot-interval",
    value: "<n>",
    summary: "blocks between snapshots of the state; 0 for no snapshots",
    default: "0",
    parse: parseCount,
  },
  snapshotKeepRecent: {
    name: "state-sync.snapshot-keep-recent",
    value: "<n>",
    summary: "snapshots to keep, 0 for all",
    default: "2",
    parse: parseKept,
  },
  checkInvariants: {
    name: "check-invariants",
    summary: "check all invariants after every block, and stop when one is broken",
    parse: asSwitch,
  },
  rpcLaddr: {
    name: "rpc.laddr",
    value: "<address>",
    summary: "where JSON-RPC listens",
    default: "tcp://localhost:26657",
    parse: parseListenAddress,
  },
  rpcCorsAllowedOrigins: {
    name: "rpc.cors-allowed-origins",
    value: "<origins>",
    summary: "origins of web pages that may use the RPC, separated by commas; each may hold one * for any text",
    parse: parseOrigins,
  },
  rpcAllowedHosts: {
    name: "rpc.allowed-hosts",
    value: "<names>",
    summary: "host names beside localhost under which RPC, REST, gRPC and metrics answer over loopback",
    parse: parseHostNames,
  },
  trustedProxies: {
    name: "trusted-proxies",
    value: "<networks>",
    summary: "proxies in front of RPC, REST and gRPC whose X-Forwarded-For names the client, separated by commas",
    parse: parseProxies,
  },
  maxRequestsPerSecond: {
    name: "max-requests-per-second",
    value: "<n>",
    summary: "maximum requests of one address a second to RPC, REST and gRPC; programs on this machine are not limited",
    default: "500",
    parse: parseLimit,
  },
  rpcMaxBodyBytes: {
    name: "rpc.max-body-bytes",
    value: "<n>",
    summary: "maximum size of a request body",
    default: "1000000",
    parse: parseLimit,
  },
  rpcMaxRequestBatchSize: {
    name: "rpc.max-request-batch-size",
    value: "<n>",
    summary: "maximum requests in a batch",
    default: "20",
    parse: parseLimit,
  },
  rpcMaxOpenConnections: {
    name: "rpc.max-open-connections",
    value: "<n>",
    summary: "maximum connections at a time",
    default: "900",
    parse: parseLimit,
  },
  rpcMaxSubscriptionClients: {
    name: "rpc.max-subscription-clients",
    value: "<n>",
    summary: "maximum clients that subscribe",
    default: "100",
    parse: parseLimit,
  },
  rpcMaxSubscriptionsPerClient: {
    name: "rpc.max-subscriptions-per-client",
    value: "<n>",
    summary: "maximum subscriptions of one client",
    default: "5",
    parse: parseLimit,
  },
  apiEnable: {
    name: "api.enable",
    summary: "serve REST",
    parse: asSwitch,
  },
  apiAddress: {
    name: "api.address",
    value: "<address>",
    summary: "where REST listens",
    default: "tcp://localhost:1317",
    parse: parseListenAddress,
  },
  apiEnabledUnsafeCors: {
    name: "api.enabled-unsafe-cors",
    summary: "let web pages of all origins use REST and gRPC-web",
    parse: asSwitch,
  },
  apiCorsAllowedOrigins: {
    name: "api.cors-allowed-origins",
    value: "<origins>",
    summary:
      "origins of web pages that may use REST and gRPC-web, separated by commas; each may hold one * for any text",
    parse: parseOrigins,
  },
  apiMaxOpenConnections: {
    name: "api.max-open-connections",
    value: "<n>",
    summary: "maximum connections to REST at a time",
    default: "1000",
    parse: parseLimit,
  },
  apiRpcMaxBodyBytes: {
    name: "api.rpc-max-body-bytes",
    value: "<n>",
    summary: "maximum size of a request body of REST",
    default: "1000000",
    parse: parseLimit,
  },
  console: {
    name: "console",
    value: "<true|false>",
    summary: "serve the console and what its pages ask at /console/ of REST (default: where REST is on loopback only)",
    parse: optional(asSwitch),
  },
  grpcEnable: {
    name: "grpc.enable",
    value: "<true|false>",
    summary: "serve gRPC, gRPC-web and Connect",
    default: "true",
    parse: asSwitch,
  },
  grpcAddress: {
    name: "grpc.address",
    value: "<address>",
    summary: "where gRPC listens",
    default: "tcp://localhost:9090",
    parse: parseListenAddress,
  },
  grpcMaxRecvMsgSize: {
    name: "grpc.max-recv-msg-size",
    value: "<n>",
    summary: "maximum size of a gRPC request",
    default: "10485760",
    parse: parseLimit,
  },
  grpcMaxOpenConnections: {
    name: "grpc.max-open-connections",
    value: "<n>",
    summary: "maximum connections to gRPC at a time",
    default: "1000",
    parse: parseLimit,
  },
  prometheus: {
    name: "instrumentation.prometheus",
    summary: "serve metrics for Prometheus at /metrics",
    parse: asSwitch,
  },
  prometheusListenAddr: {
    name: "instrumentation.prometheus-listen-addr",
    value: "<address>",
    summary: "where metrics are served",
    default: "tcp://localhost:26660",
    parse: parseListenAddress,
  },
  net: NET_SETTING,
  mempoolSize: {
    name: "mempool.size",
    value: "<n>",
    summary: "maximum transactions that wait for a block",
    default: "50000",
    parse: parseLimit,
  },
  mempoolMaxTxsBytes: {
    name: "mempool.max-txs-bytes",
    value: "<n>",
    summary: "maximum bytes of transactions that wait for a block",
    default: "67108864",
    parse: parseLimit,
  },
  mempoolMaxTxBytes: {
    name: "mempool.max-tx-bytes",
    value: "<n>",
    summary: "largest transaction",
    default: "1048576",
    parse: parseLimit,
  },
  mempoolMaxTxsPerSender: {
    name: "mempool.max-txs-per-sender",
    value: "<n>",
    summary: "maximum transactions of one account that wait for a block",
    default: "1000",
    parse: parseLimit,
  },
  mempoolMaxBytesPerSender: {
    name: "mempool.max-bytes-per-sender",
    value: "<n>",
    summary: "maximum bytes of transactions of one account that wait for a block",
    default: "8388608",
    parse: parseLimit,
  },
  mempoolCacheSize: {
    name: "mempool.cache-size",
    value: "<n>",
    summary: "hashes of seen transactions to remember",
    default: "100000",
    parse: parseLimit,
  },
} as const satisfies SettingTable;

export type NodeSettingName = (typeof NODE_SETTINGS)[keyof typeof NODE_SETTINGS]["name"];

/** The time from block to block in milliseconds. */
function parseInterval(text: string): number {
  const milliseconds = parseDurationMs(text) ?? 0;
  if (milliseconds < MIN_BLOCK_INTERVAL_MS || milliseconds > MAX_BLOCK_INTERVAL_MS) {
    throw new WrongForm("a time from 100ms to 60m, for example 6s or 500ms");
  }
  return milliseconds;
}

/** `tcp://localhost:26657` or `localhost:26657`; port 0 = any free one. */
function parseListenAddress(text: string): { host: string; port: number } {
  const [, v6, name = "", digits] = /^(?:tcp:\/\/)?(?:\[([0-9a-fA-F:]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) throw new WrongForm("an address such as tcp://127.0.0.1:26657");
  // `localhost` means the address that the ecosystem's tools mean by it, whatever this machine resolves first.
  const host = name === "localhost" ? "127.0.0.1" : name;
  return { host: v6 ?? (host === "" ? "0.0.0.0" : host), port };
}

function isCount(text: string): boolean {
  return /^\d{1,18}$/.test(text);
}

function parseCount(text: string): bigint {
  if (!isCount(text)) throw new WrongForm("a whole number");
  return BigInt(text);
}

const STRATEGIES = ["default", "nothing", "everything", "custom"] as const;

function parseStrategy(text: string): (typeof STRATEGIES)[number] {
  const found = STRATEGIES.find((name) => name === text);
  if (found === undefined) throw new WrongForm("default, nothing, everything or custom");
  return found;
}

function parsePruningInterval(text: string): bigint {
  const blocks = parseCount(text);
  if (blocks < MIN_PRUNING_INTERVAL) throw new WrongForm(`a whole number from ${MIN_PRUNING_INTERVAL}`);
  return blocks;
}

/** 0 keeps all heights. */
function parseKeepRecent(text: string): bigint {
  const heights = parseCount(text);
  if (heights !== 0n && heights < MIN_KEEP_RECENT) throw new WrongForm(`0, or a whole number from ${MIN_KEEP_RECENT}`);
  return heights;
}

/** A count of files. */
function parseKept(text: string): number {
  const count = parseCount(text);
  if (count > MAX_COUNT) throw new WrongForm(`a whole number up to ${MAX_COUNT}`);
  return Number(count);
}

/** A count that is a limit. */
function parseLimit(text: string): number {
  const count = parseCount(text);
  if (count < 1n || count > MAX_COUNT) throw new WrongForm(`a whole number from 1 to ${MAX_COUNT}`);
  return Number(count);
}
