import { smallest } from "../../../../util/index.ts";
import { LineBudget, OpenLine } from "../../shared/index.ts";
import type { EngineApi, LogQuery } from "./api.ts";
import { type Frame, FrameReader } from "./frames.ts";

/** A line of a program. Times are the engine's, in seconds since the epoch. */
export interface TimedLine {
  /** When its first piece was written. */
  readonly time: number;
  /** When its last piece was written. */
  readonly end: number;
  readonly text: string;
  readonly stream: Frame["stream"];
}

interface LineReaderOptions {
  readonly budget?: LineBudget;
  /** Start of the program's run, seconds since the epoch: no line of the run before goes on in it. */
  readonly start?: number;
}

/**
 * Turns frames into the program's lines. Engines split long lines, and lines written bit by bit, into pieces with a
 * time each. A program's two streams are separate: half a line of one does not mix with the other.
 */
export class LineReader {
  readonly #frames = new FrameReader();
  readonly #streams: { readonly stdout: StreamReader; readonly stderr: StreamReader };

  constructor({ budget = new LineBudget(), start = 0 }: LineReaderOptions = {}) {
    const reader = (stream: Frame["stream"]) => new StreamReader(stream, new OpenLine(budget), start);
    this.#streams = { stdout: reader("stdout"), stderr: reader("stderr") };
  }

  /** One line at a time: for a slow reader, only the bytes wait in memory. */
  *push(chunk: Buffer): Generator<TimedLine, undefined> {
    for (const frame of this.#frames.push(chunk)) yield* this.#streams[frame.stream].push(frame);
  }

  /** Lines that have not ended; the reader has none afterwards. */
  *end(): Generator<TimedLine, undefined> {
    yield* this.#streams.stdout.end();
    yield* this.#streams.stderr.end();
  }

  /** Forgets lines that have not ended. */
  close(): void {
    this.#streams.stdout.close();
    this.#streams.stderr.close();
  }

  /** When the oldest line that has not ended began; undefined if there is none. */
  get openSince(): number | undefined {
    const { stdout, stderr } = this.#streams;
    const time = smallest([stdout.openSince ?? Infinity, stderr.openSince ?? Infinity], Infinity);
    return time === Infinity ? undefined : time;
  }
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING = Buffer.alloc(0);
/** Characters of a record in which its time is looked for. */
const STAMP = 40;

/** Lines of one stream of a program. */
class StreamReader {
  readonly #stream: Frame["stream"];
  readonly #line: OpenLine;
  readonly #start: number;
  /** Time of the first piece of the open line, and of the last record. */
  #began = 0;
  #time = 0;

  constructor(stream: Frame["stream"], line: OpenLine, start: number) {
    this.#stream = stream;
    this.#line = line;
    this.#start = start;
  }

  get openSince(): number | undefined {
    return this.#line.isEmpty ? undefined : this.#began;
  }

  *push({ data, isStart }: Frame): Generator<TimedLine, undefined> {
    let at = 0;
    if (isStart) {
      const { time, length } = stampOf(data);
      if (this.#isOther(time)) yield* this.end();
      this.#time = time ?? this.#time;
      at = length;
    }
    for (let end = data.indexOf(NEWLINE, at); end >= 0; end = data.indexOf(NEWLINE, at)) {
      yield* this.#ended(data.subarray(at, data[end - 1] === CARRIAGE_RETURN && end > at ? end - 1 : end));
      at = end + 1;
    }
    if (at >= data.length) return;
    if (this.#line.isEmpty) this.#began = this.#time;
    this.#line.push(data.subarray(at));
  }

  *end(): Generator<TimedLine, undefined> {
    if (!this.#line.isEmpty) yield* this.#ended(NOTHING);
  }

  close(): void {
    this.#line.release();
  }

  *#ended(last: Buffer): Generator<TimedLine, undefined> {
    const time = this.#line.isEmpty ? this.#time : this.#began;
    yield { time, end: this.#time, text: this.#line.end(last), stream: this.#stream };
    this.#line.release();
  }

  /** Whether the open line is of the run before the one of a record. Podman tells whole seconds only. */
  #isOther(time: number | undefined): boolean {
    if (time === undefined || this.#line.isEmpty) return false;
    const start = Number.isInteger(time) ? Math.floor(this.#start) : this.#start;
    return this.#time < start && time >= start;
  }
}

/** The time in front of a record, and how many bytes it takes; a record without one begins with the program's words. */
function stampOf(data: Buffer): { readonly time?: number; readonly length: number } {
  const [stamp = "", date = ""] = /^(\d{4}-\d\d-\d\dT\S+) ?/.exec(data.toString("latin1", 0, STAMP)) ?? [];
  const time = date === "" ? Number.NaN : Date.parse(date) / 1000;
  return Number.isNaN(time) ? { length: 0 } : { time, length: stamp.length };
}

/**
 * Lines of a container, on demand: only the buffers of the connection are read ahead. The connection ends with the
 * reader. An unfinished line stays with `reader`.
 */
export async function* readLines(
  api: Pick<EngineApi, "logs">,
  id: string,
  { reader, ...query }: LogQuery & { readonly signal: AbortSignal; readonly reader: LineReader },
): AsyncGenerator<TimedLine, undefined> {
  const end = new AbortController();
  try {
    const stream = await api.logs(id, { ...query, signal: AbortSignal.any([query.signal, end.signal]) });
    for await (const chunk of stream) yield* reader.push(chunk);
  } finally {
    end.abort();
  }
}

/** The last `count` lines of a container on one bounded line. */
export async function plainLogTail(api: Pick<EngineApi, "logs">, id: string, count: number): Promise<string> {
  let words = "";
  const reader = new LineReader();
  const query = { follow: false, tail: count, signal: AbortSignal.timeout(TAIL_TIMEOUT_MS), reader };
  const add = ({ text }: TimedLine) => {
    words = (words === "" ? text : `${words} | ${text}`).slice(-MAX_WORDS);
  };
  for await (const line of readLines(api, id, query)) add(line);
  for (const line of reader.end()) add(line);
  return words;
}

const MAX_WORDS = 500;
const TAIL_TIMEOUT_MS = 10_000;
