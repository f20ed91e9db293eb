import type { ClusterEvent } from "../cluster/index.ts";

type Source = AsyncIterator<ClusterEvent>;
interface Arrived {
  readonly source: Source;
  readonly result: IteratorResult<ClusterEvent>;
}

/** Events of several sources as one stream: by time while more than one source has events, else in arrival order. */
export async function* mergeEvents(streams: readonly AsyncIterable<ClusterEvent>[]): AsyncGenerator<ClusterEvent> {
  const sources = streams.map((stream) => stream[Symbol.asyncIterator]());
  const pending = new Map<Source, Promise<Arrived>>();
  const ready = new Map<Source, ClusterEvent>();
  const pull = (source: Source) =>
    pending.set(
      source,
      source.next().then((result) => ({ source, result })),
    );
  for (const source of sources) pull(source);
  try {
    while (pending.size > 0 || ready.size > 0) {
      await collect(pending, ready);
      const [first] = [...ready].sort(([, a], [, b]) => (a.time < b.time ? -1 : 1));
      if (first === undefined) continue;
      ready.delete(first[0]);
      yield first[1];
      pull(first[0]);
    }
  } finally {
    // A source that waits for its next event ends by its own signal.
    for (const source of sources) void source.return?.();
  }
}

/** Waits for one event, then takes along what the other sources have at hand. */
async function collect(pending: Map<Source, Promise<Arrived>>, ready: Map<Source, ClusterEvent>): Promise<void> {
  if (pending.size === 0) return;
  const moment = new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
  let wait: Promise<undefined> | undefined = ready.size > 0 ? moment : undefined;
  while (pending.size > 0) {
    const arrived = await Promise.race([...pending.values(), ...(wait === undefined ? [] : [wait])]);
    if (arrived === undefined) return;
    pending.delete(arrived.source);
    if (arrived.result.done !== true) ready.set(arrived.source, arrived.result.value);
    wait ??= moment;
  }
}
