import { StringDecoder } from "node:string_decoder";
import type { EngineApi, LogQuery } from "./api.ts";
import { type Frame, FrameReader } from "./frames.ts";

/** A line with the time the engine gave it, seconds since the epoch, and the stream it was written to. */
export interface TimedLine {
  readonly time: number;
  readonly text: string;
  readonly stream: Frame["stream"];
}

/** Longer lines are delivered in pieces, so that one program cannot fill the memory. */
const MAX_LINE = 64 << 10;

/** Turns frames into lines. A program's two streams are separate: half a line of one does not mix with the other. */
export class LineReader {
  readonly #frames = new FrameReader();
  readonly #halves = { stdout: new HalfLine("stdout"), stderr: new HalfLine("stderr") };

  /** One line at a time: of what waits for a slow reader, only the bytes are in memory. */
  *push(chunk: Buffer): Generator<TimedLine, undefined> {
    for (const { stream, data } of this.#frames.push(chunk)) yield* this.#halves[stream].push(data);
  }

  /** What was left without a line end. */
  end(): TimedLine[] {
    return [...this.#halves.stdout.end(), ...this.#halves.stderr.end()];
  }
}

/** One stream of a program, as far as its last line is not complete. */
class HalfLine {
  readonly #stream: Frame["stream"];
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  /** A piece of this line was delivered already: the next one begins without a time. */
  #cut = false;
  #time = 0;

  constructor(stream: Frame["stream"]) {
    this.#stream = stream;
  }

  *push(data: Buffer): Generator<TimedLine, undefined> {
    const parts = (this.#text + this.#decoder.write(data)).split("\n");
    this.#text = parts.pop() ?? "";
    for (const part of parts) yield* this.#pieces(part, true);
    if (this.#text.length <= MAX_LINE) return;
    const open = this.#text;
    this.#text = "";
    yield* this.#pieces(open, false);
  }

  end(): TimedLine[] {
    return this.#text === "" ? [] : this.#pieces(this.#text, true);
  }

  #pieces(part: string, ends: boolean): TimedLine[] {
    const line = this.#line(part);
    this.#cut = !ends;
    const count = Math.max(1, Math.ceil(line.text.length / MAX_LINE));
    return Array.from({ length: count }, (_, index) => ({
      ...line,
      text: line.text.slice(index * MAX_LINE, (index + 1) * MAX_LINE),
    }));
  }

  #line(part: string): TimedLine {
    const raw = part.replace(/\r$/, "");
    const stream = this.#stream;
    const match = this.#cut ? null : /^(\d{4}-\d\d-\d\dT\S+) ?(.*)$/s.exec(raw);
    const time = match?.[1] === undefined ? Number.NaN : Date.parse(match[1]) / 1000;
    if (Number.isNaN(time)) return { time: this.#time, text: raw, stream };
    this.#time = time;
    return { time, text: match?.[2] ?? "", stream };
  }
}

/**
 * Lines of a container, as they are taken: nothing is read from the engine ahead of the reader except what fits into
 * the buffers of the connection. The connection ends with the reader.
 */
export async function* readLines(
  api: Pick<EngineApi, "logs">,
  id: string,
  query: LogQuery & { readonly signal: AbortSignal },
): AsyncGenerator<TimedLine> {
  const end = new AbortController();
  const reader = new LineReader();
  try {
    const stream = await api.logs(id, { ...query, signal: AbortSignal.any([query.signal, end.signal]) });
    for await (const chunk of stream) yield* reader.push(chunk);
    yield* reader.end();
  } finally {
    end.abort();
  }
}

/** Last output of a container on one bounded line. */
export async function plainLogTail(api: Pick<EngineApi, "logs">, id: string, tail: number): Promise<string> {
  let words = "";
  const query = { follow: false, tail, signal: AbortSignal.timeout(TAIL_TIMEOUT_MS) };
  for await (const { text } of readLines(api, id, query)) {
    words = (words === "" ? text : `${words} | ${text}`).slice(-MAX_WORDS);
  }
  return words;
}

const MAX_WORDS = 500;
const TAIL_TIMEOUT_MS = 10_000;
