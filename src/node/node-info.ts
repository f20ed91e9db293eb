import type { Pruning } from "../store/index.ts";
import type { DecimalCoin } from "../util/index.ts";

/** Who this node says it is, and what of its settings its clients need. */
export interface NodeInfo {
  /** Hex of the node key's address. */
  readonly id: string;
  readonly moniker: string;
  /** Where JSON-RPC listens, as `tcp://host:port`; there are no peers: only the servers listen. */
  readonly rpcAddress: string;
  /** Our own version; `version` is that of the engine's dialect. */
  readonly applicationVersion: string;
  /** Prices per unit of gas below which it refuses transactions. */
  readonly minGasPrices: readonly DecimalCoin[];
  /** The block after which it stops; 0 for never. */
  readonly haltHeight: bigint;
  /** For how long older heights can be asked for. */
  readonly pruning: Pruning;
}

/** The dialect of the RPC: clients choose their decoder by it. */
export const ENGINE_VERSION = "0.38.17";
export const P2P_PROTOCOL = "8";
export const BLOCK_PROTOCOL = "11";
/** What the application calls itself. */
export const APP_NAME = "svc";
