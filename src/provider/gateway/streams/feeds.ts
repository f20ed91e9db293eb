import type { LeaseKey } from "../../../wire/index.ts";
import type { ClusterEvent, LogLine } from "../../cluster/index.ts";
import type { LeaseService } from "../../leases/index.ts";
import type { LogParameters, StreamParameters } from "../parameters.ts";
import { CLOSE, type GatewayStream } from "./stream.ts";

interface FeedTarget<P = StreamParameters> {
  readonly lease: LeaseKey;
  readonly parameters: P;
}

/** Log lines as text messages `{"name","message","time","stream"}`. */
export function sendLogs(
  stream: GatewayStream,
  leases: LeaseService,
  { lease, parameters }: FeedTarget<LogParameters>,
): Promise<void> {
  const lines = () => leases.logs(lease, { ...parameters, signal: stream.signal });
  return feed(stream, lines, ({ name, message, time, stream: from }: LogLine) =>
    JSON.stringify({ name, message, time, stream: from }),
  );
}

/** Events as text messages. */
export function sendEvents(
  stream: GatewayStream,
  leases: LeaseService,
  { lease, parameters }: FeedTarget,
): Promise<void> {
  const events = () => leases.events(lease, { ...parameters, signal: stream.signal });
  return feed(stream, events, ({ type, reason, note, object, service, time }: ClusterEvent) =>
    JSON.stringify({
      type,
      reportingController: "svc-provider",
      reportingInstance: lease.provider,
      reason,
      note,
      object,
      service,
      time,
    }),
  );
}

async function feed<T>(stream: GatewayStream, open: () => AsyncIterable<T>, print: (item: T) => string): Promise<void> {
  try {
    for await (const item of open()) await stream.send(print(item));
    stream.end(CLOSE.done);
  } catch (error) {
    if (!stream.signal.aborted) stream.fail(error);
  }
}
