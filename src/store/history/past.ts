import { type Database, stateTable } from "../database/database.ts";
import type { Entry, KVReader, Range } from "../kv.ts";
import { prefixEnd } from "../kv.ts";
import type { MultiReader } from "../layers/multi-store.ts";
import { type Epoch, HISTORY_TABLE, type HistoryRange, readRange } from "./epochs.ts";
import { keyPrefix, readPlacedKey, tablePrefix } from "./keys.ts";

type Tables = Pick<Database, "table">;

/** Entries of one key to step over before seeking the next key. */
const STEPS = 16;

/** The tables at an earlier height: the last height's tables with the old values of later changes. */
export interface PastTables extends Tables, MultiReader {}

/**
 * The tables at a height below the last commit; undefined if it is not kept. Changes are stored in the order of keys,
 * so a read costs a look-up for each epoch since.
 */
export function pastTables(tables: Tables, height: bigint): PastTables | undefined {
  const range = readRange(tables);
  if (range === undefined || height < range.base) return undefined;
  const values = tables.table(HISTORY_TABLE);
  const epochs = epochsAfter(range, height);
  const table = (name: string): KVReader => new PastTable(tables.table(name), { name, values, epochs, height });
  return { table, store: (name) => table(stateTable(name)) };
}

/** The lowest height that can be read; undefined where none but the last can. */
export function lowestHeight(tables: Tables): bigint | undefined {
  return readRange(tables)?.base;
}

/** Epochs with old values of blocks above a height. */
export function epochsAfter({ epochs }: HistoryRange, height: bigint): readonly Epoch[] {
  return epochs.filter((_, i) => {
    const next = epochs[i + 1];
    return next === undefined || next.first > height + 1n;
  });
}

interface PastParts {
  readonly name: string;
  readonly values: KVReader;
  /** From old to new. */
  readonly epochs: readonly Epoch[];
  readonly height: bigint;
}

class PastTable implements KVReader {
  readonly #flat: KVReader;
  readonly #epochs: readonly PastEpoch[];

  constructor(flat: KVReader, { name, values, epochs, height }: PastParts) {
    this.#flat = flat;
    this.#epochs = epochs.map(
      (epoch) => new PastEpoch(values, tablePrefix(epoch.number, name), placeAfter(epoch, height)),
    );
  }

  get(key: Uint8Array): Uint8Array | undefined {
    for (const epoch of this.#epochs) {
      const old = epoch.get(key);
      if (old !== undefined) return old.length === 0 ? undefined : old;
    }
    return this.#flat.get(key);
  }

  has(key: Uint8Array): boolean {
    return this.get(key) !== undefined;
  }

  *iterate(range: Range = {}): IterableIterator<Entry> {
    const walks = [...this.#epochs.map((epoch) => new Walk(epoch.iterate(range))), new Walk(this.#flat.iterate(range))];
    try {
      yield* merged(walks, range.reverse === true ? -1 : 1);
    } finally {
      for (const walk of walks) walk.close();
    }
  }
}

/** The first place in an epoch whose old values a height has. */
function placeAfter({ first }: Epoch, height: bigint): number {
  return height < first ? 0 : Number(height + 1n - first);
}

/** The first walk that knows a key has its value; an empty value says that the key was missing. */
function* merged(walks: readonly Walk[], direction: 1 | -1): Generator<Entry> {
  for (;;) {
    let best: Walk | undefined;
    for (const walk of walks) {
      if (walk.key === undefined) continue;
      if (best?.key === undefined || Buffer.compare(walk.key, best.key) * direction < 0) best = walk;
    }
    if (best?.key === undefined) return;
    const { key, value } = best;
    for (const walk of walks) if (walk.key !== undefined && Buffer.compare(walk.key, key) === 0) walk.next();
    if (value.length > 0) yield [key, value];
  }
}

/** An iterator with its current entry. */
class Walk {
  key: Uint8Array | undefined;
  value: Uint8Array = new Uint8Array(0);
  readonly #entries: Iterator<Entry>;

  constructor(entries: Iterator<Entry>) {
    this.#entries = entries;
    this.next();
  }

  next(): void {
    const step = this.#entries.next();
    this.key = step.done === true ? undefined : step.value[0];
    if (step.done !== true) this.value = step.value[1];
  }

  close(): void {
    this.#entries.return?.();
  }
}

/**
 * Previous values of a table in one epoch: for each key, the value before its first change at or after the given
 * position.
 */
class PastEpoch {
  readonly #values: KVReader;
  readonly #prefix: Buffer;
  readonly #from: number;

  constructor(values: KVReader, prefix: Buffer, from: number) {
    this.#values = values;
    this.#prefix = prefix;
    this.#from = from;
  }

  /** Empty when the key was not there, undefined when it did not change. */
  get(key: Uint8Array): Uint8Array | undefined {
    const own = keyPrefix(this.#prefix, key);
    const place = Buffer.alloc(4);
    place.writeUInt32BE(this.#from);
    for (const [, value] of this.#values.iterate({ start: Buffer.concat([own, place]), end: prefixEnd(own) }))
      return value;
    return undefined;
  }

  iterate({ start, end, reverse = false }: Range): IterableIterator<Entry> {
    const from = start === undefined ? this.#prefix : keyPrefix(this.#prefix, start);
    const to = end === undefined || end.length === 0 ? prefixEnd(this.#prefix) : keyPrefix(this.#prefix, end);
    return reverse ? this.#backward(from, to) : this.#forward(from, to);
  }

  *#forward(start: Uint8Array, end: Uint8Array | undefined): Generator<Entry> {
    let from: Uint8Array | undefined = start;
    while (from !== undefined) {
      const begun: Uint8Array = from;
      from = undefined;
      let own: Uint8Array | undefined;
      let isTold = false;
      let steps = 0;
      for (const [stored, value] of this.#values.iterate({ start: begun, end })) {
        const { key, place } = readPlacedKey(stored, this.#prefix.length);
        if (own === undefined || Buffer.compare(key, own) !== 0) {
          own = key;
          isTold = false;
          steps = 0;
        }
        steps += 1;
        if (!isTold && place >= this.#from) {
          isTold = true;
          yield [key, value];
        }
        if (steps < STEPS) continue;
        from = this.#seek(key, isTold);
        break;
      }
    }
  }

  /** Where to continue with a key that changed often: at its first change since, or after all its changes. */
  #seek(key: Uint8Array, isTold: boolean): Uint8Array | undefined {
    const own = keyPrefix(this.#prefix, key);
    if (isTold) return prefixEnd(own);
    const place = Buffer.alloc(4);
    place.writeUInt32BE(this.#from);
    return Buffer.concat([own, place]);
  }

  *#backward(start: Uint8Array, end: Uint8Array | undefined): Generator<Entry> {
    let to = end;
    for (;;) {
      let last: Uint8Array | undefined;
      for (const [stored] of this.#values.iterate({ start, end: to, reverse: true })) {
        last = readPlacedKey(stored, this.#prefix.length).key;
        break;
      }
      if (last === undefined) return;
      const value = this.get(last);
      if (value !== undefined) yield [last, value];
      to = keyPrefix(this.#prefix, last);
    }
  }
}
