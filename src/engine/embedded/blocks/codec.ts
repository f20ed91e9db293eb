import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
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
import { BackwardWriter, blockIdMessage, commitSigMessage, timeOf, timestampOf } from "../../../wire/index.ts";
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

const writer = new BackwardWriter();

/** The bytes of an `ExecTxResult`. Results are the largest rows of a block, so they are written without its messages. */
export function encodeTxResult({ code, data, log, gasWanted, gasUsed, events, codespace }: TxResult): Uint8Array {
  writeText(8, codespace);
  for (let i = events.length - 1; i >= 0; i--) writeEvent(events[i]);
  writeInt64(6, gasUsed);
  writeInt64(5, gasWanted);
  writeText(3, log ?? "");
  if (data.length > 0) {
    writer.bytes(data);
    writeTag(2, data.length);
  }
  if (code !== 0) {
    writer.uint32(code);
    writer.uint32(8);
  }
  return writer.finish();
}

function writeEvent(event: AppEvent | undefined): void {
  const before = writer.written;
  const { type = "", attributes = [] } = event ?? {};
  for (let i = attributes.length - 1; i >= 0; i--) writeAttribute(attributes[i]);
  writeText(1, type);
  writeTag(7, writer.written - before);
}

function writeAttribute(attribute: AppEvent["attributes"][number] | undefined): void {
  const before = writer.written;
  const { key = "", value = "", index = false } = attribute ?? {};
  if (index) {
    writer.uint32(1);
    writer.uint32(24);
  }
  writeText(2, value);
  writeText(1, key);
  writeTag(2, writer.written - before);
}

/** The tag and the length of content that is written already. */
function writeTag(field: number, length: number): void {
  writer.uint32(length);
  writer.uint32(field * 8 + WireType.LengthDelimited);
}

function writeText(field: number, text: string): void {
  if (text === "") return;
  const before = writer.written;
  writer.cutString(text);
  writeTag(field, writer.written - before);
}

function writeInt64(field: number, value: bigint): void {
  if (value === 0n) return;
  writer.uint64(BigInt.asUintN(64, value));
  writer.uint32(field * 8);
}

export function decodeTxResult(bytes: Uint8Array): TxResult {
  return txResultOf(fromBinary(ExecTxResultSchema, bytes));
}

/**
 * A result that is kept as its bytes while its block is made: the events of a full block are a million objects, which would
 * outlive many collections of garbage.
 */
export class EncodedTxResult implements TxResult {
  readonly code: number;
  readonly codespace: string;
  readonly data: Uint8Array;
  readonly log: string | undefined;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly bytes: Uint8Array;

  constructor(result: TxResult) {
    this.code = result.code;
    this.codespace = result.codespace;
    this.data = result.data;
    this.log = result.log;
    this.gasWanted = result.gasWanted;
    this.gasUsed = result.gasUsed;
    this.bytes = encodeTxResult(result);
  }

  /** Read from the bytes each time. */
  get events(): readonly AppEvent[] {
    return decodeTxResult(this.bytes).events;
  }
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
