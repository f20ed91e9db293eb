import { type LogLine, type LogOptions, replicaName } from "../../contract/index.ts";
import { LineBudget, LineQueue, lastLines, mergedByTime } from "../../shared/index.ts";
import { isNotFound } from "../api/failure.ts";
import type { EngineHealth } from "../api/health.ts";
import { LineReader, readLines, type TimedLine } from "../api/logs.ts";
import type { DriverContext } from "../context.ts";
import type { Lease } from "../lease/lease.ts";
import type { Observed } from "../replica/observe.ts";
import { Follower, type FollowOptions } from "./follower.ts";
import { isFrom, sinceQuery } from "./since.ts";

/** The replicas' output so far, merged by time. */
export async function* pastLogs(context: DriverContext, lease: Lease, options: LogOptions): AsyncIterable<LogLine> {
  const budget = new LineBudget();
  const sources = chosen(lease, options).map((unit) => ({
    name: replicaName(unit.service, unit.index),
    lines: pastLines({ context, unit, budget }, options),
  }));
  const merged = mergedByTime(sources, { timeOf: ({ time }) => time, signal: options.signal });
  for await (const [name, line] of merged) yield logLine(name, line);
}

function logLine(name: string, { text, time, stream }: TimedLine): LogLine {
  return { name, message: text, time: new Date(time * 1000).toISOString(), stream };
}

interface PastLog {
  readonly context: DriverContext;
  readonly unit: Observed;
  readonly budget: LineBudget;
}

/** A container that is removed while its log is read has no log. */
async function* pastLines(
  { context, unit, budget }: PastLog,
  { tail: count, signal, since, previous = false }: LogOptions,
): AsyncGenerator<TimedLine, undefined> {
  // A restarted container continues the same log: lines before the start belong to the previous run.
  const until = previous ? betweenRuns(unit) / 1000 : Number.POSITIVE_INFINITY;
  if (Number.isNaN(until)) return;
  const read = (tail: number) => {
    const reader = new LineReader({ budget, start: unit.startedAt / 1000 });
    const query = { follow: false, tail, signal, ...sinceQuery(since) };
    return within(wholeLog(context.api, unit.id, { ...query, reader }), since, until);
  };
  const hasTail = hasTrueTail(context.health) && !previous;
  try {
    if (count < 0) yield* read(-1);
    else yield* lastLines({ count, read, textOf: ({ text }) => text, hasTail });
  } catch (error) {
    if (!isNotFound(error) && !signal.aborted) throw error;
  }
}

async function* wholeLog(...parameters: Parameters<typeof readLines>): AsyncGenerator<TimedLine, undefined> {
  yield* readLines(...parameters);
  yield* parameters[2].reader.end();
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

async function* within(
  lines: AsyncIterable<TimedLine>,
  since: number | undefined,
  until: number,
): AsyncGenerator<TimedLine, undefined> {
  for await (const line of lines) {
    // Podman tells whole seconds only: a line of the second of the start is of the run that began then.
    if (line.time >= (Number.isInteger(line.time) ? Math.floor(until) : until)) return;
    if (isFrom(line, since)) yield line;
  }
}

/** The followed part of a lease. */
export interface FollowedLease {
  readonly stopped: boolean;
  /** Whether it was observed since the start of the daemon. */
  readonly seen: boolean;
  readonly state: { readonly units: readonly Observed[] };
  onChange(listener: () => void): () => void;
}

/** Follows all replicas, over restarts and replacements, until the signal or the end of the lease. */
export async function* followLogs(
  { api, health }: { readonly health: Pick<EngineHealth, "kind"> } & Pick<FollowOptions, "api">,
  lease: FollowedLease,
  options: LogOptions,
): AsyncIterable<LogLine> {
  const queue = new LineQueue<LogLine>(({ message }) => message.length);
  const [budget, hasTail] = [new LineBudget(), hasTrueTail(health)];
  const followed = new Map<string, Follower>();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let first: ReadonlySet<string> | undefined;
  const follow = (unit: Observed) => {
    const name = replicaName(unit.service, unit.index);
    const show = (line: TimedLine) => queue.push(logLine(name, line));
    // Replicas that come later are shown from their first line.
    const tail = first?.has(unit.id) === true ? options.tail : -1;
    const follower = new Follower(unit, { api, show, signal, tail, since: options.since, budget, hasTail });
    followed.set(unit.id, follower);
    void follower.run().finally(() => followed.delete(unit.id));
  };
  const update = () => {
    if (lease.stopped) return queue.end();
    if (!lease.seen) return;
    const units = new Map(chosen(lease, options).map((unit) => [unit.id, unit]));
    first ??= new Set(units.keys());
    for (const [id, follower] of followed) follower.seen(units.get(id));
    for (const [id, unit] of units) if (!followed.has(id)) follow(unit);
  };
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

/** Whether the engine returns the exact end of a log; Podman joins pieces of lines in a wrong order there. */
function hasTrueTail({ kind }: Pick<EngineHealth, "kind">): boolean {
  return kind !== "podman";
}

function chosen(lease: Pick<FollowedLease, "state">, options: LogOptions): Observed[] {
  const { services } = options;
  const units = lease.state.units.filter((unit) => services.length === 0 || services.includes(unit.service));
  return [...units].sort((a, b) => a.service.localeCompare(b.service) || a.index - b.index);
}
