import type { TxResult } from "./results.ts";

/** A validator in votes and evidence. */
export interface VotingValidator {
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly power: bigint;
}

/** Whether a validator signed the block before: 1 absent, 2 for the block, 3 for no block. */
export interface VoteInfo {
  readonly validator: VotingValidator;
  readonly flag: 1 | 2 | 3;
}

/** The votes on the block before this one, in the order of its voters; empty for the first block. */
export interface CommitInfo {
  readonly round: number;
  readonly votes: readonly VoteInfo[];
}

/** Proof that a validator signed two things that exclude each other. */
export interface Misbehavior {
  readonly kind: "duplicateVote" | "lightClientAttack";
  readonly validator: VotingValidator;
  /** Where and when it happened; the time is in nanoseconds since 1970. */
  readonly height: bigint;
  readonly time: bigint;
  readonly totalVotingPower: bigint;
}

/** The engine's facts about voters when it makes, checks or decides a block. */
export interface BlockEvidence {
  readonly lastCommit: CommitInfo;
  readonly misbehavior: readonly Misbehavior[];
}

/** For a block without votes and misbehaviour. */
export const NO_EVIDENCE: BlockEvidence = { lastCommit: { round: 0, votes: [] }, misbehavior: [] };

/** The same, for applications that run without voters: replays, benchmarks, tests. */
export const NO_VOTERS: BlockEvidence & { readonly nextValidatorsHash: Uint8Array } = {
  ...NO_EVIDENCE,
  nextValidatorsHash: new Uint8Array(0),
};

/** The place of a block, known before its content. */
export interface BlockPlace extends BlockEvidence {
  readonly height: bigint;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  /** Consensus address, 20 bytes. */
  readonly proposer: Uint8Array;
  /** Hash of the voters of the next block. */
  readonly nextValidatorsHash: Uint8Array;
}

export interface PrepareProposal extends BlockPlace {
  /** The transactions that the engine would put into the block, each account's in the order of their sequences. */
  readonly txs: readonly Uint8Array[];
  /** Bytes that the transactions may take, each with its tag and length. */
  readonly maxBytes: number;
}

export interface ProcessProposal extends BlockPlace {
  readonly txs: readonly Uint8Array[];
  readonly hash: Uint8Array;
}

export interface FinalizeBlock extends ProcessProposal {
  /** Takes each result as soon as its transaction is executed, and returns the one to list; lists all unchanged if left out. */
  readonly keep?: (result: TxResult, index: number) => TxResult;
}
