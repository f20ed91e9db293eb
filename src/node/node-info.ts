import type { Pruning } from "../store/index.ts";
import type { DecimalCoin } from "../util/index.ts";

/** The identity that this node reports, and the settings that its clients need. */
export interface NodeInfo {
  /** Hex of the node key's address. */
  readonly id: string;
  readonly moniker: string;
  /** Where JSON-RPC listens, as `tcp://host:port`. */
  readonly rpcAddress: string;
  /** Where other nodes connect; the address of JSON-RPC for a node that makes its blocks alone. */
  readonly listenAddress: string;
  /** Our own version; `version` is the version of the engine's dialect. */
  readonly applicationVersion: string;
  /** Prices per unit of gas below which it refuses transactions. */
  readonly minGasPrices: readonly DecimalCoin[];
  /** The block after which it stops; 0 for never. */
  readonly haltHeight: bigint;
  /** How long older heights can be queried. */
  readonly pruning: Pruning;
}

/** The dialect of the RPC: clients choose their decoder by it. */
export const ENGINE_VERSION = "0.38.17";
/** The level of the ecosystem's REST and gRPC: clients choose routes and fields by it. */
export const SDK_VERSION = "v0.53.4";
/** The channels of CometBFT's reactors; clients of its older dialects refuse a node that lists none. */
export const CHANNELS = "40202122233038606100";
export const P2P_PROTOCOL = "8";
export const BLOCK_PROTOCOL = "11";
/** The application's name for itself. */
export const APP_NAME = "svc";
