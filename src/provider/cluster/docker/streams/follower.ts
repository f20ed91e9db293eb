import { largest } from "../../../../util/index.ts";
import { type LineBudget, lastLines } from "../../shared/index.ts";
import type { EngineApi, LogQuery } from "../api/api.ts";
import { isNotFound } from "../api/failure.ts";
import { LineReader, readLines, type TimedLine } from "../api/logs.ts";
import type { Observed } from "../replica/observe.ts";
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
  readonly budget: LineBudget;
  /** Whether the engine gives the last records of a log by themselves. */
  readonly hasTail: boolean;
}

type Lines = AsyncIterable<TimedLine> | Iterable<TimedLine>;

/** How a stream of the engine ended: `gone` if it says that there is no such container. */
type End = "ended" | "broken" | "gone";

/**
 * Follows the log of one container. The end of a stream does not mean the end of the log: engines end it with every
 * stop, and Podman even for an earlier stop or any restart. So the log is opened again behind the last line, until
 * neither the lease nor the engine has the container. An unfinished line is shown when its program has ended.
 */
export class Follower {
  readonly #options: FollowOptions;
  #shown = new Shown();
  /** Reader of the last stream. */
  #reader = new LineReader();
  #unit: Observed;
  #isThere = true;
  /** Whether the last lines that were asked for are shown. */
  #hasBegun: boolean;
  #wake: () => void = () => {};

  constructor(unit: Observed, options: FollowOptions) {
    this.#unit = unit;
    this.#options = options;
    this.#hasBegun = options.tail < 0;
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
      if (signal.aborted) return;
      const isGone = end === "gone" && !this.#isThere;
      // A stream opened after the program had stopped is read to its end; a further one is not certain.
      const isRead = end === "ended" && this.#isThere && !running;
      if (isGone || isRead) await this.#showAll(this.#reader.end());
      if (isGone) return;
      if (this.#state() === state) await this.#pause(isRead ? undefined : REOPEN_MS);
    }
  }

  /** A log is opened anew when it changes. */
  #state(): string {
    const { startedAt, running } = this.#unit;
    return `${this.#isThere} ${running} ${startedAt}`;
  }

  async #stream(): Promise<End> {
    try {
      if (!this.#hasBegun) await this.#showLast();
      const { last } = this.#shown;
      const isNew = this.#shown.filter();
      const since = last === undefined ? this.#options.since : 1000 * Math.min(last, this.#reader.openSince ?? last);
      await this.#showAll(this.#read({ follow: true, tail: -1, ...sinceQuery(since) }), isNew);
      return "ended";
    } catch (error) {
      return isNotFound(error) ? "gone" : "broken";
    }
  }

  /** Shows the last lines of the log. Once there was one, a log that breaks off is read on from there. */
  async #showLast(): Promise<void> {
    const { show, tail: count, since, hasTail } = this.#options;
    const read = (tail: number) => {
      this.#shown = new Shown();
      return this.#wanted(this.#read({ follow: false, tail, ...sinceQuery(since) }));
    };
    for await (const line of lastLines({ count, read, textOf: ({ text }) => text, hasTail })) {
      this.#hasBegun = true;
      await show(line);
    }
    this.#hasBegun = true;
  }

  async #showAll(lines: Lines, isNew?: (line: TimedLine) => boolean): Promise<void> {
    for await (const line of this.#wanted(lines, isNew)) await this.#options.show(line);
  }

  /** Lines that were not read before, from the time that the caller asked for. */
  async *#wanted(lines: Lines, isNew = (_: TimedLine) => true): AsyncGenerator<TimedLine, undefined> {
    for await (const line of lines) {
      if (!isNew(line)) continue;
      this.#shown.add(line);
      if (isFrom(line, this.#options.since)) yield line;
    }
  }

  #read(query: Pick<LogQuery, "follow" | "tail" | "since">): AsyncGenerator<TimedLine, undefined> {
    const { api, signal, budget } = this.#options;
    this.#reader.close();
    this.#reader = new LineReader({ budget, start: this.#unit.startedAt / 1000 });
    return readLines(api, this.#unit.id, { ...query, signal, reader: this.#reader });
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

/** How far one stream of a program was read. */
interface Position {
  /** End of its last line, seconds since the epoch. */
  readonly last: number;
  /** Lines that ended then: some engines tell whole seconds only. */
  readonly count: number;
}

/** How far a log was read, so that it goes on where it is opened again: no line twice, and none left out. */
class Shown {
  readonly #streams = new Map<TimedLine["stream"], Position>();
  /** End of the first line. */
  #first = Number.NEGATIVE_INFINITY;

  /** End of the last line, seconds since the epoch; undefined while there is none. */
  get last(): number | undefined {
    if (this.#streams.size === 0) return undefined;
    const lasts = [...this.#streams.values()].map(({ last }) => last);
    return largest(lasts, this.#first);
  }

  add({ end, stream }: TimedLine): void {
    if (this.#streams.size === 0) this.#first = end;
    const before = this.#streams.get(stream);
    this.#streams.set(stream, { last: end, count: before?.last === end ? before.count + 1 : 1 });
  }

  /** Tells of the lines of a log that is opened now, in their order, whether they are new. */
  filter(): (line: TimedLine) => boolean {
    const positions = new Map(this.#streams);
    return ({ end, stream }) => {
      const position = positions.get(stream);
      if (position === undefined) return end >= this.#first;
      if (end !== position.last) return end > position.last;
      positions.set(stream, { last: end, count: position.count - 1 });
      return position.count <= 0;
    };
  }
}
