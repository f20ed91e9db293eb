import type { Write } from "../store/index.ts";
import type { FinalizeBlock, PrepareProposal, ProcessProposal } from "./block.ts";
import type { Claim } from "./claims.ts";
import type { ConsensusParams, ValidatorUpdate } from "./consensus.ts";
import type { CheckTxResult, FinalizeBlockResult } from "./results.ts";
import type { SnapshotConnection } from "./snapshots.ts";

/**
 * The application as every engine drives it (ABCI 2.0, without vote extensions, which no parameter turns on). Every call
 * is synchronous; the engine serialises `checkTx`, block calls and `query`.
 */
export interface Application extends SnapshotConnection {
  info(): AppInfo;
  initChain(request: InitChain): InitChainResult;
  checkTx(request: CheckTx): CheckTxResult;
  /**
   * From now on the caller releases every claim itself. Otherwise all claims end with each commit, and the caller
   * checks waiting transactions again.
   */
  holdClaims(): void;
  /** The transaction of this claim no longer waits. */
  releaseClaim(claim: Claim): void;
  prepareProposal(request: PrepareProposal): readonly Uint8Array[];
  processProposal(request: ProcessProposal): boolean;
  /**
   * Executes a decided block. A block that was finalized and not committed is replaced: its engine ended in between, and
   * sends it again.
   */
  finalizeBlock(request: FinalizeBlock): FinalizeBlockResult;
  /**
   * Makes the finalized block durable, in one atomic write with an in-process engine's own writes. Returns the accounts
   * whose transactions may have become invalid.
   */
  commit(alongside?: readonly Write[]): TouchedAccounts;
  query(request: AppQuery): AppQueryResult;
}

export interface AppInfo {
  readonly version: string;
  readonly lastBlockHeight: bigint;
  /** Empty before the first commit. */
  readonly lastBlockAppHash: Uint8Array;
}

export interface InitChain {
  readonly chainId: string;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  readonly initialHeight: bigint;
  readonly validators: readonly ValidatorUpdate[];
  readonly consensusParams: ConsensusParams;
  /** The `app_state` of the genesis file. */
  readonly appState: Readonly<Record<string, unknown>>;
}

export interface InitChainResult {
  /** Empty = the validators of the request. */
  readonly validators: readonly ValidatorUpdate[];
  /** Undefined = the parameters of the request. */
  readonly consensusParams: ConsensusParams | undefined;
  readonly appHash: Uint8Array;
}

export interface CheckTx {
  readonly tx: Uint8Array;
  /** Whether the transaction is to wait if it passes, already waits, or is only tried, which changes nothing. */
  readonly kind: "new" | "recheck" | "trial";
  /**
   * The claim that the transaction's claim replaces: its own earlier one, or that of the replaced transaction with the
   * same signers.
   */
  readonly place?: Claim;
}

/** Accounts that a block changed, as claims name them; `all` where it changed the rules for everybody. */
export type TouchedAccounts = ReadonlySet<string> | "all";

export interface AppQuery {
  /** `/package.Service/Method`, `/app/version`, `/store/<name>/key`. */
  readonly path: string;
  readonly data: Uint8Array;
  /** 0 = latest. */
  readonly height: bigint;
  readonly prove: boolean;
}

export interface AppQueryResult {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  /**
   * For a refusal, the `codespace/code` of our own error, which the codes of the ecosystem's failed queries do not
   * show.
   */
  readonly info: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** From the value up to the app hash; empty unless a proof was asked for. */
  readonly proofOps: readonly ProofOp[];
  readonly height: bigint;
}

/** One step of a proof. */
export interface ProofOp {
  readonly type: string;
  readonly key: Uint8Array;
  readonly data: Uint8Array;
}
