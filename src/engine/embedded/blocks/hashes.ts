import { create, toBinary } from "@bufbuild/protobuf";
import { BytesValueSchema, Int64ValueSchema, StringValueSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { ConsensusParams, TxResult } from "../../../abci/index.ts";
import { sha256 } from "../../../crypto/index.ts";
import { ExecTxResultSchema } from "../../../wire/gen/comet/v1/abci_pb.js";
import {
  BlockIDSchema,
  ConsensusSchema,
  HashedParamsSchema,
  SimpleValidatorSchema,
} from "../../../wire/gen/comet/v1/types_pb.js";
import { blockIdMessage, encodeCommitSig, timestampOf } from "./codec.ts";
import { merkleRoot } from "./merkle.ts";
import { BLOCK_PROTOCOL, type BlockId, type Commit, type Header, type PartSetHeader, type Validator } from "./types.ts";

/** Bytes of a block part. */
export const PART_BYTES = 65_536;

/** Identity of a block: Merkle root over the 14 fields of its header, scalars in the form of wrapper messages. */
export function headerHash(header: Header): Uint8Array {
  return merkleRoot([
    toBinary(ConsensusSchema, create(ConsensusSchema, { block: BLOCK_PROTOCOL, app: 0n })),
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

/** Hash of a transaction, by which clients identify it. */
export function txHash(tx: Uint8Array): Uint8Array {
  return sha256(tx);
}

/** Root over the hashes of a block's transactions. */
export function dataHash(txHashes: readonly Uint8Array[]): Uint8Array {
  return merkleRoot(txHashes);
}

/** Root over the set of validators, in its order. */
export function validatorsHash(validators: readonly Validator[]): Uint8Array {
  return merkleRoot(validators.map(simpleValidator));
}

function simpleValidator({ pubKey, power }: Validator): Uint8Array {
  const sum = { case: "ed25519", value: pubKey } as const;
  return toBinary(SimpleValidatorSchema, create(SimpleValidatorSchema, { pubKey: { sum }, votingPower: power }));
}

/** Hash of the consensus parameters that every node must share. */
export function consensusParamsHash({ block }: ConsensusParams): Uint8Array {
  const hashed = create(HashedParamsSchema, { blockMaxBytes: block.maxBytes, blockMaxGas: block.maxGas });
  return sha256(toBinary(HashedParamsSchema, hashed));
}

/** Root over the part of the results on which nodes must agree: code, data and gas. */
export function resultsHash(results: readonly TxResult[]): Uint8Array {
  return merkleRoot(results.map(deterministicResult));
}

function deterministicResult({ code, data, gasWanted, gasUsed }: TxResult): Uint8Array {
  return toBinary(ExecTxResultSchema, create(ExecTxResultSchema, { code, data, gasWanted, gasUsed }));
}

/** Root over the votes of a commit. */
export function commitHash(commit: Commit): Uint8Array {
  return merkleRoot(commit.signatures.map(encodeCommitSig));
}

/** Hash of a block's evidence; a single validator has no other to accuse. */
export function evidenceHash(): Uint8Array {
  return merkleRoot([]);
}

/** Root over the parts in which a block's bytes are sent. */
export function partSetHeader(block: Uint8Array): PartSetHeader {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < block.length; from += PART_BYTES) parts.push(block.subarray(from, from + PART_BYTES));
  return { total: parts.length, hash: merkleRoot(parts) };
}

/** Identity of a block from its header and its encoding. */
export function blockIdFor(header: Header, encoded: Uint8Array): BlockId {
  return { hash: headerHash(header), parts: partSetHeader(encoded) };
}
