import type { Clock } from "../../util/index.ts";

/** The steps of a deployment that are timed. */
export type StepName = "certificate" | "order" | "bid" | "lease" | "update" | "manifest" | "ready" | "first-200";

/** A finished step and how long it took. */
export interface StepTime {
  readonly name: StepName;
  readonly ms: number;
}

/** Receives the progress of a deployment. */
export interface DeployReporter {
  /** A step is done. `ms` is its duration, `at` the time since the start, both in milliseconds. */
  step(step: StepTime & { readonly at: number }, text: string): void;
  /** The awaited event, shown while nothing else happens; empty during a question. */
  waiting(text: string): void;
  /** Other information: tables, refusals, continued steps. May have several lines. */
  note(text: string): void;
}

/** Measures steps and passes them on. */
export class Progress {
  readonly #clock: Clock;
  readonly #reporter: DeployReporter;
  readonly #start: number;
  readonly #steps: StepTime[] = [];
  #begun: number;

  constructor(clock: Clock, reporter: DeployReporter) {
    this.#clock = clock;
    this.#reporter = reporter;
    this.#start = clock.now();
    this.#begun = this.#start;
  }

  get steps(): readonly StepTime[] {
    return this.#steps;
  }

  /** A step is done; the next one begins. */
  done(name: StepName, text: string): void {
    const now = this.#clock.now();
    const step = { name, ms: Math.round(now - this.#begun) };
    this.#begun = now;
    this.#steps.push(step);
    this.#reporter.step({ ...step, at: Math.round(now - this.#start) }, text);
  }

  waiting(text: string): void {
    this.#reporter.waiting(text);
  }

  note(text: string): void {
    this.#reporter.note(text);
  }
}

/** A reporter without output. */
export const SILENT: DeployReporter = { step: () => {}, waiting: () => {}, note: () => {} };
