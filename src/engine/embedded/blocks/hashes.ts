import { create, toBinary } from "@bufbuild/protobuf";
import type { ConsensusParams, TxResult } from "../../../abci/index.ts";
import { sha256 } from "../../../crypto/index.ts";
import { equalBytes } from "../../../util/index.ts";
import { HashedParamsSchema } from "../../../wire/gen/comet/v1/types_pb.js";
import { type BlockId, type Header, headerHash, merkleRoot, type PartSetHeader } from "../../../wire/index.ts";

import { encodeTxResult } from "./codec.ts";

export { commitHash, headerHash, validatorsHash } from "../../../wire/index.ts";

/** Bytes of a block part. */
export const PART_BYTES = 65_536;

/** Hash of a transaction, by which clients identify it. */
export function txHash(tx: Uint8Array): Uint8Array {
  return sha256(tx);
}

/** Root over the hashes of a block's transactions. */
export function dataHash(txHashes: readonly Uint8Array[]): Uint8Array {
  return merkleRoot(txHashes);
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
  return encodeTxResult({ code, codespace: "", data, log: undefined, gasWanted, gasUsed, events: [] });
}

/** Whether a block accuses a validator. */
export function hasEvidence({ evidenceHash: hash }: Header): boolean {
  return !equalBytes(hash, evidenceHash());
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
