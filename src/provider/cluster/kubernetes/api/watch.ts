import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiFailure, failureOf, type StatusObject, unreachable } from "./failure.ts";
import type { ApiLimits } from "./limits.ts";
import { type ApiObject, isApiObject, lean } from "./objects.ts";

/** A report of a watch. */
export type Change<T> =
  /** These are all, instead of everything known before. */
  | { readonly type: "all"; readonly objects: readonly T[] }
  | { readonly type: "set"; readonly object: T }
  | { readonly type: "removed"; readonly object: T }
  /** Earlier reports may be out of date, until the next `all`. */
  | { readonly type: "lost"; readonly failure: ApiFailure };

export interface WatchSource<T> {
  readonly signal: AbortSignal;
  readonly limits: ApiLimits;
  list(): Promise<{ readonly objects: readonly T[]; readonly version: string }>;
  /** Lines from a version on. */
  open(version: string): Promise<Readable & { setTimeout?(ms: number, late: () => void): unknown }>;
}

/** Existing objects, then changes, until the signal. A slow reader slows the server down. */
export async function* watchObjects<T extends ApiObject>(source: WatchSource<T>): AsyncGenerator<Change<T>, void> {
  const { signal } = source;
  let pauseMs = source.limits.pauseMs;
  while (!signal.aborted) {
    try {
      const { objects, version } = await source.list();
      yield { type: "all", objects };
      pauseMs = source.limits.pauseMs;
      yield* follow(source, version);
    } catch (error) {
      if (signal.aborted) return;
      const failure = unreachable(error);
      // A version that is too old is only a reason to list again.
      if (failure.kind !== "expired") yield { type: "lost", failure };
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(2 * pauseMs, source.limits.maxPauseMs);
    }
  }
}

/** Continues where a stream ended; rejects if none can be opened or the server reports an error. */
async function* follow<T extends ApiObject>(source: WatchSource<T>, from: string): AsyncGenerator<Change<T>, void> {
  let version = from;
  while (!source.signal.aborted) {
    const opened = version;
    for await (const line of streamLines(source, version)) {
      const { type, object } = lineOf<T>(line);
      version = object.metadata.resourceVersion ?? version;
      if (type !== "BOOKMARK") yield { type: type === "DELETED" ? "removed" : "set", object };
    }
    // A server that ends every stream at once must not be asked without pause.
    if (version === opened) await sleep(source.limits.pauseMs, undefined, source).catch(() => {});
  }
}

/** A stream that breaks off is at its end: its version says where to continue. */
async function* streamLines<T>({ open, limits }: WatchSource<T>, version: string): AsyncGenerator<string, void> {
  const stream = await open(version);
  stream.setTimeout?.(limits.silenceMs, () => stream.destroy());
  const lines = readLines(stream, limits.lineBytes);
  try {
    while (true) {
      const { done, value } = await lines.next().catch(ignoreBreak);
      if (done === true) return;
      yield value;
    }
  } finally {
    stream.destroy();
  }
}

function ignoreBreak(error: unknown): IteratorReturnResult<undefined> {
  if (error instanceof ApiFailure) throw error;
  return { done: true, value: undefined };
}

const TYPES = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"] as const;

function lineOf<T extends ApiObject>(line: string): { readonly type: (typeof TYPES)[number]; readonly object: T } {
  const { type, object } = parseLine(line);
  if (type === "ERROR") {
    const { code }: StatusObject = Object(object);
    throw failureOf(typeof code === "number" ? code : 500, object, line);
  }
  const known = TYPES.find((each) => each === type);
  // A bookmark has nothing but the version.
  if (known === "BOOKMARK" && typeof object === "object" && object !== null)
    return { type: known, object: object as T };
  if (known === undefined || !isApiObject(object)) throw new ApiFailure("refused", "a line of a watch is not an event");
  return { type: known, object: lean(object) as T };
}

function parseLine(line: string): { readonly type?: unknown; readonly object?: unknown } {
  try {
    return Object(JSON.parse(line));
  } catch {
    // The last line of a stream that broke off: what it said comes again.
    throw new ApiFailure("expired", "a watch broke off within a line");
  }
}

const NEWLINE = 0x0a;

/** The lines of a stream as the reader takes them; one that is longer than the most ends the stream with a failure. */
async function* readLines(stream: Readable, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) throw new ApiFailure("refused", `a line of more than ${maxBytes} bytes`);
    parts.push(part);
  };
  for await (const chunk of stream) {
    const data: Buffer = chunk;
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      take(data.subarray(start, end));
      yield Buffer.concat(parts).toString("utf8");
      parts = [];
      bytes = 0;
      start = end + 1;
    }
    if (start < data.length) take(data.subarray(start));
  }
  if (bytes > 0) yield Buffer.concat(parts).toString("utf8");
}
