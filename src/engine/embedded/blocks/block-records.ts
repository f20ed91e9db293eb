import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type AppEvent,
  type ConsensusParams,
  consensusParamsFields,
  consensusParamsOf,
  type TxResult,
  type ValidatorUpdate,
} from "../../../abci/index.ts";
import { consensusAddress } from "../../../crypto/index.ts";
import { BlockResultsSchema } from "../../../wire/gen/comet/v1/types_pb.js";
import { decodeCommit, decodeHeader, encodeCommit, encodeHeader, eventInit, validatorUpdateOf } from "./codec.ts";
import type { Block, Commit, Header, Validator } from "./types.ts";

/** A block with the votes that made it final and the results of its execution. */
export interface ExecutedBlock {
  readonly block: Block;
  readonly commit: Commit;
  /** Bytes of the encoded block. */
  readonly size: number;
  readonly txResults: readonly TxResult[];
  readonly events: readonly AppEvent[];
  readonly validatorUpdates: readonly ValidatorUpdate[];
  /** Parameters of the next block, if this one changes them. */
  readonly consensusParamUpdates: ConsensusParams | undefined;
  readonly appHash: Uint8Array;
}

/** A block with its votes, before it is executed. */
export interface SignedBlock {
  readonly header: Header;
  readonly commit: Commit;
  readonly txs: readonly Uint8Array[];
}

/** A stored block without its transactions. */
export interface BlockRecord {
  readonly header: Header;
  readonly commit: Commit;
  readonly size: number;
  readonly txCount: number;
  readonly events: readonly AppEvent[];
  readonly validatorUpdates: readonly ValidatorUpdate[];
  readonly consensusParamUpdates: ConsensusParams | undefined;
  readonly appHash: Uint8Array;
}

export function encodeSigned({ header, commit, txs }: SignedBlock): Uint8Array {
  const writer = new BinaryWriter().bytes(encodeHeader(header)).bytes(encodeCommit(commit));
  for (const tx of txs) writer.bytes(tx);
  return writer.finish();
}

export function decodeSigned(bytes: Uint8Array): SignedBlock {
  const reader = new BinaryReader(bytes);
  const header = decodeHeader(reader.bytes());
  const commit = decodeCommit(reader.bytes());
  const txs: Uint8Array[] = [];
  while (reader.pos < reader.len) txs.push(reader.bytes());
  return { header, commit, txs };
}

/** The record of a block, without its transactions. */
export function recordOf(executed: ExecutedBlock): BlockRecord {
  const { block, commit, size, events, validatorUpdates, consensusParamUpdates, appHash } = executed;
  const updates = { validatorUpdates, consensusParamUpdates };
  return { header: block.header, commit, size, txCount: block.txs.length, events, ...updates, appHash };
}

export function encodeRecord(record: BlockRecord): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).uint32(record.size).tag(2, WireType.Varint).uint32(record.txCount);
  writer.tag(3, WireType.LengthDelimited).bytes(encodeHeader(record.header));
  writer.tag(4, WireType.LengthDelimited).bytes(encodeCommit(record.commit));
  writer.tag(5, WireType.LengthDelimited).bytes(encodeResults(record));
  return writer.finish();
}

function encodeResults({ header, events, validatorUpdates, consensusParamUpdates, appHash }: BlockRecord): Uint8Array {
  const message = create(BlockResultsSchema, {
    height: header.height,
    finalizeBlockEvents: events.map(eventInit),
    validatorUpdates: validatorUpdates.map(({ pubKey, power }) => ({
      pubKey: { sum: { case: "ed25519" as const, value: pubKey } },
      power,
    })),
    appHash,
    ...(consensusParamUpdates === undefined
      ? {}
      : { consensusParamUpdates: consensusParamsFields(consensusParamUpdates) }),
  });
  return toBinary(BlockResultsSchema, message);
}

export function decodeRecord(bytes: Uint8Array): BlockRecord {
  const reader = new BinaryReader(bytes);
  const field = (wanted: number): void => {
    const [found] = reader.tag();
    if (found !== wanted) throw new Error("a stored block is damaged");
  };
  field(1);
  const size = reader.uint32();
  field(2);
  const txCount = reader.uint32();
  field(3);
  const header = decodeHeader(reader.bytes());
  field(4);
  const commit = decodeCommit(reader.bytes());
  field(5);
  const results = fromBinary(BlockResultsSchema, reader.bytes());
  const validatorUpdates = results.validatorUpdates.map(validatorUpdateOf);
  return {
    header,
    commit,
    size,
    txCount,
    events: results.finalizeBlockEvents,
    validatorUpdates,
    consensusParamUpdates: results.consensusParamUpdates && consensusParamsOf(results.consensusParamUpdates),
    appHash: results.appHash,
  };
}

export function encodeValidators(validators: readonly Validator[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { pubKey, power } of validators) writer.bytes(pubKey).uint64(power);
  return writer.finish();
}

export function decodeValidators(bytes: Uint8Array): Validator[] {
  const reader = new BinaryReader(bytes);
  const found: Validator[] = [];
  while (reader.pos < reader.len) {
    const pubKey = reader.bytes();
    found.push({ address: consensusAddress(pubKey), pubKey, power: BigInt(reader.uint64()) });
  }
  return found;
}
