import type { Claim } from "./claims.ts";
import type { ConsensusParams, ValidatorUpdate } from "./consensus.ts";

/** Codes, texts and events as in `comet.v1.ExecTxResult`. */
export interface TxResult {
  readonly code: number;
  readonly codespace: string;
  readonly data: Uint8Array;
  /** After a failure the error text, after a success the JSON of the logs; `logOf` makes it from the events if it is missing. */
  readonly log: string | undefined;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly AppEvent[];
}

export interface AppEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string; readonly index: boolean }[];
}

export interface CheckTxResult extends TxResult {
  readonly log: string;
  /** The transaction's claim while it waits; undefined if it could not be read. */
  readonly claim: Claim | undefined;
}

/** Changes of a block to consensus itself. */
export interface ConsensusUpdates {
  /** Voters from the block after the next on; each validator at most once. */
  readonly validatorUpdates: readonly ValidatorUpdate[];
  /** Parameters from the next block on; undefined = unchanged. */
  readonly consensusParamUpdates: ConsensusParams | undefined;
}

export interface FinalizeBlockResult extends ConsensusUpdates {
  readonly events: readonly AppEvent[];
  readonly txResults: readonly TxResult[];
  readonly appHash: Uint8Array;
}
