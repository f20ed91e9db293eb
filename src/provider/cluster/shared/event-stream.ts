import type { ClusterEvent, StreamOptions } from "../contract/index.ts";
import type { EventLog } from "./eventlog.ts";
import { LineQueue } from "./queue.ts";

/** Events of a lease, oldest first; with `follow` until the signal. */
export async function* streamEvents(
  log: EventLog,
  namespace: string,
  options: StreamOptions,
): AsyncIterable<ClusterEvent> {
  const wanted = (event: ClusterEvent) => options.services.length === 0 || options.services.includes(event.service);
  const queue = new LineQueue<ClusterEvent>();
  const end = () => queue.end();
  const deliver = (event: ClusterEvent) => {
    if (wanted(event)) void queue.push(event);
  };
  const unsubscribe = log.subscribe(namespace, deliver, end);
  options.signal.addEventListener("abort", end, { once: true });
  try {
    const past = log.list(namespace).filter(wanted);
    yield* options.tail >= 0 ? past.slice(past.length - Math.min(options.tail, past.length)) : past;
    if (options.follow && !options.signal.aborted) yield* queue;
  } finally {
    options.signal.removeEventListener("abort", end);
    unsubscribe();
  }
}
