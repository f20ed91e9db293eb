import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorText, makePrivateDirectory } from "../../../../util/index.ts";
import type { DriverContext } from "../context.ts";
import type { ObservedPod } from "../view/pods.ts";
import { type PodLine, podLines } from "./pod-lines.ts";

/**
 * Kept lines of a run that its tenant ended: the last ones, within a number of characters, but always the last line.
 */
export const KEPT_LINES = 10_000;
export const KEPT_CHARACTERS = 1 << 20;
/** Pieces of the line before them, which nodes count as lines. */
const SPARE_LINES = 64;

/**
 * Logs of replicas that were replaced because their tenant had them started again: the cluster forgets the log of a pod
 * with the pod, so it is read to its end and kept on this machine.
 */
export class PreviousLogs {
  readonly #context: DriverContext;
  readonly #folder: string;
  readonly #reading = new Map<string, { readonly lines: PodLine[]; readonly stop: AbortController }>();

  constructor(context: DriverContext) {
    this.#context = context;
    this.#folder = join(context.stateDir, "previous");
  }

  /** Reads the log of a pod that is about to be replaced, until its end. */
  async keep(replica: string, { namespace, name }: ObservedPod): Promise<void> {
    const key = `${namespace}/${replica}`;
    this.#reading.get(key)?.stop.abort();
    const stop = new AbortController();
    const lines: PodLine[] = [];
    this.#reading.set(key, { lines, stop });
    try {
      const isWhole = await this.#read({ namespace, name }, lines, stop.signal).then(
        () => true,
        (error: unknown) => {
          const err = errorText(error);
          this.#context.log.warn("the log of a replica that is replaced was not read to its end", { replica, err });
          return false;
        },
      );
      // An incomplete log is better than none.
      if (!stop.signal.aborted && (isWhole || lines.length > 0)) this.#write(key, lines);
    } catch (error) {
      const err = errorText(error);
      this.#context.log.warn("the log of a replica that is replaced cannot be kept", { replica, err });
    } finally {
      if (this.#reading.get(key)?.stop === stop) this.#reading.delete(key);
    }
  }

  async #read(place: { readonly namespace: string; readonly name: string }, lines: PodLine[], signal: AbortSignal) {
    const query = { follow: true, tail: KEPT_LINES + SPARE_LINES, signal };
    let characters = 0;
    for await (const line of podLines(this.#context, place, query)) {
      lines.push(line);
      characters += line.text.length;
      if (lines.length <= 2 * KEPT_LINES && characters <= 2 * KEPT_CHARACTERS) continue;
      trim(lines);
      characters = 0;
    }
  }

  /** The lines of the run before, oldest first. */
  lines(namespace: string, replica: string): readonly PodLine[] {
    const key = `${namespace}/${replica}`;
    const reading = this.#reading.get(key)?.lines;
    if (reading !== undefined) return trim([...reading]);
    try {
      const text = readFileSync(this.#path(key), "utf8");
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as PodLine]));
    } catch {
      // There was none, or a crash cut it short.
      return [];
    }
  }

  /** Forgets all replicas of a lease. */
  remove(namespace: string): void {
    for (const [key, { stop }] of this.#reading) {
      if (!key.startsWith(`${namespace}/`)) continue;
      stop.abort();
      this.#reading.delete(key);
    }
    rmSync(join(this.#folder, namespace), { recursive: true, force: true });
  }

  close(): void {
    for (const { stop } of this.#reading.values()) stop.abort();
  }

  #path(key: string): string {
    return join(this.#folder, `${key}.jsonl`);
  }

  #write(key: string, lines: PodLine[]): void {
    makePrivateDirectory(join(this.#folder, key.slice(0, key.indexOf("/"))));
    const text = trim(lines).map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(this.#path(key), text.join(""), { mode: 0o600 });
  }
}

/** Leaves the kept lines. */
function trim(lines: PodLine[]): PodLine[] {
  let characters = 0;
  let from = lines.length;
  while (from > 0 && lines.length - from < KEPT_LINES) {
    characters += lines[from - 1]?.text.length ?? 0;
    if (characters > KEPT_CHARACTERS && from < lines.length) break;
    from--;
  }
  lines.splice(0, from);
  return lines;
}
