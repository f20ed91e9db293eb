import type { EngineApi, LogQuery } from "../api/api.ts";
import { isNotFound } from "../api/failure.ts";
import { readLines, type TimedLine } from "../api/logs.ts";
import type { Observed } from "../replica/observe.ts";
import { Shown } from "./shown.ts";
import { isFrom, sinceQuery } from "./since.ts";

/** Wait before a log that may have more is opened again. */
const REOPEN_MS = 1_000;

export interface FollowOptions {
  readonly api: Pick<EngineApi, "logs">;
  /** Takes a line; resolves when there is room for the next. */
  readonly show: (line: TimedLine) => Promise<void>;
  readonly signal: AbortSignal;
  readonly tail: number;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** How a stream of the engine ended: `gone` if it says that there is no such container. */
type End = "ended" | "broken" | "gone";

/**
 * Follows the log of one container. The end of a stream does not say that nothing comes any more: engines end it with every
 * stop, Podman also because of a stop that was before it, and one that restarts in whatever way. So the log is opened again
 * behind the last line, until neither the lease nor the engine has the container.
 */
export class Follower {
  readonly #options: FollowOptions;
  readonly #shown = new Shown();
  readonly #begun = Date.now();
  readonly #firstStart: number;
  #unit: Observed;
  #isThere = true;
  /** How often the log was opened. */
  #opened = 0;
  #wake: () => void = () => {};

  constructor(unit: Observed, options: FollowOptions) {
    this.#unit = unit;
    this.#firstStart = unit.startedAt;
    this.#options = options;
  }

  /** A newer observation of the container; undefined where the lease has it no longer. */
  seen(unit: Observed | undefined): void {
    const before = this.#state();
    this.#isThere = unit !== undefined;
    this.#unit = unit ?? this.#unit;
    if (this.#state() !== before) this.#wake();
  }

  /** Until the signal, or until the container is gone. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const state = this.#state();
      const { running } = this.#unit;
      const end = await this.#stream();
      if (signal.aborted || (end === "gone" && !this.#isThere)) return;
      // What was opened after the program had stopped is read to its end; no other stream is sure to be.
      const isRead = end === "ended" && this.#isThere && !running;
      if (this.#state() === state) await this.#pause(isRead ? undefined : REOPEN_MS);
    }
  }

  /** A log is opened anew when it changes. */
  #state(): string {
    const { startedAt, running } = this.#unit;
    return `${this.#isThere} ${running} ${startedAt}`;
  }

  async #stream(): Promise<End> {
    const { api, signal, show, tail, since } = this.#options;
    const isNew = this.#shown.filter(tail);
    const query = { follow: true, signal, ...this.#query() };
    this.#opened++;
    try {
      for await (const line of readLines(api, this.#unit.id, query)) {
        if (!isFrom(line, since) || !isNew(line)) continue;
        this.#shown.add(line);
        await show(line);
      }
      return "ended";
    } catch (error) {
      return isNotFound(error) ? "gone" : "broken";
    }
  }

  /** As long as nothing was shown, the wishes of the caller still hold. */
  #query(): Pick<LogQuery, "tail" | "since"> {
    const { tail, since } = this.#options;
    const { second } = this.#shown;
    if (second !== undefined) return { tail: -1, since: second };
    const from = this.#newFrom();
    if (from === undefined) return { tail, ...sinceQuery(since) };
    return { tail: -1, ...sinceQuery(Math.max(from, since ?? 0)) };
  }

  /** Since when every line is new although not all lines were asked for: a later start or, for none at all, the call. */
  #newFrom(): number | undefined {
    const { tail } = this.#options;
    const { startedAt } = this.#unit;
    if (tail > 0) return startedAt === this.#firstStart ? undefined : startedAt;
    return tail === 0 && this.#opened > 0 ? this.#begun : undefined;
  }

  /** Until the state changes, the signal, or the time. */
  #pause(milliseconds?: number): Promise<void> {
    const { signal } = this.#options;
    return new Promise((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds);
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      this.#wake = done;
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
