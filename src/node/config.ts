import type { CometKeys, Genesis, MempoolLimits } from "../engine/index.ts";
import { PRUNING_STRATEGIES, type Pruning } from "../store/index.ts";
import {
  type DecimalCoin,
  equalBytes,
  readSetting,
  type Setting,
  type SettingSource,
  SvcError,
} from "../util/index.ts";
import { type EngineConfig, readEngine } from "./engines/settings.ts";
import type { GrpcServerOptions } from "./grpc/server.ts";
import { type ClientLimits, isLoopback, type ServerOptions } from "./http/index.ts";
import type { MetricsOptions } from "./metrics/index.ts";
import type { RestServerOptions } from "./rest/server.ts";
import type { RpcServerOptions } from "./rpc/index.ts";
import { type NodeSettingName, NODE_SETTINGS as S } from "./settings.ts";

/** The settings of a node, read and checked. */
export interface NodeConfig {
  /** Undefined = the name that the genesis file gives the validator. */
  readonly moniker: string | undefined;
  /** Milliseconds. */
  readonly blockInterval: number;
  readonly engine: EngineConfig;
  readonly minGasPrices: readonly DecimalCoin[];
  readonly haltHeight: bigint;
  /** Heights at which a planned upgrade is dropped. */
  readonly skippedUpgrades: readonly bigint[];
  readonly checkInvariants: boolean;
  readonly pruning: Pruning;
  /** Least number of blocks kept; 0 = all. */
  readonly minRetainBlocks: bigint;
  readonly stateSync: {
    /** Blocks from one snapshot to the next; 0 = none are taken. */
    readonly snapshotInterval: bigint;
    /** Snapshots that are kept; 0 = all. */
    readonly snapshotKeepRecent: number;
  };
  readonly clients: ClientLimits;
  readonly rpc: RpcServerOptions;
  /** Undefined = REST is not served. */
  readonly rest: RestServerOptions | undefined;
  /** Undefined = gRPC is not served. */
  readonly grpc: GrpcServerOptions | undefined;
  /** Undefined = metrics are not served. */
  readonly metrics: MetricsOptions | undefined;
  /** Where newer versions are asked for; undefined = nowhere. */
  readonly net: string | undefined;
  readonly mempool: MempoolLimits;
}

/** The name that a node goes by. */
export function monikerOf(
  { moniker }: Pick<NodeConfig, "moniker">,
  { validators }: Pick<Genesis, "validators">,
  { publicKey }: { readonly publicKey: Uint8Array },
): string {
  const named = validators.find(({ pubKey }) => equalBytes(pubKey, publicKey))?.name;
  return moniker ?? (named === undefined || named === "" ? "node" : named);
}

/** Texts of the settings that were given; a missing one has its default. */
export type GivenSettings = { readonly [K in NodeSettingName]?: string | undefined };

/** The settings of a node that is started by code. Throws one sentence on a bad setting. */
export function nodeConfig(given: GivenSettings): NodeConfig {
  const texts = new Map<string, string | undefined>(Object.entries(given));
  return readNodeConfig({
    text: (row) => texts.get(row.name) ?? row.default ?? "",
    label: (row) => `--${row.name}`,
    fault: (sentence, hint) => new SvcError("config", 1, sentence, hint === undefined ? {} : { hint }),
  });
}

/** Reads and checks all settings of a node. */
export function readNodeConfig(source: SettingSource, engineKeys: CometKeys = {}): NodeConfig {
  const read = <T>(setting: Setting<T>): T => readSetting(setting, source);
  return {
    moniker: read(S.moniker),
    blockInterval: read(S.blockInterval),
    engine: readEngine(read, engineKeys),
    minGasPrices: read(S.minimumGasPrices).filter(({ amount }) => amount > 0n),
    haltHeight: read(S.haltHeight),
    skippedUpgrades: read(S.unsafeSkipUpgrades),
    checkInvariants: read(S.checkInvariants),
    pruning: readPruning(read),
    minRetainBlocks: read(S.minRetainBlocks),
    stateSync: {
      snapshotInterval: read(S.snapshotInterval),
      snapshotKeepRecent: read(S.snapshotKeepRecent),
    },
    clients: { trustedProxies: read(S.trustedProxies), requestsPerSecond: read(S.maxRequestsPerSecond) },
    rpc: {
      ...read(S.rpcLaddr),
      corsOrigins: read(S.rpcCorsAllowedOrigins),
      hosts: read(S.rpcAllowedHosts),
      maxBodyBytes: read(S.rpcMaxBodyBytes),
      maxBatch: read(S.rpcMaxRequestBatchSize),
      maxOpenConnections: read(S.rpcMaxOpenConnections),
      maxSubscriptionClients: read(S.rpcMaxSubscriptionClients),
      maxSubscriptionsPerClient: read(S.rpcMaxSubscriptionsPerClient),
    },
    rest: read(S.apiEnable) ? readRest(read) : undefined,
    grpc: read(S.grpcEnable) ? readGrpc(read) : undefined,
    metrics: read(S.prometheus) ? { ...read(S.prometheusListenAddr), hosts: read(S.rpcAllowedHosts) } : undefined,
    net: read(S.net),
    mempool: {
      maxTxs: read(S.mempoolSize),
      maxBytes: read(S.mempoolMaxTxsBytes),
      maxTxBytes: read(S.mempoolMaxTxBytes),
      maxTxsPerSender: read(S.mempoolMaxTxsPerSender),
      maxBytesPerSender: read(S.mempoolMaxBytesPerSender),
      cacheSize: read(S.mempoolCacheSize),
    },
  };
}

function readPruning(read: <T>(setting: Setting<T>) => T): Pruning {
  const strategy = read(S.pruning);
  const custom = { keepRecent: read(S.pruningKeepRecent), interval: read(S.pruningInterval) };
  return strategy === "custom" ? custom : PRUNING_STRATEGIES[strategy];
}

function readRest(read: <T>(setting: Setting<T>) => T): RestServerOptions {
  const address = read(S.apiAddress);
  return {
    ...address,
    ...readGuard(read),
    console: read(S.console) ?? isLoopback(address.host),
    maxBodyBytes: read(S.apiRpcMaxBodyBytes),
    maxOpenConnections: read(S.apiMaxOpenConnections),
  };
}

function readGrpc(read: <T>(setting: Setting<T>) => T): GrpcServerOptions {
  return {
    ...read(S.grpcAddress),
    ...readGuard(read),
    maxMessageBytes: read(S.grpcMaxRecvMsgSize),
    maxOpenConnections: read(S.grpcMaxOpenConnections),
  };
}

/** The web pages that REST and gRPC-web answer. */
function readGuard(read: <T>(setting: Setting<T>) => T): Pick<ServerOptions, "corsOrigins" | "hosts"> {
  return {
    corsOrigins: read(S.apiEnabledUnsafeCors) ? ["*"] : read(S.apiCorsAllowedOrigins),
    hosts: read(S.rpcAllowedHosts),
  };
}
