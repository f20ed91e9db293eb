import type { GatewayEvent, GatewayLogLine } from "../../../client/index.ts";
import { cleanLine, EXIT, errorText, printable } from "../../../util/index.ts";
import { formatLeaseId } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { usageError } from "../../errors.ts";
import { logWishes, printLine } from "./log-flags.ts";
import { openLease, withSession } from "./session.ts";

/** `provider lease-logs`: `[<lease>][<replica>] <line>`, or one JSON object per line. */
export async function leaseLogs(input: CommandInput): Promise<number> {
  const tail = readTail(input.flags.text("tail"));
  const wishes = logWishes(input.flags);
  const { session, lease, gateway } = await openLease(input);
  const { io } = session.context;
  const print = (line: GatewayLogLine): string =>
    printLine(line, `[${formatLeaseId(lease)}][${cleanLine(line.name)}]`, input.flags);
  const onRetry = (reason: Error) => io.err(`log stream lost (${cleanLine(errorText(reason))}), reconnecting\n`);
  return withSession(session.chain, () =>
    stream(input, (signal) => gateway.logs(lease, { ...wanted(input), ...wishes, tail, signal, onRetry }), print),
  );
}

/** `provider lease-events`: one line each, or one JSON object per line. */
export async function leaseEvents(input: CommandInput): Promise<number> {
  const { session, lease, gateway } = await openLease(input);
  const { output } = session.context;
  const print = (event: GatewayEvent): string =>
    output === "json" ? printable(JSON.stringify(event)) : eventLine(event);
  return withSession(session.chain, () =>
    stream(input, (signal) => gateway.events(lease, { ...wanted(input), tail: -1, signal }), print),
  );
}

function wanted({ flags }: CommandInput) {
  return { services: flags.words("service"), follow: flags.bool("follow") };
}

/** Prints items until there are no more, or Ctrl-C. */
function stream<T>(
  { io }: CommandInput,
  open: (signal: AbortSignal) => AsyncIterable<T>,
  print: (item: T) => string,
): Promise<number> {
  return untilInterrupted(async (signal) => {
    for await (const item of open(signal)) io.out(`${print(item)}\n`);
  });
}

/** Goes on until it is done, or Ctrl-C. */
export async function untilInterrupted(run: (signal: AbortSignal) => Promise<void>): Promise<number> {
  const abort = new AbortController();
  const stop = () => abort.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    await run(abort.signal);
    return abort.signal.aborted ? EXIT.interrupted : EXIT.done;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

function eventLine({ time, type, reason, object, note }: GatewayEvent): string {
  return [time, type, reason, `${object.kind.toLowerCase()}/${object.name}`, note]
    .map((text) => cleanLine(text))
    .join("  ");
}

function readTail(text: string): number {
  if (text === "-1") return -1;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw usageError(`--tail takes a number of lines, or -1 for all, not "${text}"`);
}
