import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const ASKER = fileURLToPath(new URL("./asker.mjs", import.meta.url));
const LEAST_ANSWERS = 5;

/** Observations of the attacked service's neighbour. */
export interface Seen {
  readonly answers: number;
  /** Everything but the page; empty when each request was answered. */
  readonly wrong: readonly string[];
  /** Milliseconds. */
  readonly p95: number;
}

/** A client in its own process that asks a tenant's page again and again while the work goes on, and for some answers at least. */
export async function seenMeanwhile(url: string, work: () => Promise<unknown>): Promise<Seen> {
  const asker = spawn(process.execPath, [ASKER, url, String(LEAST_ANSWERS)], { stdio: ["pipe", "pipe", "pipe"] });
  const told = Promise.all([text(asker.stdout), once(asker, "close")]);
  try {
    await begun(asker);
    await work();
  } finally {
    asker.stdin.end();
  }
  const [output] = await told;
  const { times, wrong }: { times: number[]; wrong: string[] } = JSON.parse(output);
  const sorted = times.toSorted((a, b) => a - b);
  return { answers: times.length, wrong, p95: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN };
}

/** Starting a process takes its time; only then does the work begin. */
async function begun(asker: ChildProcess): Promise<void> {
  const [said] = await Promise.race([once(asker.stderr ?? asker, "data"), once(asker, "close")]);
  if (!String(said).startsWith("asked")) throw new Error(`the neighbour's client failed: ${said}`);
}
