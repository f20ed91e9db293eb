import type { ValueCodec } from "../../../store/index.ts";
import { assert, type IntCoin } from "../../../util/index.ts";
import { evenlyVested, type VestingKind, type VestingPeriod, type VestingSchedule } from "./schedule.ts";

/** The first byte of a stored schedule is the place of its kind here: these numbers never change. */
const KINDS: readonly VestingKind[] = ["continuous", "delayed", "periodic", "permanent"];

/** Seconds up to the year 9999, in six bytes. */
const TIME = 6;
const COUNT = 2;
/** Kind, start, end, how many periods and how many denominations. */
const HEAD = 1 + 2 * TIME + 2 * COUNT;

/**
 * A schedule as it is stored. Every fee of its account asks what is locked, so the answer touches few of its bytes: the ends
 * of the periods in a row, and for each denomination what has vested with each of its periods, from the first on.
 * Both are searched by halves.
 *
 *     kind 1 | start 6 | end 6 | periods 2 | denominations 2 | end of each period 6
 *     length 1 | denomination | width 1 | locked at first, width | rows 2 | (period 2 | free with it, width) a row
 */
export class StoredSchedule implements VestingSchedule {
  readonly kind: VestingKind;
  readonly start: bigint;
  readonly end: bigint;
  readonly bytes: Uint8Array;
  readonly #cells: Cells;
  readonly #periods: number;
  readonly #denoms: number;

  constructor(bytes: Uint8Array, cells = new Cells(bytes)) {
    this.bytes = bytes;
    this.#cells = cells;
    const kind = KINDS[cells.number(0, 1)];
    assert(kind !== undefined, "a stored schedule has a known kind");
    this.kind = kind;
    this.start = BigInt(cells.number(1, TIME));
    this.end = BigInt(cells.number(1 + TIME, TIME));
    this.#periods = cells.number(1 + 2 * TIME, COUNT);
    this.#denoms = cells.number(1 + 2 * TIME + COUNT, COUNT);
  }

  static of(schedule: VestingSchedule): StoredSchedule {
    return new StoredSchedule(encodeSchedule(schedule));
  }

  get original(): IntCoin[] {
    return [...this.#columns()].map(({ denom, original }) => ({ denom, amount: original() }));
  }

  get periods(): VestingPeriod[] {
    const amounts = Array.from({ length: this.#periods }, (): IntCoin[] => []);
    for (const { denom, rows, row } of this.#columns()) {
      let before = 0n;
      for (let i = 0; i < rows; i++) {
        const free = row(i).free();
        amounts[row(i).period]?.push({ denom, amount: free - before });
        before = free;
      }
    }
    return amounts.map((amount, i) => ({ length: BigInt(this.#endOf(i) - this.#endOf(i - 1)), amount }));
  }

  /** Amounts of these denominations that the schedule locks at a second, delegated or not. */
  lockedAt(now: bigint, wanted: (denom: string) => boolean): IntCoin[] {
    const ended = this.kind === "periodic" ? firstOf(this.#periods, (i) => this.#endOf(i) > now) : 0;
    const locked: IntCoin[] = [];
    for (const column of this.#columns()) {
      if (!wanted(column.denom)) continue;
      const amount = column.original() - this.#vested(column, now, ended);
      if (amount > 0n) locked.push({ denom: column.denom, amount });
    }
    return locked;
  }

  #vested({ original, rows, row }: Column, now: bigint, ended: number): bigint {
    const { kind, start, end } = this;
    if (kind === "permanent") return 0n;
    if (now >= end) return original();
    if (kind === "delayed" || now <= start) return 0n;
    if (kind === "continuous") return evenlyVested(original(), { start, end }, now);
    const free = firstOf(rows, (i) => row(i).period >= ended);
    return free === 0 ? 0n : row(free - 1).free();
  }

  #endOf(period: number): number {
    return period < 0 ? Number(this.start) : this.#cells.number(HEAD + TIME * period, TIME);
  }

  *#columns(): Iterable<Column> {
    const cells = this.#cells;
    let at = HEAD + TIME * this.#periods;
    for (let left = this.#denoms; left > 0; left--) {
      const length = cells.number(at, 1);
      const widthAt = at + 1 + length;
      const width = cells.number(widthAt, 1);
      const countAt = widthAt + 1 + width;
      const rows = cells.number(countAt, COUNT);
      const size = COUNT + width;
      yield {
        denom: cells.text(at + 1, length),
        original: () => cells.integer(widthAt + 1, width),
        rows,
        row: (i) => {
          const rowAt = countAt + COUNT + size * i;
          return { period: cells.number(rowAt, COUNT), free: () => cells.integer(rowAt + COUNT, width) };
        },
      };
      at = countAt + COUNT + size * rows;
    }
  }
}

/** The stored part of one denomination. */
interface Column {
  readonly denom: string;
  readonly original: () => bigint;
  /** How many periods free coins of it. */
  readonly rows: number;
  /** Such a period, and how much has vested at its end. */
  readonly row: (i: number) => { readonly period: number; readonly free: () => bigint };
}

export const storedSchedule: ValueCodec<StoredSchedule> = {
  encode: ({ bytes }) => bytes,
  decode: (bytes) => new StoredSchedule(bytes),
};

function encodeSchedule({ kind, original, start, end, periods }: VestingSchedule): Uint8Array {
  let at = start;
  const ends = periods.map(({ length }) => {
    at += length;
    return number(Number(at), TIME);
  });
  return Buffer.concat([
    number(KINDS.indexOf(kind), 1),
    ...[Number(start), Number(end)].map((time) => number(time, TIME)),
    ...[periods.length, original.length].map((count) => number(count, COUNT)),
    ...ends,
    ...original.flatMap((coin) => column(coin, periods)),
  ]);
}

function column({ denom, amount: original }: IntCoin, periods: readonly VestingPeriod[]): Uint8Array[] {
  const width = Math.ceil(original.toString(16).length / 2);
  let free = 0n;
  const rows = periods.flatMap(({ amount }, i) => {
    const own = amount.filter((coin) => coin.denom === denom);
    if (own.length === 0) return [];
    for (const coin of own) free += coin.amount;
    return [Buffer.concat([number(i, COUNT), integer(free, width)])];
  });
  const name = Buffer.from(denom, "latin1");
  return [
    number(name.length, 1),
    name,
    number(width, 1),
    integer(original, width),
    number(rows.length, COUNT),
    ...rows,
  ];
}

function number(value: number, width: number): Buffer {
  const out = Buffer.alloc(width);
  out.writeUIntBE(value, 0, width);
  return out;
}

function integer(value: bigint, width: number): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * width, "0"), "hex");
}

/** The first of so many places from which on a condition holds, or their number if it never does. */
function firstOf(count: number, holds: (i: number) => boolean): number {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Reads numbers and texts at fixed places of a stored record, without decoding the rest. */
export class Cells {
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** An unsigned number of one to six bytes. */
  number(at: number, width: number): number {
    return this.#bytes.readUIntBE(at, width);
  }

  /** An unsigned number of any width. */
  integer(at: number, width: number): bigint {
    return BigInt(`0x${this.#bytes.toString("hex", at, at + width)}`);
  }

  text(at: number, length: number): string {
    return this.#bytes.toString("latin1", at, at + length);
  }
}
