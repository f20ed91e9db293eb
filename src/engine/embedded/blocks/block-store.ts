import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ConsensusParams, consensusParamsFields, consensusParamsOf } from "../../../abci/index.ts";
import { type Database, type Entry, firstEntry, type Write } from "../../../store/index.ts";
import { bytesToUint64, toUtf8, uint64ToBytes } from "../../../util/index.ts";
import { ConsensusParamsSchema } from "../../../wire/gen/comet/v1/types_pb.js";
import {
  type BlockRecord,
  decodeRecord,
  decodeSigned,
  decodeValidators,
  type ExecutedBlock,
  encodeRecord,
  encodeSigned,
  encodeValidators,
  recordOf,
  type SignedBlock,
} from "./block-records.ts";
import { type ExecutedTx, readTx, readTxBytes, readTxs, TX_TABLES, txRemovals, txWrites } from "./tx-rows.ts";
import { type Block, NO_COMMIT, type Validator } from "./types.ts";

/** Height (8 bytes) -> a block without its transactions. */
const BLOCKS = "engine/blocks";
/** Height (8 bytes) -> the validators from this height on; written where they change. */
const VALIDATORS = "engine/validators";
/** The same for the application's voters. */
const VOTERS = "engine/voters";
/** Height (8 bytes) -> the parameters of consensus from this height on; written where they change. */
const PARAMS = "engine/params";

/** Height (8 bytes) -> a block with its votes that came with a snapshot and is still to be executed. */
export const AHEAD_TABLE = "engine/ahead";
/** Height (8 bytes) -> a block of CometBFT that is executed, and whose header and votes are still to come. */
export const EXECUTED_TABLE = "engine/executed";
/**
 * `outside` -> present where CometBFT makes the blocks; `behind` -> present until CometBFT takes part in decisions;
 * `genesis` -> hash of the genesis file that the chain began with; `replay` -> a block that is executed again; `base` ->
 * height of the first block that is kept (8 bytes), where there were others before.
 */
const META = "engine/meta";
export const BLOCK_TABLES: readonly string[] = [
  BLOCKS,
  ...TX_TABLES,
  VALIDATORS,
  VOTERS,
  PARAMS,
  AHEAD_TABLE,
  EXECUTED_TABLE,
  META,
];
const GENESIS = toUtf8("genesis");
const BASE = toUtf8("base");
const OUTSIDE = toUtf8("outside");
const BEHIND = toUtf8("behind");
/** A block that was rolled back and must be executed again. */
const REPLAY = toUtf8("replay");

/** The committed blocks on disk, written by this process or another one. Read-only. */
export class BlockReader {
  readonly #tables: Pick<Database, "table">;

  constructor(tables: Pick<Database, "table">) {
    this.#tables = tables;
  }

  /** The last committed block; undefined before the first. */
  get last(): BlockRecord | undefined {
    const entry = firstEntry(this.#tables.table(BLOCKS), { reverse: true });
    return entry === undefined ? undefined : decodeRecord(entry[1]);
  }

  /** Height of the last committed block; 0 before the first. */
  get height(): bigint {
    return heightOf(firstEntry(this.#tables.table(BLOCKS), { reverse: true }));
  }

  /** Height of the first block kept; 0 if there are no blocks. */
  get base(): bigint {
    const given = this.#tables.table(META).get(BASE);
    return given === undefined ? heightOf(firstEntry(this.#tables.table(BLOCKS))) : bytesToUint64(given);
  }

  record(height: bigint): BlockRecord | undefined {
    return this.#isGone(height) ? undefined : this.#row(height);
  }

  /** The record of the preceding block, for the votes that a block carries; kept for the first block too. */
  recordBefore(height: bigint): BlockRecord | undefined {
    return this.#row(height - 1n);
  }

  /** Whether the block was pruned; its rows may still be there. */
  #isGone(height: bigint): boolean {
    const base = this.#tables.table(META).get(BASE);
    return base !== undefined && height < bytesToUint64(base);
  }

  #row(height: bigint): BlockRecord | undefined {
    if (height < 0n) return undefined;
    const value = this.#tables.table(BLOCKS).get(uint64ToBytes(height));
    return value === undefined ? undefined : decodeRecord(value);
  }

  /** The whole block with exactly the hashed bytes. */
  block(height: bigint): Block | undefined {
    const record = this.record(height);
    if (record === undefined) return undefined;
    const lastCommit = this.recordBefore(height)?.commit ?? NO_COMMIT;
    return { header: record.header, txs: readTxBytes(this.#tables, height), lastCommit };
  }

  /** Transactions of a block with their results, in order. */
  txs(height: bigint): ExecutedTx[] {
    return this.#isGone(height) ? [] : readTxs(this.#tables, height);
  }

  tx(height: bigint, index: number): ExecutedTx | undefined {
    return this.#isGone(height) ? undefined : readTx(this.#tables, height, index);
  }

  /** The block that was rolled back and must be executed again. */
  get replay(): SignedBlock | undefined {
    const value = this.#tables.table(META).get(REPLAY);
    return value === undefined ? undefined : decodeSigned(value);
  }

  /** A block that came with a snapshot and is still to be executed. */
  ahead(height: bigint): SignedBlock | undefined {
    const value = this.#tables.table(AHEAD_TABLE).get(uint64ToBytes(height));
    return value === undefined ? undefined : decodeSigned(value);
  }

  /** Height of the last such block; 0 if there are none. */
  get aheadHeight(): bigint {
    return heightOf(firstEntry(this.#tables.table(AHEAD_TABLE), { reverse: true }));
  }

  /** The writes that remove all blocks that are still to be executed. */
  aheadRemovals(): Write[] {
    return [...this.#tables.table(AHEAD_TABLE).iterate()].map(([key]) => ({ table: AHEAD_TABLE, key, value: null }));
  }

  /** A block with its votes, as it was decided. */
  signed(height: bigint): SignedBlock | undefined {
    const record = this.record(height);
    if (record === undefined) return undefined;
    return { header: record.header, commit: record.commit, txs: readTxBytes(this.#tables, height) };
  }

  /** The writes that remove the last block; the search index has its own. */
  removals(height: bigint): Write[] {
    // The block had set the validators of the block after the next.
    const sets = [VALIDATORS, VOTERS].map((table) => ({ table, key: uint64ToBytes(height + 2n), value: null }));
    const params = { table: PARAMS, key: uint64ToBytes(height + 1n), value: null };
    return [
      { table: BLOCKS, key: uint64ToBytes(height), value: null },
      ...txRemovals(this.#tables, height),
      ...sets,
      params,
    ];
  }

  /** Hash of the genesis file that the first block was made from. */
  get genesisHash(): Uint8Array | undefined {
    return this.#tables.table(META).get(GENESIS);
  }

  /** Whether CometBFT makes the blocks of this chain. */
  get isOutside(): boolean {
    return this.#tables.table(META).has(OUTSIDE);
  }

  /** Whether CometBFT fetches blocks that others decided. */
  get isBehind(): boolean {
    return this.#tables.table(META).has(BEHIND);
  }

  /** The validators that sign the block of a height. */
  validators(height: bigint): Validator[] | undefined {
    return this.#setAt(VALIDATORS, height);
  }

  /** The application's voters on the block of a height. */
  voters(height: bigint): Validator[] | undefined {
    return this.#setAt(VOTERS, height) ?? this.validators(height);
  }

  /** The parameters of consensus of the block of a height; undefined before the first that is known. */
  consensusParams(height: bigint): ConsensusParams | undefined {
    const value = this.#lastUpTo(PARAMS, height);
    return value === undefined ? undefined : consensusParamsOf(fromBinary(ConsensusParamsSchema, value));
  }

  #setAt(table: string, height: bigint): Validator[] | undefined {
    const value = this.#lastUpTo(table, height);
    return value === undefined ? undefined : decodeValidators(value);
  }

  /** The last value written at heights up to this one. */
  #lastUpTo(table: string, height: bigint): Uint8Array | undefined {
    const range = { end: uint64ToBytes(height + 1n), reverse: true };
    return firstEntry(this.#tables.table(table), range)?.[1];
  }
}

/** The blocks for their only writer: the last one is kept in memory. Its writes go into the commit's transaction. */
export class BlockStore extends BlockReader {
  #last: BlockRecord | undefined;
  #base: bigint;

  constructor(tables: Pick<Database, "table">) {
    super(tables);
    this.#last = super.last;
    this.#base = super.base;
  }

  override get last(): BlockRecord | undefined {
    return this.#last;
  }

  override get height(): bigint {
    return this.#last?.header.height ?? 0n;
  }

  override get base(): bigint {
    return this.#base;
  }

  override record(height: bigint): BlockRecord | undefined {
    return height === this.#last?.header.height ? this.#last : super.record(height);
  }

  override recordBefore(height: bigint): BlockRecord | undefined {
    return height - 1n === this.#last?.header.height ? this.#last : super.recordBefore(height);
  }

  /** Informs the store that the writes of a block are on disk, and which block is now the first. */
  committed(executed: ExecutedBlock, base: bigint): void {
    this.#last = recordOf(executed);
    this.#base = base;
  }
}

function heightOf(entry: Entry | undefined): bigint {
  return entry === undefined ? 0n : bytesToUint64(entry[0]);
}

/** The writes that make a block durable, except its transactions. */
export function recordWrite(record: BlockRecord): Write {
  return { table: BLOCKS, key: uint64ToBytes(record.header.height), value: encodeRecord(record) };
}

/** The writes that make a block durable. */
export function blockWrites(executed: ExecutedBlock): Write[] {
  const { header, txs } = executed.block;
  return [recordWrite(recordOf(executed)), ...txWrites(header.height, txs, executed.txResults)];
}

/** Remembers a block that must be executed again; undefined forgets it. */
export function replayWrite(block: SignedBlock | undefined): Write {
  return { table: META, key: REPLAY, value: block === undefined ? null : encodeSigned(block) };
}

/** Remembers a block that is still to be executed; undefined forgets it. */
export function aheadWrite(height: bigint, block: SignedBlock | undefined): Write {
  return { table: AHEAD_TABLE, key: uint64ToBytes(height), value: block === undefined ? null : encodeSigned(block) };
}

/** Records the first block that is kept. */
export function baseWrite(height: bigint): Write {
  return { table: META, key: BASE, value: uint64ToBytes(height) };
}

/** Rows of blocks below a height, besides their transactions, and how to remove each. */
export function* rowsBelow(tables: Pick<Database, "table">, height: bigint): Generator<OldRow> {
  // The block before the first one stays for its votes.
  for (const [key, value] of tables.table(BLOCKS).iterate({ end: uint64ToBytes(height > 0n ? height - 1n : 0n) }))
    yield { table: BLOCKS, key, height: bytesToUint64(key), hash: decodeRecord(value).commit.blockId.hash };
  for (const table of [VALIDATORS, VOTERS, PARAMS]) {
    let before: Uint8Array | undefined;
    for (const [key] of tables.table(table).iterate({ end: uint64ToBytes(height + 1n) })) {
      // The last row still applies at the height.
      if (before !== undefined) yield { table, key: before, height: bytesToUint64(before) };
      before = key;
    }
  }
}

/** A row of a pruned block. */
export interface OldRow {
  readonly table: string;
  readonly key: Uint8Array;
  readonly height: bigint;
  /** Hash of its block. */
  readonly hash?: Uint8Array;
}

/** Remembers that CometBFT makes the blocks of this chain. */
export function outsideWrite(): Write {
  return { table: META, key: OUTSIDE, value: Uint8Array.of(1) };
}

/** Records whether CometBFT fetches blocks that others decided. */
export function behindWrite(isBehind: boolean): Write {
  return { table: META, key: BEHIND, value: isBehind ? Uint8Array.of(1) : null };
}

/** Remembers the genesis file of the chain. */
export function genesisWrite(hash: Uint8Array): Write {
  return { table: META, key: GENESIS, value: hash };
}

/** Sets the validators from a height on. */
export function validatorsWrite(height: bigint, validators: readonly Validator[]): Write {
  return { table: VALIDATORS, key: uint64ToBytes(height), value: encodeValidators(validators) };
}

/** Sets the application's voters from a height on. */
export function votersWrite(height: bigint, voters: readonly Validator[]): Write {
  return { table: VOTERS, key: uint64ToBytes(height), value: encodeValidators(voters) };
}

/** Sets the parameters of consensus from a height on. */
export function paramsWrite(height: bigint, params: ConsensusParams): Write {
  const message = create(ConsensusParamsSchema, consensusParamsFields(params));
  return { table: PARAMS, key: uint64ToBytes(height), value: toBinary(ConsensusParamsSchema, message) };
}
