/** The state of a height in pieces, from which a new node can start without the blocks before. */
export interface Snapshot {
  readonly height: bigint;
  /** Version of the form that the application writes. */
  readonly format: number;
  readonly chunks: number;
  /** Names the content: equal hashes, equal snapshots. */
  readonly hash: Uint8Array;
  readonly metadata: Uint8Array;
}

/**
 * What an application says to a snapshot that it is offered: begin with it, give up state sync altogether, or try another
 * snapshot, format or sender.
 */
export type SnapshotVerdict = "accept" | "abort" | "reject" | "rejectFormat" | "rejectSender";

export interface OfferSnapshot {
  readonly snapshot: Snapshot;
  /** Of the snapshot's height, as a light client verified it. */
  readonly appHash: Uint8Array;
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
  /** Senders whose chunks are not good. */
  readonly rejectSenders: readonly string[];
}

/** Snapshots of an application. One that has none lists none, gives no bytes of any, and aborts when it is offered one. */
export interface SnapshotConnection {
  listSnapshots(): readonly Snapshot[];
  offerSnapshot(request: OfferSnapshot): SnapshotVerdict;
  /** Empty when there is no such chunk. */
  loadSnapshotChunk(request: SnapshotChunk): Uint8Array;
  applySnapshotChunk(request: ApplySnapshotChunk): AppliedChunk;
}
