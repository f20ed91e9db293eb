import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import {
  type BlockID,
  BlockIDSchema,
  type CommitSig as CommitSigMessage,
  CommitSigSchema,
} from "../gen/comet/v1/types_pb.js";
import type { BlockId, CommitSig } from "./types.ts";

const SECOND = 1_000_000_000n;

export function timestampOf(time: bigint): Timestamp {
  const nanos = ((time % SECOND) + SECOND) % SECOND;
  return create(TimestampSchema, { seconds: (time - nanos) / SECOND, nanos: Number(nanos) });
}

/** Nanoseconds since 1970; a missing time is 0. */
export function timeOf(timestamp: Pick<Timestamp, "seconds" | "nanos"> | undefined): bigint {
  return timestamp === undefined ? 0n : timestamp.seconds * SECOND + BigInt(timestamp.nanos);
}

/** The protocol writes sub-messages even when they are empty, so every one is set. */
export function blockIdMessage(id: BlockId): BlockID {
  return create(BlockIDSchema, { hash: id.hash, partSetHeader: id.parts });
}

export function commitSigMessage(sig: CommitSig): CommitSigMessage {
  const { flag, validatorAddress, timestamp, signature } = sig;
  return create(CommitSigSchema, {
    blockIdFlag: flag,
    validatorAddress,
    timestamp: timestampOf(timestamp),
    signature,
  });
}
