import type { Database, Write } from "../database/database.ts";
import { prefixRange } from "../kv.ts";
import {
  baseWrite,
  type Epoch,
  epochRemoval,
  epochWrite,
  HISTORY_TABLE,
  type HistoryRange,
  readRange,
} from "./epochs.ts";
import { entryKey, epochPrefix, readEntryKey, tablePrefix } from "./keys.ts";
import { epochsAfter } from "./past.ts";
import { lowestKept, type Pruning } from "./pruning.ts";

/** An epoch ends with the block that brings it to this size: at most as much stays behind pruned heights. */
const EPOCH_BYTES = 12n * 1024n * 1024n;
/**
 * Pruned entries that one block deletes: at least twice as many as it adds, so that a chain under load catches up, and
 * this many when it is idle.
 */
export const PRUNED_PER_BLOCK = { least: 20_000, share: 2 } as const;

const NOTHING = new Uint8Array(0);

/** The value of a key before a block changed it; undefined if there was none. */
export interface OldValue {
  readonly table: string;
  readonly key: Uint8Array;
  readonly old: Uint8Array | undefined;
}

/** Writes of a block about history; `done` is to be called when they are on disk. */
export interface HistoryWrites {
  readonly writes: readonly Write[];
  done(): void;
}

/** Keeps the old values of blocks' changes, and deletes the values of pruned heights. */
export class HistoryWriter {
  readonly #database: Pick<Database, "table">;
  readonly #pruning: Pruning;
  #range: HistoryRange;
  #isBaseStored: boolean;
  /** Heights held by readers, with the number of readers. */
  readonly #held = new Map<bigint, number>();

  /** `height` is the height of the last commit. */
  constructor(database: Pick<Database, "table">, pruning: Pruning, height: bigint) {
    this.#database = database;
    this.#pruning = pruning;
    const stored = readRange(database);
    this.#isBaseStored = stored !== undefined;
    this.#range = stored ?? { base: height, epochs: [] };
  }

  /** The lowest height that can be read. */
  get base(): bigint {
    return this.#range.base;
  }

  /** Gives no height up from this one on until the function that it answers is called. */
  hold(height: bigint): () => void {
    this.#held.set(height, (this.#held.get(height) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#held.get(height) ?? 1) - 1;
      if (left === 0) this.#held.delete(height);
      else this.#held.set(height, left);
    };
  }

  /** Nothing comes before the first commit. */
  begin(height: bigint): HistoryWrites {
    return this.#settled([baseWrite(height)], { base: height, epochs: [] });
  }

  record(height: bigint, changes: Iterable<OldValue>): HistoryWrites {
    const writes: Write[] = [];
    const epoch = this.#epochFor(height);
    const place = Number(height - epoch.first);
    const prefixes = new Map<string, Buffer>();
    let bytes = 0;
    for (const { table, key, old = NOTHING } of changes) {
      const prefix = prefixes.get(table) ?? tablePrefix(epoch.number, table);
      prefixes.set(table, prefix);
      const entry = entryKey(prefix, key, place);
      writes.push({ table: HISTORY_TABLE, key: entry, value: old });
      bytes += entry.length + old.length;
    }
    const grown = { ...epoch, bytes: epoch.bytes + BigInt(bytes) };
    writes.push(epochWrite(grown));
    const others = this.#range.epochs.filter(({ number }) => number !== epoch.number);
    return this.#pruned(height, writes, [...others, grown]);
  }

  /**
   * Old values of the blocks above a height, from the newest block to the oldest. Yields whole blocks with at most this
   * many entries in total; stops at an epoch with a block that is too large to read.
   */
  *back(
    height: bigint,
    last: bigint,
    most: number,
  ): Generator<{ readonly height: bigint; readonly old: readonly OldValue[] }> {
    let left = most;
    let top = last;
    for (const epoch of [...epochsAfter(this.#range, height)].reverse()) {
      if (epoch.bytes > 2n * EPOCH_BYTES) return;
      const blocks = this.#blocksOf(epoch, height);
      for (let at = top; at >= epoch.first && at > height; at--) {
        const old = blocks.get(at) ?? [];
        left -= old.length;
        if (left < 0) return;
        yield { height: at, old };
      }
      top = epoch.first - 1n;
    }
  }

  /** Writes that delete the entries of the last block. */
  undo(height: bigint): { readonly writes: readonly Write[]; readonly old: readonly OldValue[] } | undefined {
    const epoch = this.#range.epochs.at(-1);
    if (epoch === undefined || this.#range.base > height - 1n) return undefined;
    const old = this.#blocksOf(epoch, height - 1n).get(height) ?? [];
    const place = Number(height - epoch.first);
    const writes: Write[] = old.map(({ table, key }) => ({
      table: HISTORY_TABLE,
      key: entryKey(tablePrefix(epoch.number, table), key, place),
      value: null,
    }));
    if (epoch.first === height) writes.push(epochRemoval(epoch));
    return { writes, old };
  }

  #blocksOf(epoch: Epoch, height: bigint): Map<bigint, OldValue[]> {
    const blocks = new Map<bigint, OldValue[]>();
    for (const [stored, value] of this.#database.table(HISTORY_TABLE).iterate(prefixRange(epochPrefix(epoch.number)))) {
      const { table, key, place } = readEntryKey(stored);
      const at = epoch.first + BigInt(place);
      if (at <= height) continue;
      const old = { table, key, old: value.length === 0 ? undefined : value };
      const known = blocks.get(at);
      if (known === undefined) blocks.set(at, [old]);
      else known.push(old);
    }
    return blocks;
  }

  #epochFor(height: bigint): Epoch {
    const newest = this.#range.epochs.at(-1);
    if (newest !== undefined && newest.bytes < EPOCH_BYTES && height - newest.first < 0xffff_ffffn) return newest;
    return { number: newest === undefined ? 0 : newest.number + 1, first: height, bytes: 0n };
  }

  /** Pruned heights become unavailable at once; their entries are deleted as blocks come. */
  #pruned(height: bigint, writes: Write[], epochs: readonly Epoch[]): HistoryWrites {
    const lowest = height % this.#pruning.interval === 0n ? this.#lowestWanted(height) : 0n;
    const base = lowest > this.#range.base ? lowest : this.#range.base;
    if (base !== this.#range.base || !this.#isBaseStored) writes.push(baseWrite(base));
    const [oldest, next] = epochs;
    if (oldest === undefined || next === undefined || next.first > base + 1n)
      return this.#settled(writes, { base, epochs });
    const isEmpty = this.#remove(oldest, writes);
    if (isEmpty) writes.push(epochRemoval(oldest));
    return this.#settled(writes, { base, epochs: isEmpty ? epochs.slice(1) : epochs });
  }

  #lowestWanted(height: bigint): bigint {
    let lowest = lowestKept(this.#pruning, height);
    for (const held of this.#held.keys()) if (held < lowest) lowest = held;
    return lowest;
  }

  /** Whether nothing of it is left. */
  #remove(epoch: Epoch, writes: Write[]): boolean {
    let left = Math.max(PRUNED_PER_BLOCK.least, writes.length * PRUNED_PER_BLOCK.share);
    for (const [key] of this.#database.table(HISTORY_TABLE).iterate(prefixRange(epochPrefix(epoch.number)))) {
      if (left === 0) return false;
      writes.push({ table: HISTORY_TABLE, key, value: null });
      left -= 1;
    }
    return true;
  }

  #settled(writes: readonly Write[], range: HistoryRange): HistoryWrites {
    return {
      writes,
      done: () => {
        this.#range = range;
        this.#isBaseStored = true;
      },
    };
  }
}
