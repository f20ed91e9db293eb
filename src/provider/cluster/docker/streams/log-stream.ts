import { type LogLine, replicaName, type StreamOptions } from "../../contract/index.ts";
import { LineQueue } from "../../shared/index.ts";
import { isNotFound } from "../api/failure.ts";
import { LineReader, readLines, type TimedLine } from "../api/logs.ts";
import type { DriverContext } from "../context.ts";
import type { Lease } from "../lease/lease.ts";
import type { Observed } from "../replica/observe.ts";

/** Wait before a log stream that the engine cut off is opened again. */
const REOPEN_MS = 1_000;

/** What the replicas have written so far, merged by time. */
export async function* pastLogs(context: DriverContext, lease: Lease, options: StreamOptions): AsyncIterable<LogLine> {
  const units = chosen(lease, options);
  const all = await Promise.all(
    units.map(async (unit) => {
      const lines = await readLines(context.api, unit.id, options.tail).catch(emptyIfGone);
      return lines.map((line) => ({ ...line, name: replicaName(unit.service, unit.index) }));
    }),
  );
  const merged = all.flat().sort((a, b) => a.time - b.time);
  for (const { name, text } of merged) yield { name, message: text };
}

/** Follows all replicas, over restarts and replacements, until the signal or the end of the lease. */
export async function* followLogs(
  context: DriverContext,
  lease: Lease,
  options: StreamOptions,
): AsyncIterable<LogLine> {
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
          new Follower(context, unit, { queue, signal, tail: followed.size < first ? options.tail : -1 }),
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

function chosen(lease: Lease, options: StreamOptions): Observed[] {
  const { services } = options;
  const units = lease.state.units.filter((unit) => services.length === 0 || services.includes(unit.service));
  return [...units].sort((a, b) => a.service.localeCompare(b.service) || a.index - b.index);
}

interface FollowOptions {
  readonly queue: LineQueue<LogLine>;
  readonly signal: AbortSignal;
  readonly tail: number;
}

/** Follows one container: the engine ends the stream with every stop, and a new start opens it where it ended. */
class Follower {
  readonly #context: DriverContext;
  readonly #options: FollowOptions;
  #unit: Observed;
  #wake: () => void = () => {};
  /** Second of the last line and how many lines of that second were shown: engines ask for whole seconds. */
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
    const query = { follow: true, signal, ...(since === undefined ? { tail } : { tail: -1, since }) };
    let skip = since === this.#last.second ? this.#last.count : 0;
    const reader = new LineReader();
    const stream = await this.#context.api.logs(this.#unit.id, query);
    const deliver = async (lines: readonly TimedLine[]) => {
      for (const line of lines) {
        if (skip > 0 && Math.floor(line.time) === since) skip--;
        else await this.#show(line);
      }
    };
    try {
      for await (const chunk of stream) await deliver(reader.push(chunk));
      await deliver(reader.end());
    } finally {
      stream.destroy();
    }
  }

  #show(line: TimedLine): Promise<void> {
    const second = Math.floor(line.time);
    this.#last = { second, count: second === this.#last.second ? this.#last.count + 1 : 1 };
    const name = replicaName(this.#unit.service, this.#unit.index);
    return this.#options.queue.push({ name, message: line.text });
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

function emptyIfGone(error: unknown): TimedLine[] {
  if (isNotFound(error)) return [];
  throw error;
}
