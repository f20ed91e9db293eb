import { create } from "@bufbuild/protobuf";
import { sizeDelimitedEncode } from "@bufbuild/protobuf/wire";
import { CanonicalVoteSchema, SignedMsgType } from "../gen/comet/v1/types_pb.js";
import { timestampOf } from "./messages.ts";
import type { BlockId } from "./types.ts";

/** A vote to commit a block. */
export interface Precommit {
  readonly chainId: string;
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId;
  readonly timestamp: bigint;
}

/** The bytes that a validator signs: the canonical vote after its length. */
export function voteSignBytes(vote: Precommit): Uint8Array {
  const { chainId, height, round, blockId, timestamp } = vote;
  const message = create(CanonicalVoteSchema, {
    type: SignedMsgType.PRECOMMIT,
    height,
    round: BigInt(round),
    timestamp: timestampOf(timestamp),
    chainId,
    blockId: { hash: blockId.hash, partSetHeader: blockId.parts },
  });
  return sizeDelimitedEncode(CanonicalVoteSchema, message);
}
