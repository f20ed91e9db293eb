import { create } from "@bufbuild/protobuf";
import { sizeDelimitedEncode } from "@bufbuild/protobuf/wire";
import { verifyEd25519 } from "../../../crypto/index.ts";
import { equalBytes } from "../../../util/index.ts";
import { CanonicalVoteSchema, SignedMsgType } from "../../../wire/gen/comet/v1/types_pb.js";
import { timestampOf } from "./codec.ts";
import type { BlockId, Commit, CommitSig, Validator } from "./types.ts";

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

/** Whether more than two thirds of the voting power signed the commit's block; every signature given must be valid. */
export function verifyCommit(chainId: string, commit: Commit, validators: readonly Validator[]): boolean {
  if (commit.signatures.length !== validators.length) return false;
  let signed = 0n;
  let total = 0n;
  for (const [i, validator] of validators.entries()) {
    total += validator.power;
    const sig = commit.signatures[i];
    if (sig === undefined || sig.flag !== 2) continue;
    // No signature covers the address beside it.
    if (!equalBytes(sig.validatorAddress, validator.address)) return false;
    if (!verifySignature(chainId, commit, { sig, validator })) return false;
    signed += validator.power;
  }
  return signed * 3n > total * 2n;
}

function verifySignature(chainId: string, commit: Commit, vote: { sig: CommitSig; validator: Validator }): boolean {
  const { height, round, blockId } = commit;
  const message = voteSignBytes({ chainId, height, round, blockId, timestamp: vote.sig.timestamp });
  return verifyEd25519(vote.validator.pubKey, message, vote.sig.signature);
}
