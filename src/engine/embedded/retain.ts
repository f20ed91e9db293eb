import type { Database, Write } from "../../store/index.ts";
import { append } from "../../util/index.ts";
import { type BlockReader, baseWrite, rowsBelow } from "./blocks/block-store.ts";
import { txRowsBelow } from "./blocks/tx-rows.ts";
import type { TxIndex } from "./index/tx-index.ts";

/** Which blocks a node keeps. */
export interface Retention {
  /** Least number of blocks kept; 0 keeps all. */
  readonly minBlocks: bigint;
  /** How many blocks before the last one a snapshot may be restored from; 0 = there are no snapshots. */
  readonly snapshotBlocks: bigint;
}

export const KEEP_ALL: Retention = { minBlocks: 0n, snapshotBlocks: 0n };

/**
 * Rows of pruned blocks that one block removes: at least twice as many as it adds, so that a chain under load catches
 * up, and this many when it is idle.
 */
export const RETAIN_WORK = { least: 5_000, share: 2 } as const;

/**
 * The first block to keep at a height, computed as in the ecosystem's applications: no block is pruned that
 * evidence may be about, or that follows a snapshot which is kept. 0 = all stay.
 */
export function retainHeight(height: bigint, { minBlocks, snapshotBlocks }: Retention, maxEvidenceAge: bigint): bigint {
  if (minBlocks === 0n) return 0n;
  let lowest = height - minBlocks;
  for (const blocks of [maxEvidenceAge, snapshotBlocks])
    if (blocks > 0n && height - blocks < lowest) lowest = height - blocks;
  return lowest > 0n ? lowest : 0n;
}

export interface OldBlocksParts {
  readonly tables: Pick<Database, "table">;
  readonly blocks: Pick<BlockReader, "base">;
  readonly index: TxIndex;
}

/** Prunes old blocks. They become unavailable at once; their rows are removed as new blocks come. */
export class OldBlocks {
  readonly #parts: OldBlocksParts;

  constructor(parts: OldBlocksParts) {
    this.#parts = parts;
  }

  /** The removals of a block that adds so many rows itself, when the blocks below `lowest` are pruned. */
  writes(lowest: bigint, rows: number): { readonly base: bigint; readonly writes: readonly Write[] } {
    const { tables, blocks, index } = this.#parts;
    const known = blocks.base;
    const base = lowest > known ? lowest : known;
    const writes: Write[] = base > known ? [baseWrite(base)] : [];
    const most = Math.max(RETAIN_WORK.least, rows * RETAIN_WORK.share);
    for (const { height, txs, removals } of txRowsBelow(tables, base)) {
      if (writes.length >= most) return { base, writes };
      for (const tx of txs) {
        const removal = index.txRemoval(tx, height);
        if (removal !== undefined) writes.push(removal);
      }
      append(writes, removals);
    }
    for (const { table, key, hash } of rowsBelow(tables, base)) {
      if (writes.length >= most) return { base, writes };
      writes.push({ table, key, value: null });
      if (hash !== undefined) writes.push(index.blockRemoval(hash));
    }
    for (const write of index.termRemovals(base, most - writes.length)) writes.push(write);
    return { base, writes };
  }
}
