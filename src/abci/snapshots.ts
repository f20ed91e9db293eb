import type { Write } from "../store/index.ts";
import type { ConsensusParams } from "./consensus.ts";

/** The state of a height in pieces, from which a new node can start without the blocks before. */
export interface Snapshot {
  readonly height: bigint;
  /** Version of the form that the application writes. */
  readonly format: number;
  readonly chunks: number;
  /** Identifies the content: equal hashes mean equal snapshots. */
  readonly hash: Uint8Array;
  readonly metadata: Uint8Array;
}

/**
 * An application's answer to a snapshot that it is offered: begin with it, give up state sync altogether, or try
 * another snapshot, format or sender.
 */
export type SnapshotVerdict = "accept" | "abort" | "reject" | "rejectFormat" | "rejectSender";

export interface OfferSnapshot {
  readonly snapshot: Snapshot;
  /** App hash of the snapshot's height, as a light client verified it. */
  readonly appHash: Uint8Array;
  /** Whether a state that the engine continued with no block is replaced: its earlier state sync was interrupted. */
  readonly replaces?: boolean;
}

export interface SnapshotChunk {
  readonly height: bigint;
  readonly format: number;
  readonly chunk: number;
}

export interface ApplySnapshotChunk {
  readonly index: number;
  readonly chunk: Uint8Array;
  /** Who sent it. */
  readonly sender: string;
}

export interface AppliedChunk {
  readonly result: "accept" | "abort" | "retry" | "retrySnapshot" | "rejectSnapshot";
  /** Indexes of chunks to fetch again. */
  readonly refetchChunks: readonly number[];
  /** Senders whose chunks are bad. */
  readonly rejectSenders: readonly string[];
}

/** The state that the last chunk of a snapshot completes. */
export interface RestoredState {
  readonly height: bigint;
  /** Parameters of the next block. */
  readonly params: ConsensusParams;
}

/**
 * Snapshots of an application. One without snapshots lists none, returns no chunks, and aborts when it is offered one.
 */
export interface SnapshotConnection {
  listSnapshots(): readonly Snapshot[];
  offerSnapshot(request: OfferSnapshot): SnapshotVerdict;
  /** Empty when there is no such chunk. */
  loadSnapshotChunk(request: SnapshotChunk): Uint8Array;
  /** The state becomes durable with the last chunk, in one atomic write with the engine's own writes for it. */
  applySnapshotChunk(
    request: ApplySnapshotChunk,
    alongside?: (restored: RestoredState) => readonly Write[],
  ): AppliedChunk;
}
