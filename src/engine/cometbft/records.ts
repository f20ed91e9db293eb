import type { FinalizeBlock, FinalizeBlockResult, RestoredState, ValidatorUpdate } from "../../abci/index.ts";
import type { Database, Write } from "../../store/index.ts";
import { append, compareBytes, equalBytes, uint64ToBytes } from "../../util/index.ts";
import { type BlockRecord, decodeRecord, encodeRecord } from "../embedded/blocks/block-records.ts";
import {
  type BlockStore,
  baseWrite,
  behindWrite,
  EXECUTED_TABLE,
  genesisWrite,
  outsideWrite,
  paramsWrite,
  recordWrite,
} from "../embedded/blocks/block-store.ts";
import { encodeBlock } from "../embedded/blocks/codec.ts";
import { commitHash, headerHash, txHash, validatorsHash } from "../embedded/blocks/hashes.ts";
import { txWrites } from "../embedded/blocks/tx-rows.ts";
import { type Commit, type Header, NO_BLOCK_ID, NO_COMMIT, type Validator } from "../embedded/blocks/types.ts";
import { applyUpdates, setWrites, validatorOf } from "../embedded/blocks/validator-sets.ts";
import type { CommittedBlock } from "../embedded/events.ts";
import type { TxIndex } from "../embedded/index/tx-index.ts";
import { OldBlocks, type Retention, retainHeight } from "../embedded/retain.ts";
import { type Genesis, genesisHash } from "../genesis.ts";
import type { BlockRecorder, DecidedBlock } from "./abci/calls.ts";
import type { SignedHeader } from "./rpc.ts";

export interface RecordsParts {
  readonly database: Database;
  readonly blocks: BlockStore;
  readonly index: TxIndex;
  readonly genesis: Genesis;
  readonly retention: Retention;
  /** Called after every commit of the application. */
  readonly onCommit: () => void;
}

export interface Completion extends SignedHeader {
  /** The votes that the block carries, if others were written with the block before. */
  readonly before: Commit | undefined;
  /** Voters on the block, if they do not follow from earlier ones. */
  readonly voters: readonly Validator[] | undefined;
  /** Bytes of the block, if they do not follow from its header, transactions and votes. */
  readonly size: number | undefined;
}

/** Transactions of a block with their results and hashes. */
type ExecutedTxs = Pick<CommittedBlock, "txResults" | "txHashes"> & Pick<CommittedBlock["block"], "txs">;

const EMPTY = new Uint8Array(0);

/**
 * Records of an engine's blocks in the tables of the embedded engine. Results, transactions and index are written with the
 * state. Header and votes are known to the engine alone: they follow when it tells them, and make the block visible.
 */
export class Records implements BlockRecorder {
  readonly #parts: Omit<RecordsParts, "genesis">;
  readonly #genesis: Pick<Genesis, "chainId" | "consensusParams">;
  readonly #genesisHash: Uint8Array;
  readonly #oldBlocks: OldBlocks;
  /** Voters of the chain's first block, until it is written. */
  #first: readonly Validator[] | undefined;
  /** The last executed block, until it is complete. */
  #executed: (ExecutedTxs & { readonly height: bigint }) | undefined;

  constructor({ genesis, ...parts }: RecordsParts) {
    const { chainId, consensusParams } = genesis;
    this.#parts = parts;
    this.#genesis = { chainId, consensusParams };
    this.#genesisHash = genesisHash(genesis);
    const { blocks, index, database } = parts;
    this.#oldBlocks = new OldBlocks({ tables: database, blocks, index });
  }

  get isEmpty(): boolean {
    return this.#parts.blocks.height === 0n && this.pending === undefined;
  }

  restored({ height, params }: RestoredState): Write[] {
    return [outsideWrite(), genesisWrite(this.#genesisHash), paramsWrite(height + 1n, params)];
  }

  begun(validators: readonly ValidatorUpdate[]): void {
    this.#first = inOrder(validators.map(validatorOf));
  }

  /** Counts the node as behind until its engine takes part in a decision. */
  starting(): void {
    this.#parts.database.write([behindWrite(true)]);
  }

  writes(block: DecidedBlock, result: FinalizeBlockResult): Write[] {
    const { blocks, index } = this.#parts;
    const { height, txs } = block;
    const record = unsigned(block, result, this.#genesis.chainId);
    const { consensusParamUpdates: params, validatorUpdates: updates } = result;
    const writes: Write[] = [{ table: EXECUTED_TABLE, key: uint64ToBytes(height), value: encodeRecord(record) }];
    const executed = {
      ...result,
      block: { header: record.header, txs, lastCommit: NO_COMMIT },
      commit: record.commit,
      size: 0,
    };
    const txHashes = txs.map(txHash);
    this.#executed = { height, txs, txResults: result.txResults, txHashes };
    append(writes, txWrites(height, txs, result.txResults));
    append(writes, index.writes(executed, txHashes));
    if (this.#first !== undefined) append(writes, this.#beginning(height, this.#first));
    if (block.isProposed && blocks.isBehind) writes.push(behindWrite(false));
    if (params !== undefined) writes.push(paramsWrite(height + 1n, params));
    const voters = blocks.validators(height + 1n) ?? this.#first;
    // Behind a snapshot, the engine tells them when it completes the block.
    if (updates.length > 0 && voters !== undefined) {
      const next = inOrder(applyUpdates({ voters, signers: [] }, updates).voters);
      append(writes, setWrites(height + 2n, { voters: next, signers: next }));
    }
    append(writes, this.#oldBlocks.writes(this.#kept(height), writes.length).writes);
    return writes;
  }

  committed({ height }: FinalizeBlock): bigint {
    this.#first = undefined;
    this.#parts.onCommit();
    return this.#kept(height);
  }

  /** The first executed block whose header is not known yet. */
  get pending(): BlockRecord | undefined {
    for (const [, value] of this.#parts.database.table(EXECUTED_TABLE).iterate()) return decodeRecord(value);
    return undefined;
  }

  /**
   * Whether this block carries other votes on the block before: more came after that was decided, or it is not here
   * because a snapshot came instead of it.
   */
  needsVotesBefore({ header }: SignedHeader): boolean {
    const { commit } = this.#parts.blocks.record(header.height - 1n) ?? { commit: NO_COMMIT };
    return !equalBytes(commitHash(commit), header.lastCommitHash);
  }

  /** Whether the voters on this block are not the ones that follow from earlier blocks. */
  needsVoters({ header: { height, validatorsHash: hash } }: SignedHeader): boolean {
    const { blocks } = this.#parts;
    const before = blocks.record(height - 1n)?.header.validatorsHash;
    if (before !== undefined && equalBytes(before, hash)) return false;
    return !equalBytes(validatorsHash(blocks.validators(height) ?? []), hash);
  }

  /** Adds header and votes to an executed block. */
  complete(executed: BlockRecord, { header, commit, before, voters, size }: Completion): CommittedBlock {
    const { database, blocks } = this.#parts;
    const { height } = header;
    if (!equalBytes(headerHash(header), executed.commit.blockId.hash))
      throw new Error(`the engine has another block ${height} than the one that was executed`);
    const { txs, txResults, txHashes } = this.#executedTxs(height);
    const last = blocks.record(height - 1n);
    const lastCommit = before ?? last?.commit ?? NO_COMMIT;
    const block = { header, txs, lastCommit };
    const record = { ...executed, header, commit, size: size ?? encodeBlock(block).length };
    database.write([
      ...(before === undefined ? [] : votesWrites(header, before, last)),
      ...(voters === undefined ? [] : setWrites(height, { voters, signers: voters })),
      recordWrite(record),
      { table: EXECUTED_TABLE, key: uint64ToBytes(height), value: null },
    ]);
    const { txCount: _, ...facts } = record;
    const committed = { ...facts, block, txResults, txHashes };
    const base = blocks.base;
    blocks.committed(committed, base === 0n ? height : base);
    return committed;
  }

  /** Transactions of an executed block; after a restart, or of an earlier block, from the tables. */
  #executedTxs(height: bigint): ExecutedTxs {
    const executed = this.#executed;
    if (executed?.height === height) {
      this.#executed = undefined;
      return executed;
    }
    const rows = this.#parts.blocks.txs(height);
    const txs = rows.map(({ tx }) => tx);
    return { txs, txResults: rows.map(({ result }) => result), txHashes: txs.map(txHash) };
  }

  #beginning(height: bigint, voters: readonly Validator[]): Write[] {
    const sets = { voters, signers: voters };
    const params = paramsWrite(height, this.#genesis.consensusParams);
    return [outsideWrite(), genesisWrite(this.#genesisHash), params, ...setWrites(height, sets)];
  }

  /** The first block to keep after a block; 0 = all. Blocks that are not complete yet stay. */
  #kept(height: bigint): bigint {
    const { blocks, retention } = this.#parts;
    const { evidence } = blocks.consensusParams(height + 1n) ?? this.#genesis.consensusParams;
    const lowest = retainHeight(height, retention, evidence.maxAgeNumBlocks);
    return lowest > blocks.height ? blocks.height : lowest;
  }
}

/** The votes that a block carries, beside the block before; of a block that is not here, nothing but the votes. */
function votesWrites(header: Header, commit: Commit, last: BlockRecord | undefined): Write[] {
  if (last !== undefined) return [recordWrite({ ...last, commit })];
  const { height, appHash } = header;
  const nothing = { size: 0, txCount: 0, events: [], validatorUpdates: [], consensusParamUpdates: undefined, appHash };
  return [recordWrite({ header: { ...header, height: height - 1n }, commit, ...nothing }), baseWrite(height)];
}

/** An executed block as far as the application knows it. */
function unsigned(block: FinalizeBlock, result: FinalizeBlockResult, chainId: string): BlockRecord {
  const { height, time, hash, proposer, nextValidatorsHash, txs } = block;
  const { events, validatorUpdates, consensusParamUpdates, appHash } = result;
  const hashes = { lastCommitHash: EMPTY, dataHash: EMPTY, validatorsHash: EMPTY, consensusHash: EMPTY };
  return {
    header: {
      ...{ chainId, height, time, nextValidatorsHash, proposerAddress: proposer, lastBlockId: NO_BLOCK_ID, ...hashes },
      ...{ appHash: EMPTY, lastResultsHash: EMPTY, evidenceHash: EMPTY },
    },
    commit: { height, round: 0, blockId: { hash, parts: NO_BLOCK_ID.parts }, signatures: [] },
    size: 0,
    txCount: txs.length,
    ...{ events, validatorUpdates, consensusParamUpdates, appHash },
  };
}

/** The engine's order of a set: by power, then by address. */
function inOrder(validators: readonly Validator[]): Validator[] {
  return [...validators].sort((a, b) => {
    if (a.power !== b.power) return a.power > b.power ? -1 : 1;
    return compareBytes(a.address, b.address);
  });
}
