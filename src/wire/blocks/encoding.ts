import { create, toBinary } from "@bufbuild/protobuf";
import { sizeDelimitedEncode } from "@bufbuild/protobuf/wire";
import {
  BytesValueSchema,
  Int64ValueSchema,
  StringValueSchema,
  type Timestamp,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import {
  type BlockID,
  BlockIDSchema,
  CanonicalVoteSchema,
  type CommitSig as CommitSigMessage,
  CommitSigSchema,
  ConsensusSchema,
  SignedMsgType,
  SimpleValidatorSchema,
} from "../gen/comet/v1/types_pb.js";
import { merkleRoot } from "./merkle.ts";
import {
  BLOCK_PROTOCOL,
  type BlockId,
  type BlockVersion,
  type Commit,
  type CommitSig,
  type Header,
  type Validator,
} from "./types.ts";

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

/** Identity of a block: Merkle root over the 14 fields of its header, scalars in the form of wrapper messages. */
export function headerHash(
  header: Header,
  { block, app }: BlockVersion = { block: BLOCK_PROTOCOL, app: 0n },
): Uint8Array {
  return merkleRoot([
    toBinary(ConsensusSchema, create(ConsensusSchema, { block, app })),
    toBinary(StringValueSchema, create(StringValueSchema, { value: header.chainId })),
    toBinary(Int64ValueSchema, create(Int64ValueSchema, { value: header.height })),
    toBinary(TimestampSchema, timestampOf(header.time)),
    toBinary(BlockIDSchema, blockIdMessage(header.lastBlockId)),
    wrapped(header.lastCommitHash),
    wrapped(header.dataHash),
    wrapped(header.validatorsHash),
    wrapped(header.nextValidatorsHash),
    wrapped(header.consensusHash),
    wrapped(header.appHash),
    wrapped(header.lastResultsHash),
    wrapped(header.evidenceHash),
    wrapped(header.proposerAddress),
  ]);
}

function wrapped(value: Uint8Array): Uint8Array {
  return toBinary(BytesValueSchema, create(BytesValueSchema, { value }));
}

/** Root over the set of validators, in its order. */
export function validatorsHash(validators: readonly Validator[]): Uint8Array {
  return merkleRoot(validators.map(simpleValidator));
}

function simpleValidator({ pubKey, power }: Validator): Uint8Array {
  const sum = { case: "ed25519", value: pubKey } as const;
  return toBinary(SimpleValidatorSchema, create(SimpleValidatorSchema, { pubKey: { sum }, votingPower: power }));
}

/** Root over the votes of a commit. */
export function commitHash(commit: Commit): Uint8Array {
  return merkleRoot(commit.signatures.map((sig) => toBinary(CommitSigSchema, commitSigMessage(sig))));
}

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
