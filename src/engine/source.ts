import type { AppInfo, AppQuery, AppQueryResult, CheckTx, CheckTxResult, ConsensusParams } from "../abci/index.ts";
import type { BlockRecord } from "./embedded/blocks/block-records.ts";
import type { ExecutedTx } from "./embedded/blocks/tx-rows.ts";
import type { Block, Validator } from "./embedded/blocks/types.ts";
import type { BlockListener } from "./embedded/events.ts";
import type { SearchPage, SearchResult } from "./embedded/index/search.ts";
import type { FoundTx } from "./embedded/index/tx-index.ts";
import type { CheckedTx } from "./embedded/mempool/mempool.ts";
import type { GenesisHead } from "./genesis.ts";

/** A source in this process answers synchronously, one over a network asynchronously. */
export type Awaitable<T> = T | Promise<T>;

/**
 * The view of a chain that servers need, whichever engine runs it: in this process, or in another one over its RPC.
 * Unknown heights and hashes are undefined; operations that the engine lacks throw `SvcError`.
 */
export interface ChainSource {
  /** The genesis of the chain. */
  readonly genesis: GenesisHead;
  /** Key and address of this node's validator. */
  readonly validator: { readonly publicKey: Uint8Array; readonly address: Uint8Array };
  readonly blocks: BlockSource;
  readonly txs: TxSource;
  readonly mempool: MempoolSource;
  readonly app: AppSource;
  readonly events: EventSource;
  status(): Awaitable<ChainStatus>;
  consensus(): Awaitable<ConsensusRound>;
  /** Asks the RPC of an engine that is a program beside the node; undefined where the engine is in the node. */
  readonly ask?: AskEngine | undefined;
}

/** Resolves with the JSON of the result, or throws the engine's refusal. */
export type AskEngine = (method: EngineMethod, params: EngineJson) => Awaitable<EngineJson>;
/** Facts that the engine alone has. */
export type EngineMethod =
  | "health"
  | "net_info"
  | "consensus_state"
  | "dump_consensus_state"
  | "broadcast_evidence"
  | "validators"
  | "block";
export type EngineJson = Readonly<Record<string, unknown>>;

export interface ChainStatus {
  /** The engine that makes the blocks; an embedded one signs with the key of its node alone. */
  readonly engine: "embedded" | "cometbft";
  /** Heights: of the last block, 0 before the first; of the lowest stored one. */
  readonly height: bigint;
  readonly base: bigint;
  readonly latest: BlockRecord | undefined;
  readonly earliest: BlockRecord | undefined;
  /** Voters of the next block. */
  readonly validators: readonly Validator[];
  readonly catchingUp: boolean;
}

export interface BlockSource {
  /** Header, commit and results of a block without its transactions. */
  record(height: bigint): Awaitable<BlockRecord | undefined>;
  block(height: bigint): Awaitable<Block | undefined>;
  /** Transactions of a block with their results, in order. */
  txs(height: bigint): Awaitable<readonly ExecutedTx[]>;
  /** The voters on the block of a height. */
  validators(height: bigint): Awaitable<readonly Validator[] | undefined>;
  /** Parameters of consensus of the block of a height; undefined before the first that is known. */
  consensusParams(height: bigint): Awaitable<ConsensusParams | undefined>;
  heightOf(hash: Uint8Array): Awaitable<bigint | undefined>;
  /** Heights of blocks whose own events satisfy a query. */
  search(page: SearchPage): Awaitable<SearchResult<bigint>>;
}

export interface TxSource {
  find(hash: Uint8Array): Awaitable<FoundTx | undefined>;
  search(page: SearchPage): Awaitable<SearchResult<FoundTx>>;
}

export interface MempoolSource {
  /** Checks a transaction and keeps it when its code is 0. Throws when it is known already, too large, or nothing fits. */
  add(tx: Uint8Array): Awaitable<CheckedTx>;
  /** The first `limit` waiting transactions; fewer if they are large. */
  list(limit: number): Awaitable<readonly Uint8Array[]>;
  size(): Awaitable<{ readonly txs: number; readonly bytes: number }>;
}

/** Requests that reach the application through the engine. */
export interface AppSource {
  info(): Awaitable<AppInfo>;
  query(query: AppQuery): Awaitable<AppQueryResult>;
  checkTx(request: CheckTx): Awaitable<CheckTxResult>;
}

export interface EventSource {
  /**
   * Calls the listener with every block after its commit, in order; returns the function that ends that. A block for
   * which `wants` is false may be left out if it would have to be read for the listener.
   */
  listen(listener: BlockListener, wants?: () => boolean): () => void;
}

/** The height that is being decided. */
export interface ConsensusRound {
  readonly height: bigint;
  /** The time when its first round begins, in nanoseconds since 1970. */
  readonly startTime: bigint;
  readonly validators: readonly Validator[];
  /** The last block with its voters; undefined before the first. */
  readonly last: { readonly record: BlockRecord; readonly validators: readonly Validator[] } | undefined;
}
