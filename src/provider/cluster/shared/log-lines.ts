import { StringDecoder } from "node:string_decoder";

/** Bytes of a program's line that are delivered; the rest is left out. */
export const MAX_LINE = 1 << 20;
/** Ends a line whose rest was left out. */
export const LINE_CUT = " [line cut]";
/** Bytes of a line that need no allowance. */
const USUAL_LINE = 64 << 10;
/** Total bytes of long lines per request, so that a lease of many replicas does not fill memory. */
const LONG_LINES = 16 << 20;
/** Additional lines to request: an engine counts each piece of a long line, and may begin within one. */
const SPARE_LINES = 64;
/** Bytes of last lines that are kept while the end of a log is looked for; beyond, the log is read twice. */
const KEPT_BYTES = 64 << 10;
const FIRST_BYTES = 256;
const NEWLINE = 0x0a;

/** Memory of one request for lines that are longer than usual. */
export class LineBudget {
  #left = LONG_LINES;

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

/** A line while its pieces come. */
export class OpenLine {
  readonly #budget: LineBudget;
  readonly #most: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #taken = 0;
  #isCut = false;

  /** `most`: bytes that it keeps. */
  constructor(budget: LineBudget, most = MAX_LINE) {
    this.#budget = budget;
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  push(data: Buffer): void {
    if (this.#isCut) return;
    const wanted = Math.min(data.length, this.#most - this.#length);
    const fits = Math.min(wanted, this.#room(this.#length + wanted) - this.#length);
    this.#length += data.copy(this.#bytes, this.#length, 0, fits);
    this.#isCut = fits < data.length;
  }

  /** The line with its last piece. Its memory counts until `release`, which forgets an open line too. */
  end(last: Buffer): string {
    if (this.#length === 0 && last.length <= this.#most) return last.toString("utf8");
    this.push(last);
    const line = this.#bytes.subarray(0, this.#length);
    const text = this.#isCut ? new StringDecoder("utf8").write(line) + LINE_CUT : line.toString("utf8");
    this.#length = 0;
    this.#isCut = false;
    return text;
  }

  release(): void {
    this.#budget.give(this.#taken);
    this.#taken = 0;
    if (this.#bytes.length > USUAL_LINE) this.#bytes = Buffer.alloc(0);
  }

  /** Bytes that it can hold, made up to `bytes` where the budget has them. */
  #room(bytes: number): number {
    const before = this.#bytes;
    if (bytes <= before.length) return before.length;
    const doubled = Math.min(this.#most, Math.max(FIRST_BYTES, bytes, 2 * before.length));
    this.#bytes = Buffer.alloc(this.#allowed(doubled));
    before.copy(this.#bytes, 0, 0, this.#length);
    return this.#bytes.length;
  }

  #allowed(bytes: number): number {
    const more = Math.max(0, bytes - USUAL_LINE - this.#taken);
    if (!this.#budget.take(more)) return Math.max(USUAL_LINE, this.#bytes.length);
    this.#taken += more;
    return bytes;
  }
}

export interface LinesOptions {
  readonly budget: LineBudget;
  /** Maximum bytes of one line. */
  readonly most: number;
  /** Whether the log may go on: a last line without its end is left out. */
  readonly isOpen: boolean;
}

/** The lines of a stream of bytes as the reader takes them. */
export async function* linesOf(
  stream: AsyncIterable<Buffer>,
  { budget, most, isOpen }: LinesOptions,
): AsyncGenerator<string, undefined> {
  const open = new OpenLine(budget, most);
  for await (const data of stream) {
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      yield open.end(data.subarray(start, end));
      open.release();
      start = end + 1;
    }
    if (start < data.length) open.push(data.subarray(start));
  }
  if (!open.isEmpty && !isOpen) yield open.end(Buffer.alloc(0));
}

interface LastLines<L> {
  readonly count: number;
  /** Lines of the log; all for `tail` -1, else the last `tail` records, which may begin within a line. */
  readonly read: (tail: number) => AsyncIterable<L>;
  readonly textOf: (line: L) => string;
  /** Whether the last records can be read without all others. */
  readonly hasTail: boolean;
}

/** The last `count` whole lines of a log. Few bytes of it are in memory, however long its lines are. */
export async function* lastLines<L>(last: LastLines<L>): AsyncGenerator<L, undefined> {
  const { count, read, textOf, hasTail } = last;
  for (const tail of hasTail ? [count + SPARE_LINES, -1] : [-1]) {
    const end = new LogEnd<L>(count, textOf);
    for await (const line of read(tail)) end.add(line);
    // A log with fewer lines is read as a whole: its long lines may have taken the place of others.
    if (tail >= 0 && end.total <= count) continue;
    if (end.lines !== undefined) yield* end.lines;
    else yield* without(end.total - count, read(tail));
    return;
  }
}

async function* without<L>(count: number, lines: AsyncIterable<L>): AsyncGenerator<L, undefined> {
  let left = count;
  for await (const line of lines) if (left-- <= 0) yield line;
}

/** Counts the lines of a log, and keeps the last ones while they are short. */
class LogEnd<L> {
  readonly #count: number;
  readonly #textOf: (line: L) => string;
  #kept: L[] = [];
  #from = 0;
  #size = 0;
  #isLong = false;
  total = 0;

  constructor(count: number, textOf: (line: L) => string) {
    this.#count = count;
    this.#textOf = textOf;
  }

  /** Undefined where they are too long to be kept. */
  get lines(): L[] | undefined {
    return this.#isLong ? undefined : this.#kept.slice(this.#from);
  }

  add(line: L): void {
    this.total++;
    if (this.#isLong || this.#count === 0) return;
    this.#kept.push(line);
    this.#size += this.#textOf(line).length;
    if (this.#kept.length - this.#from > this.#count) this.#drop();
    if (this.#size <= KEPT_BYTES) return;
    this.#isLong = true;
    this.#kept = [];
  }

  /** The array is cut seldom, so that a long log costs no copy per line. */
  #drop(): void {
    const gone = this.#kept[this.#from++];
    if (gone !== undefined) this.#size -= this.#textOf(gone).length;
    if (this.#from < 1_000 + this.#count) return;
    this.#kept = this.#kept.slice(this.#from);
    this.#from = 0;
  }
}
