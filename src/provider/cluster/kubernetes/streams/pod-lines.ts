import { LineBudget, linesOf, MAX_LINE } from "../../shared/index.ts";
import { ApiFailure } from "../api/failure.ts";
import type { DriverContext } from "../context.ts";
import { CONTAINER } from "../objects/index.ts";

/** A line of a log and when its first piece was written: RFC 3339 with as many digits as the cluster tells. */
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
  readonly budget?: LineBudget;
  /** Whether a last line without its end is left out, because the log may go on. */
  readonly isOpen?: boolean;
}

/** Bytes of a line with its time. */
const MOST = MAX_LINE + 64;

/** The lines of a pod, read on demand. A pod that is gone, or has not begun, has none. */
export async function* podLines(
  { api }: DriverContext,
  place: { readonly namespace: string; readonly name: string },
  { since, budget = new LineBudget(), isOpen = false, ...query }: PodLineQuery,
): AsyncGenerator<PodLine, undefined> {
  // Nodes take whole seconds. A line that began in the one before is told from a new one by its beginning.
  const second = (Math.floor((since ?? 0) / 1_000) - 1) * 1_000;
  const from = second < 0 ? {} : { since: new Date(second).toISOString() };
  try {
    const stream = await api.podLog({ ...place }, { container: CONTAINER, ...query, ...from });
    for await (const line of linesOf(stream, { budget, most: MOST, isOpen })) {
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
