import type { GatewayLogLine } from "../answers.ts";
import { GatewayRefusal, gatewayClientErrors, StreamEnd } from "../errors.ts";

/** Lines requested again per replica after a break; as many are remembered. */
const OVERLAP = 200;
/** Silence after which we assume that a new stream has sent all its past lines; milliseconds. */
const QUIET_MS = 300;
const RETRY_MS = { first: 250, most: 5_000 };

const LEASE_ENDED = 4001;

/** How broken streams of lines are followed. */
export interface FollowOptions {
  readonly tail: number;
  readonly signal: AbortSignal;
  /** Opens the stream with this many lines of each replica from the past. */
  readonly open: (tail: number) => Promise<AsyncIterable<GatewayLogLine>>;
  /** Called when the connection was lost and is being re-established. */
  readonly onRetry?: ((reason: Error) => void) | undefined;
}

/** Log lines for as long as the lease lives, across lost connections and without repeating lines. */
export async function* followLogs(options: FollowOptions): AsyncGenerator<GatewayLogLine> {
  const { signal, open, onRetry } = options;
  const past = new Map<string, GatewayLogLine[]>();
  let tail = options.tail;
  let wait = RETRY_MS.first;
  let connected = false;
  while (!signal.aborted) {
    try {
      const lines = await open(tail);
      connected = true;
      for await (const line of joined(lines, past)) {
        wait = RETRY_MS.first;
        yield line;
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!connected || !isPassing(error)) throw error;
      onRetry?.(error);
    }
    tail = OVERLAP;
    await pause(wait, signal);
    wait = Math.min(RETRY_MS.most, wait * 2);
  }
}

/** The first stream unchanged, later ones without lines already seen. */
async function* joined(
  lines: AsyncIterable<GatewayLogLine>,
  past: Map<string, GatewayLogLine[]>,
): AsyncGenerator<GatewayLogLine> {
  const overlaps = new Map([...past].map(([name, kept]) => [name, new Overlap([...kept])]));
  for await (const line of withQuiet(lines, () => overlaps.size > 0)) {
    const fresh = line === undefined ? flushAll(overlaps) : resolveLine(line, overlaps);
    for (const each of fresh) {
      remember(past, each);
      yield each;
    }
  }
  for (const each of flushAll(overlaps)) yield each;
}

function resolveLine(line: GatewayLogLine, overlaps: Map<string, Overlap>): readonly GatewayLogLine[] {
  const overlap = overlaps.get(line.name);
  if (overlap === undefined) return [line];
  const fresh = overlap.push(line);
  if (fresh === undefined) return [];
  overlaps.delete(line.name);
  return fresh;
}

function flushAll(overlaps: Map<string, Overlap>): GatewayLogLine[] {
  const fresh = [...overlaps].flatMap(([, overlap]) => overlap.flush());
  overlaps.clear();
  return fresh;
}

function remember(past: Map<string, GatewayLogLine[]>, line: GatewayLogLine): void {
  const { name } = line;
  const kept = past.get(name) ?? [];
  kept.push(line);
  past.set(name, kept.slice(-OVERLAP));
}

/** The lines, and `undefined` if none came for a while although the reader waits. */
async function* withQuiet<T>(lines: AsyncIterable<T>, waits: () => boolean): AsyncGenerator<T | undefined> {
  const iterator = lines[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      const result = waits() ? await Promise.race([next, pause(QUIET_MS)]) : await next;
      if (result?.done === true) return;
      yield result?.value;
      if (result !== undefined) next = iterator.next();
    }
  } finally {
    void iterator.return?.();
  }
}

/** Waits, or until the signal is aborted. */
function pause(ms: number, signal?: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve(undefined);
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener("abort", end);
  });
}

/** Whether trying again may help: the connection broke, or the provider is temporarily unavailable. */
function isPassing(error: unknown): error is Error {
  if (error instanceof StreamEnd) return error.closeCode !== LEASE_ENDED;
  if (error instanceof GatewayRefusal) return error.status >= 500 || error.status === 429;
  return error instanceof Error && "code" in error && error.code === gatewayClientErrors.unreachable.code;
}

/**
 * Joins a new stream of lines to the lines read before the old one broke. The new stream begins with past lines; their
 * longest run that overlaps ours is left out.
 */
export class Overlap {
  readonly #kept: readonly GatewayLogLine[];
  readonly #held: GatewayLogLine[] = [];
  /** Places in the kept lines from which the held ones have matched so far. */
  #starts: number[];
  /** Lines known to be old if nothing better comes. */
  #old = 0;

  constructor(kept: readonly GatewayLogLine[]) {
    this.#kept = kept;
    this.#starts = kept.map((_, index) => index);
  }

  /** Takes a line; returns the new lines as soon as they can be told from repeated ones. */
  push(line: GatewayLogLine): readonly GatewayLogLine[] | undefined {
    const at = this.#held.push(line) - 1;
    this.#starts = this.#starts.filter((start) => isSame(this.#kept[start + at], line));
    if (this.#starts.some((start) => start + at === this.#kept.length - 1)) this.#old = at + 1;
    this.#starts = this.#starts.filter((start) => start + at < this.#kept.length - 1);
    return this.#starts.length === 0 ? this.flush() : undefined;
  }

  /** Decides by the lines so far. */
  flush(): readonly GatewayLogLine[] {
    return this.#held.slice(this.#old);
  }
}

function isSame(one: GatewayLogLine | undefined, other: GatewayLogLine): boolean {
  return one?.message === other.message && one.time === other.time;
}
