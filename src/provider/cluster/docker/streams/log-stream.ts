import { type LogLine, type LogOptions, replicaName } from "../../contract/index.ts";
import { LineQueue, mergedByTime } from "../../shared/index.ts";
import { isNotFound } from "../api/failure.ts";
import { readLines, type TimedLine } from "../api/logs.ts";
import type { DriverContext } from "../context.ts";
import type { Lease } from "../lease/lease.ts";
import type { Observed } from "../replica/observe.ts";

/** Wait before a log stream that the engine cut off is opened again. */
const REOPEN_MS = 1_000;

/** What a look back at `previous` with `tail` may keep in memory, in characters. */
const MAX_KEPT = 4 << 20;

/** What the replicas have written so far, merged by time. */
export async function* pastLogs(context: DriverContext, lease: Lease, options: LogOptions): AsyncIterable<LogLine> {
  const sources = chosen(lease, options).map((unit) => ({
    name: replicaName(unit.service, unit.index),
    lines: pastLines(context, unit, options),
  }));
  const merged = mergedByTime(sources, { timeOf: ({ time }) => time, signal: options.signal });
  for await (const [name, line] of merged) yield logLine(name, line);
}

function logLine(name: string, { text, time, stream }: TimedLine): LogLine {
  return { name, message: text, time: new Date(time * 1000).toISOString(), stream };
}

/** A container that is removed while its log is read has no log. */
async function* pastLines(
  context: DriverContext,
  unit: Observed,
  options: LogOptions,
): AsyncGenerator<TimedLine, undefined> {
  const { tail, signal, since, previous = false } = options;
  // A container that was started again goes on in the same log: what stands before the start is of the run before.
  const until = previous ? betweenRuns(unit) / 1000 : Number.POSITIVE_INFINITY;
  if (Number.isNaN(until)) return;
  const query = { follow: false, tail: previous ? -1 : tail, signal, ...sinceQuery(since) };
  try {
    const all = readLines(context.api, unit.id, query);
    const wanted = within(all, since === undefined ? 0 : since / 1000, until);
    yield* previous && tail >= 0 ? lastOf(wanted, tail) : wanted;
  } catch (error) {
    if (!isNotFound(error) && !signal.aborted) throw error;
  }
}

/**
 * A time after the last line of the run before and before the first one of this run; not a number where there was none before.
 * Docker notes a start only when the program may have written already.
 */
function betweenRuns({ startedAt, finishedAt }: Observed): number {
  const ended = Date.parse(finishedAt);
  if (!(ended > 0)) return Number.NaN;
  return ended < startedAt ? (ended + startedAt) / 2 : startedAt;
}

/** Engines ask for whole seconds. */
function sinceQuery(since: number | undefined): { readonly since?: number } {
  return since === undefined ? {} : { since: Math.floor(since / 1000) };
}

async function* within(lines: AsyncIterable<TimedLine>, from: number, until: number): AsyncGenerator<TimedLine> {
  for await (const line of lines) {
    // Podman tells whole seconds only: a line of the second of the start is of the run that began then.
    if (line.time >= (Number.isInteger(line.time) ? Math.floor(until) : until)) return;
    if (line.time >= from) yield line;
  }
}

async function* lastOf(lines: AsyncIterable<TimedLine>, count: number): AsyncGenerator<TimedLine> {
  let kept: TimedLine[] = [];
  let size = 0;
  for await (const line of lines) {
    kept.push(line);
    size += line.text.length;
    // Cut seldom, so that a long log costs no copy per line.
    if (kept.length > 2 * count + 1_000 || size > MAX_KEPT) {
      kept = kept.slice(Math.max(Math.ceil(kept.length / 2), kept.length - count));
      size = kept.reduce((sum, { text }) => sum + text.length, 0);
    }
  }
  yield* count === 0 ? [] : kept.slice(-count);
}

/** Follows all replicas, over restarts and replacements, until the signal or the end of the lease. */
export async function* followLogs(context: DriverContext, lease: Lease, options: LogOptions): AsyncIterable<LogLine> {
  const queue = new LineQueue<LogLine>();
  const followed = new Map<string, Follower>();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const update = () => {
    if (lease.stopped) return queue.end();
    const units = chosen(lease, options);
    for (const unit of units) {
      const follower = followed.get(unit.id);
      if (follower !== undefined) follower.seen(unit);
      else
        followed.set(
          unit.id,
          new Follower(context, unit, {
            queue,
            signal,
            tail: followed.size < first ? options.tail : -1,
            since: options.since,
          }),
        );
    }
  };
  // Replicas that come later are shown from their first line.
  const first = chosen(lease, options).length;
  const unsubscribe = lease.onChange(update);
  signal.addEventListener("abort", () => queue.end(), { once: true });
  try {
    update();
    if (!signal.aborted) yield* queue;
  } finally {
    unsubscribe();
    stop.abort();
  }
}

function chosen(lease: Lease, options: LogOptions): Observed[] {
  const { services } = options;
  const units = lease.state.units.filter((unit) => services.length === 0 || services.includes(unit.service));
  return [...units].sort((a, b) => a.service.localeCompare(b.service) || a.index - b.index);
}

interface FollowOptions {
  readonly queue: LineQueue<LogLine>;
  readonly signal: AbortSignal;
  readonly tail: number;
  readonly since: number | undefined;
}

/** Follows one container: the engine ends the stream with every stop, and a new start opens it where it ended. */
class Follower {
  readonly #context: DriverContext;
  readonly #options: FollowOptions;
  #unit: Observed;
  #wake: () => void = () => {};
  /** Second of the last line, and how many lines of that second were shown: engines take whole seconds. */
  #last = { second: 0, count: 0 };

  constructor(context: DriverContext, unit: Observed, options: FollowOptions) {
    this.#context = context;
    this.#unit = unit;
    this.#options = options;
    void this.#run();
  }

  /** A newer observation of the container. */
  seen(unit: Observed): void {
    this.#unit = unit;
    this.#wake();
  }

  async #run(): Promise<void> {
    let since: number | undefined;
    while (!this.#options.signal.aborted) {
      const { startedAt } = this.#unit;
      try {
        await this.#stream(since);
      } catch (error) {
        if (isNotFound(error)) return;
        await this.#pause(REOPEN_MS);
        since = this.#last.second;
        continue;
      }
      while (!this.#options.signal.aborted && !(this.#unit.running && this.#unit.startedAt !== startedAt)) {
        await this.#pause();
      }
      since = Math.floor(this.#unit.startedAt / 1000);
    }
  }

  async #stream(since: number | undefined): Promise<void> {
    const { signal, tail } = this.#options;
    const from = (this.#options.since ?? 0) / 1000;
    const first = { tail, ...sinceQuery(this.#options.since) };
    const query = { follow: true, signal, ...(since === undefined ? first : { tail: -1, since }) };
    let skip = since === this.#last.second ? this.#last.count : 0;
    for await (const line of readLines(this.#context.api, this.#unit.id, query)) {
      if (skip > 0 && Math.floor(line.time) === since) skip--;
      else if (line.time >= from) await this.#show(line);
    }
  }

  #show(line: TimedLine): Promise<void> {
    const second = Math.floor(line.time);
    this.#last = { second, count: second === this.#last.second ? this.#last.count + 1 : 1 };
    const name = replicaName(this.#unit.service, this.#unit.index);
    return this.#options.queue.push(logLine(name, line));
  }

  /** Until a newer observation, the signal, or the time. */
  #pause(milliseconds?: number): Promise<void> {
    const { signal } = this.#options;
    return new Promise((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds);
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      this.#wake = done;
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
