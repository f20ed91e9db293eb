import { ApiFailure } from "../api/failure.ts";
import { readLines } from "../api/lines.ts";
import type { DriverContext } from "../context.ts";
import { CONTAINER } from "../objects/index.ts";

/** A line of a log and when it was written: RFC 3339 with as many digits as the cluster tells. */
export interface PodLine {
  readonly time: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

export interface PodLineQuery {
  readonly follow: boolean;
  readonly tail: number;
  readonly signal: AbortSignal;
  readonly since?: number | undefined;
  readonly previous?: boolean;
}

/** Bytes of one line; what is longer ends the log with a failure. */
const MAX_LINE = 1 << 20;

/** The lines of a pod as they are read. A pod that is gone, or has not begun, has none. */
export async function* podLines(
  { api }: DriverContext,
  place: { readonly namespace: string; readonly name: string },
  { since, ...query }: PodLineQuery,
): AsyncGenerator<PodLine> {
  // Nodes take whole seconds; what is too early is left out here.
  const from = since === undefined ? {} : { since: new Date(Math.floor(since / 1_000) * 1_000).toISOString() };
  try {
    const stream = await api.podLog({ ...place }, { container: CONTAINER, ...query, ...from });
    for await (const line of readLines(stream, MAX_LINE)) {
      const found = lineOf(line);
      if (found !== undefined && found.at >= (since ?? 0)) yield found;
    }
  } catch (error) {
    if (!query.signal.aborted && !hasNoLog(error)) throw error;
  }
}

/** The pod is gone, or its container has not been started (or never before). */
function hasNoLog(error: unknown): boolean {
  return error instanceof ApiFailure && (error.kind === "notFound" || error.status === 400);
}

function lineOf(line: string): PodLine | undefined {
  const space = line.indexOf(" ");
  const time = space < 0 ? line : line.slice(0, space);
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : { time, at, text: space < 0 ? "" : line.slice(space + 1) };
}
