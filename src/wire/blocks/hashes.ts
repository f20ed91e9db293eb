import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema, Int64ValueSchema, StringValueSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { BlockIDSchema, CommitSigSchema, ConsensusSchema, SimpleValidatorSchema } from "../gen/comet/v1/types_pb.js";
import { merkleRoot } from "./merkle.ts";
import { blockIdMessage, commitSigMessage, timestampOf } from "./messages.ts";
import { BLOCK_PROTOCOL, type BlockVersion, type Commit, type Header, type Validator } from "./types.ts";

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
