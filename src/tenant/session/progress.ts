import type { Clock } from "../../util/index.ts";
import type { OrderKey } from "../../wire/index.ts";
import type { Offer } from "./offer.ts";

/** The steps of a deployment that are timed. */
export type StepName = "certificate" | "order" | "bid" | "lease" | "update" | "manifest" | "ready" | "first-200";

/** A finished step and how long it took. */
export interface StepTime {
  readonly name: StepName;
  readonly ms: number;
}

/** The awaited event of a deployment; the reason is that of the last failure, where there was one. */
export type Wait =
  | { readonly for: "node" | "user" | "services"; readonly reason?: string }
  /** The block with a transaction of the deployment. */
  | { readonly for: "order" | "lease" | "update" }
  /** The first bid on some orders; then more bids until a height. */
  | { readonly for: "bids"; readonly height: bigint; readonly orders: readonly OrderKey[] }
  | { readonly for: "more-bids"; readonly until: bigint; readonly bids: number }
  /** A provider's gateway, and its acceptance of the manifest. */
  | { readonly for: "gateway" | "manifest"; readonly provider: string; readonly reason?: string }
  /** An answer of a service from outside. */
  | { readonly for: "port"; readonly host: string; readonly port: number }
  | { readonly for: "address"; readonly url: string };

/** Why a provider has not bid, and the tenant's remedy. */
export interface ProviderRefusal {
  readonly provider: string;
  readonly reason: string;
  readonly remedy?: string;
}

/** Information about a deployment, beside steps and waits. */
export type Note =
  /** The bids of a group, cheapest first, and the measured seconds between blocks. */
  | { readonly kind: "bids"; readonly group: string; readonly offers: readonly Offer[]; readonly blockSeconds: number }
  /** Providers that do not bid on some orders. */
  | { readonly kind: "refusals"; readonly orders: readonly OrderKey[]; readonly refusals: readonly ProviderRefusal[] }
  /** A bid that gets no lease, because its provider cannot be used. */
  | { readonly kind: "unusable"; readonly provider: string; readonly reason: string }
  /** A deployment that an earlier run has begun, or ended. */
  | { readonly kind: "continued"; readonly dseq: bigint }
  /** The sentence says all. */
  | { readonly kind: "text" };

/** Receives the progress of a deployment: as sentences in English, and as values for pages. */
export interface DeployReporter {
  /** A step is done. `ms` is its duration, `at` the time since the start, both in milliseconds. */
  step(step: StepTime & { readonly at: number }, text: string): void;
  /** The awaited event, shown while nothing else happens; empty during a question. */
  waiting(text: string, wait: Wait): void;
  /** Other information: tables, refusals, continued steps. May have several lines. */
  note(text: string, note: Note): void;
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

  waiting(text: string, wait: Wait): void {
    this.#reporter.waiting(text, wait);
  }

  note(text: string, note: Note = { kind: "text" }): void {
    this.#reporter.note(text, note);
  }
}

/** A reporter without output. */
export const SILENT: DeployReporter = { step: () => {}, waiting: () => {}, note: () => {} };
