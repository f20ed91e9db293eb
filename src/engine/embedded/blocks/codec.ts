import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { AppEvent, TxResult, ValidatorUpdate } from "../../../abci/index.ts";
import {
  type Event,
  type ExecTxResult,
  ExecTxResultSchema,
  type ValidatorUpdate as ValidatorUpdateMessage,
} from "../../../wire/gen/comet/v1/abci_pb.js";
import {
  type BlockID,
  type Block as BlockMessage,
  BlockSchema,
  type Commit as CommitMessage,
  CommitSchema,
  type CommitSig as CommitSigMessage,
  type Header as HeaderMessage,
  HeaderSchema,
} from "../../../wire/gen/comet/v1/types_pb.js";
import { blockIdMessage, commitSigMessage, timeOf, timestampOf } from "../../../wire/index.ts";
import { BLOCK_PROTOCOL, type Block, type BlockId, type Commit, type CommitSig, type Header } from "./types.ts";

export { blockIdMessage } from "../../../wire/index.ts";

/**
 * Converts between the engine's values and the messages that are stored, hashed and sent. The protocol writes
 * sub-messages even when they are empty, so every one is set here.
 */

function blockIdOf(message: BlockID | undefined): BlockId {
  const { total = 0, hash = new Uint8Array() } = message?.partSetHeader ?? {};
  return { hash: message?.hash ?? new Uint8Array(), parts: { total, hash } };
}

function headerMessage(header: Header): HeaderMessage {
  return create(HeaderSchema, {
    ...header,
    version: { block: BLOCK_PROTOCOL, app: 0n },
    time: timestampOf(header.time),
    lastBlockId: blockIdMessage(header.lastBlockId),
  });
}

export function encodeHeader(header: Header): Uint8Array {
  return toBinary(HeaderSchema, headerMessage(header));
}

export function decodeHeader(bytes: Uint8Array): Header {
  const { $typeName, $unknown, version, ...fields } = fromBinary(HeaderSchema, bytes);
  return { ...fields, time: timeOf(fields.time), lastBlockId: blockIdOf(fields.lastBlockId) };
}

function commitMessage(commit: Commit): CommitMessage {
  return create(CommitSchema, {
    height: commit.height,
    round: commit.round,
    blockId: blockIdMessage(commit.blockId),
    signatures: commit.signatures.map(commitSigMessage),
  });
}

export function encodeCommit(commit: Commit): Uint8Array {
  return toBinary(CommitSchema, commitMessage(commit));
}

export function decodeCommit(bytes: Uint8Array): Commit {
  const { height, round, blockId, signatures } = fromBinary(CommitSchema, bytes);
  return { height, round, blockId: blockIdOf(blockId), signatures: signatures.map(commitSigOf) };
}

function commitSigOf({ blockIdFlag, validatorAddress, timestamp, signature }: CommitSigMessage): CommitSig {
  if (blockIdFlag !== 1 && blockIdFlag !== 2 && blockIdFlag !== 3) throw new Error("a stored commit is damaged");
  return { flag: blockIdFlag, validatorAddress, timestamp: timeOf(timestamp), signature };
}

export function blockMessage(block: Block): BlockMessage {
  return create(BlockSchema, {
    header: headerMessage(block.header),
    data: { txs: [...block.txs] },
    evidence: {},
    lastCommit: commitMessage(block.lastCommit),
  });
}

export function encodeBlock(block: Block): Uint8Array {
  return toBinary(BlockSchema, blockMessage(block));
}

/**
 * The bytes of an `ExecTxResult`. Results are the largest rows of a block, so they are written without its messages, and
 * one after the other by the same writer.
 */
export function encodeTxResult(result: TxResult, writer = new BinaryWriter()): Uint8Array {
  const { code, data, log, gasWanted, gasUsed, events, codespace } = result;
  if (code !== 0) writer.tag(1, WireType.Varint).uint32(code);
  if (data.length > 0) writer.tag(2, WireType.LengthDelimited).bytes(data);
  if (log !== undefined && log !== "") writer.tag(3, WireType.LengthDelimited).string(log);
  if (gasWanted !== 0n) writer.tag(5, WireType.Varint).int64(gasWanted);
  if (gasUsed !== 0n) writer.tag(6, WireType.Varint).int64(gasUsed);
  for (const event of events) writeEvent(writer.tag(7, WireType.LengthDelimited).fork(), event).join();
  if (codespace !== "") writer.tag(8, WireType.LengthDelimited).string(codespace);
  return writer.finish();
}

function writeEvent(writer: BinaryWriter, { type, attributes }: AppEvent): BinaryWriter {
  if (type !== "") writer.tag(1, WireType.LengthDelimited).string(type);
  for (const { key, value, index } of attributes) {
    writer.tag(2, WireType.LengthDelimited).fork();
    if (key !== "") writer.tag(1, WireType.LengthDelimited).string(key);
    if (value !== "") writer.tag(2, WireType.LengthDelimited).string(value);
    if (index) writer.tag(3, WireType.Varint).bool(index);
    writer.join();
  }
  return writer;
}

export function decodeTxResult(bytes: Uint8Array): TxResult {
  return txResultOf(fromBinary(ExecTxResultSchema, bytes));
}

/** Results of successes are stored without a log, which follows from their events. */
function txResultOf({ $typeName, $unknown, info, ...result }: ExecTxResult): TxResult {
  return { ...result, log: result.code === 0 && result.log === "" ? undefined : result.log };
}

export type EventInit = Omit<Event, "$typeName" | "$unknown" | "attributes"> & {
  attributes: { key: string; value: string; index: boolean }[];
};

export function eventInit({ type, attributes }: AppEvent): EventInit {
  return { type, attributes: [...attributes] };
}

export function validatorUpdateOf({ pubKey, power }: ValidatorUpdateMessage): ValidatorUpdate {
  if (pubKey?.sum.case !== "ed25519") throw new Error("a stored validator update is damaged");
  return { pubKey: pubKey.sum.value, power };
}
