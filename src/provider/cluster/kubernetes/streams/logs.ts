import { setTimeout as sleep } from "node:timers/promises";
import { type LogLine, type LogOptions, replicaName } from "../../contract/index.ts";
import { LineBudget, LineQueue, lastLines, mergedByTime } from "../../shared/index.ts";
import type { Lease } from "../lease/lease.ts";
import type { ObservedPod } from "../view/pods.ts";
import { type PodLine, podLines } from "./pod-lines.ts";
import type { PreviousLogs } from "./previous.ts";

/** Wait before a log that broke off is opened again. */
const REOPEN_MS = 1_000;

interface Replica {
  readonly name: string;
  readonly pod: ObservedPod;
}

/** The replicas' output so far, merged by time. */
export async function* pastLogs(lease: Lease, previous: PreviousLogs, options: LogOptions): AsyncGenerator<LogLine> {
  const wanted = { ...options, budget: new LineBudget() };
  const sources = replicasOf(lease, options.services).map(({ name, pod }) => ({
    name,
    lines:
      options.previous === true ? previousLines(lease, previous, { name, pod }, wanted) : runLines(lease, pod, wanted),
  }));
  const merged = mergedByTime(sources, { timeOf: ({ at }) => at, signal: options.signal });
  for await (const [name, line] of merged) yield logLine(name, line);
}

/** Clusters do not report which of its two streams a program wrote to. */
function logLine(name: string, { text, at }: PodLine): LogLine {
  return { name, message: text, time: new Date(at).toISOString(), stream: "stdout" };
}

function replicasOf(lease: Lease, services: readonly string[]): Replica[] {
  const wanted = lease.spec.group.services.filter(({ name }) => services.length === 0 || services.includes(name));
  return wanted.flatMap(({ name }) =>
    [...lease.slots(name)].map(([index, pod]) => ({ name: replicaName(name, index), pod })).sort(byName),
  );
}

function byName(a: Replica, b: Replica): number {
  return a.name < b.name ? -1 : 1;
}

interface RunLog extends LogOptions {
  readonly budget: LineBudget;
}

/** The last lines of a run of a pod, or all. */
function runLines(
  { context }: Lease,
  { namespace, name }: ObservedPod,
  { tail: count, signal, since, previous = false, budget }: RunLog,
): AsyncGenerator<PodLine, undefined> {
  const read = (tail: number) =>
    podLines(context, { namespace, name }, { follow: false, tail, signal, since, previous, budget });
  return count < 0 ? read(-1) : lastLines({ count, read, textOf: ({ text }) => text, hasTail: true });
}

/** The previous run of the same pod if the cluster restarted it, or else of the pod that it replaced. */
async function* previousLines(
  lease: Lease,
  previous: PreviousLogs,
  { name, pod }: Replica,
  options: RunLog,
): AsyncGenerator<PodLine, undefined> {
  const { namespace, ownRestarts, restarts } = pod;
  const { tail, since = 0 } = options;
  if (ownRestarts > 0) yield* runLines(lease, pod, options);
  else if (restarts > 0) {
    const kept = previous.lines(namespace, name).filter(({ at }) => at >= since);
    yield* tail < 0 ? kept : kept.slice(kept.length - Math.min(tail, kept.length));
  }
}

/** Follows all replicas, over restarts and replacements, until the signal or the end of the lease. */
export async function* followLogs(lease: Lease, options: LogOptions): AsyncGenerator<LogLine> {
  const queue = new LineQueue<LogLine>(({ message }) => message.length);
  const budget = new LineBudget();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const followed = new Set<string>();
  const first = new Set(replicasOf(lease, options.services).map(({ pod }) => pod.uid));
  const update = () => {
    if (lease.stopped) return queue.end();
    for (const { name, pod } of replicasOf(lease, options.services)) {
      if (followed.has(pod.uid)) continue;
      followed.add(pod.uid);
      // Replicas that come later are shown from their first line.
      const tail = first.has(pod.uid) ? options.tail : -1;
      const following = followPod(lease, { name, pod }, { ...options, tail, signal, budget }, queue);
      void following.finally(() => followed.delete(pod.uid));
    }
  };
  const forget = lease.onChange(update);
  signal.addEventListener("abort", () => queue.end(), { once: true });
  try {
    update();
    if (!signal.aborted) yield* queue;
  } finally {
    forget();
    stop.abort();
  }
}

/**
 * The node ends the stream whenever the program ends; reading continues behind the last line in the next run. As long as
 * nothing was shown, the wishes of the caller still hold, and a later run is new as a whole.
 */
async function followPod(
  lease: Lease,
  { name, pod }: Replica,
  options: RunLog,
  queue: LineQueue<LogLine>,
): Promise<void> {
  const { namespace, name: podName, uid, container } = pod;
  const { signal, since, tail, budget } = options;
  const place = { namespace, name: podName };
  const now = () => lease.context.view.pods(namespace).find((each) => each.uid === uid);
  let position = new Position();
  let hasBegun = tail < 0;
  const show = async (lines: AsyncIterable<PodLine>) => {
    for await (const line of lines) {
      hasBegun = true;
      await queue.push(logLine(name, line));
    }
    hasBegun = true;
  };
  const read = (count: number) => {
    position = new Position();
    const query = { follow: false, tail: count, signal, since, budget, isOpen: true };
    return position.noted(podLines(lease.context, place, query));
  };
  while (!signal.aborted) {
    try {
      if (!hasBegun && now()?.container === container) {
        await show(lastLines({ count: tail, read, textOf: ({ text }) => text, hasTail: true }));
      }
      const query = { follow: true, tail: -1, signal, since: position.at ?? since, budget };
      await show(position.noted(podLines(lease.context, place, query)));
    } catch (error) {
      lease.context.log.debug("a log broke off and is opened again", { replica: name, err: String(error) });
    }
    if (signal.aborted || now() === undefined) return;
    await sleep(REOPEN_MS, undefined, { signal }).catch(() => {});
  }
}

/** Up to where a log was shown, by which it goes on where it is opened again: no line twice, and none left out. */
export class Position {
  #last: PodLine | undefined;
  /** Lines of the time of the last one. */
  #count = 0;

  /** Time of the last line, milliseconds since the epoch; undefined while there is none. */
  get at(): number | undefined {
    return this.#last?.at;
  }

  /** Times have one form and are compared as texts. */
  add(line: PodLine): void {
    const last = this.#last?.time ?? "";
    // The two streams of a program may pass one another by a moment.
    if (line.time < last) return;
    this.#count = line.time === last ? this.#count + 1 : 1;
    this.#last = line;
  }

  /** The lines of a log that is opened now which are new; the position follows them. */
  async *noted(lines: AsyncIterable<PodLine>): AsyncGenerator<PodLine, undefined> {
    const isNew = this.filter();
    for await (const line of lines) {
      if (!isNew(line)) continue;
      this.add(line);
      yield line;
    }
  }

  /** Tells of the lines of such a log, in their order, whether they are new. */
  filter(): (line: PodLine) => boolean {
    const last = this.#last?.time ?? "";
    let left = this.#count;
    return ({ time }) => time > last || (time === last && left-- <= 0);
  }
}
