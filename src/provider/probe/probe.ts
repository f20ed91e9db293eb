import { type Clock, evenClock, type Logger, waitAtMost } from "../../util/index.ts";
import { formatLeaseId } from "../../wire/index.ts";
import { type ClusterDriver, type ClusterNews, isProbeLease } from "../cluster/index.ts";
import { type HostFault, hostFault } from "../reasons.ts";
import { type TrialOptions, tryContainer } from "./trial.ts";

/** Whether a container runs here: not known yet, it did at the last trial, or it does not. */
export type ProbeState =
  | { readonly kind: "probing" }
  | { readonly kind: "passed" }
  | { readonly kind: "failed"; readonly fault: HostFault };

export interface ProbeOptions extends Omit<TrialOptions, "probe" | "driver"> {
  readonly driver: TrialOptions["driver"] & Pick<ClusterDriver, "probe">;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Called when the state has changed. */
  readonly changed: () => void;
}

const HOUR_MS = 3_600_000;
/** Milliseconds until the next trial after a failure: doubled each time. */
const RETRY = { first: 15_000, most: 300_000 };
/** The last minutes: a host on which every lease fails for so long gets no more leases. */
const WINDOW_MS = 300_000;
/** Leases that are remembered; older ones are forgotten. */
const MOST_LEASES = 1_000;
/** Milliseconds for which a stop waits for the removal of a trial. */
const CLOSE_MS = 10_000;

/**
 * Tries a container at the start, when the cluster comes back, every hour, and when every lease of the last minutes failed
 * to start. The provider bids only while the last trial passed.
 */
export class Probe {
  readonly #options: ProbeOptions;
  readonly #clock: Clock;
  #state: ProbeState = { kind: "probing" };
  /** The trial under way, and its outcome, which comes before its remains are gone. */
  #running: Promise<void> | undefined;
  #verdict: Promise<void> | undefined;
  /** Another trial is wanted after this one. */
  #isWanted = false;
  #failures = 0;
  #isStopped = false;
  readonly #stop = new AbortController();
  #cancel: () => void = () => {};
  #unwatch: () => void = () => {};
  /** Time of the last start of a lease's container. */
  #startedAt = Number.NEGATIVE_INFINITY;
  /** The lease whose failure made the last trial necessary. */
  #failing: string | undefined;
  /** Leases that fail while a trial passes do not stop the bidding: their own files or images may be the cause. */
  readonly #excused = new Set<string>();

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? evenClock;
  }

  get state(): ProbeState {
    return this.#state;
  }

  /** Why no container runs here; undefined while that is not known. */
  get fault(): HostFault | undefined {
    return this.#state.kind === "failed" ? this.#state.fault : undefined;
  }

  /** Begins the first trial. */
  begin(): void {
    const { probe } = this.#options.driver;
    if (probe === undefined) {
      this.#become({ kind: "passed" });
      return;
    }
    this.#unwatch = probe.watch((news) => this.#heard(news));
    this.#try();
  }

  /** Resolves when no trial is awaited before the next bid. */
  async settled(): Promise<void> {
    if (this.#state.kind === "probing") await this.#verdict;
  }

  /** Ends the trials; resolves when nothing of the last one is left, or its removal takes too long: the next start goes on with it. */
  async close(): Promise<void> {
    this.#isStopped = true;
    this.#stop.abort();
    this.#cancel();
    this.#unwatch();
    if (this.#running !== undefined) await waitAtMost(this.#clock, CLOSE_MS, this.#running);
  }

  #try(): void {
    const { probe } = this.#options.driver;
    if (this.#isStopped || probe === undefined) return;
    this.#cancel();
    this.#isWanted = this.#running !== undefined;
    if (this.#isWanted) return;
    const began = this.#clock.now();
    this.#verdict = new Promise((resolve) => {
      const tell = (fault?: HostFault): void => {
        this.#over(fault, this.#clock.now() - began);
        resolve();
      };
      this.#running = tryContainer({ ...this.#options, probe, signal: this.#stop.signal }, tell).then(() =>
        this.#ended(),
      );
    });
  }

  #over(fault: HostFault | undefined, took: number): void {
    if (this.#isStopped) return;
    if (fault !== undefined) {
      this.#failures += 1;
      this.#become({ kind: "failed", fault });
      return;
    }
    this.#failures = 0;
    if (this.#failing !== undefined) this.#excused.add(this.#failing);
    this.#failing = undefined;
    this.#options.log.info("a container was tried and answers", { milliseconds: Math.round(took) });
    this.#become({ kind: "passed" });
  }

  /** Nothing of the last trial is left. */
  #ended(): void {
    this.#running = undefined;
    if (this.#isWanted) {
      this.#try();
      return;
    }
    const wait =
      this.#failures === 0 ? HOUR_MS : Math.min(RETRY.most, RETRY.first * 2 ** Math.min(this.#failures - 1, 10));
    if (!this.#isStopped) this.#cancel = this.#clock.after(wait, () => this.#try());
  }

  #heard(news: ClusterNews): void {
    if (news.kind === "returned") {
      this.#become({ kind: "probing" });
      this.#try();
      return;
    }
    if (isProbeLease(news.lease)) return;
    const lease = formatLeaseId(news.lease);
    if (news.kind === "started") {
      this.#startedAt = this.#clock.now();
      this.#excused.delete(lease);
    } else if (!this.#excused.has(lease)) this.#failed(lease, hostFault(news.reason, everyLease(news.cause)));
  }

  #failed(lease: string, fault: HostFault): void {
    if (this.#state.kind !== "passed" || this.#clock.now() - this.#startedAt < WINDOW_MS) return;
    if (this.#excused.size >= MOST_LEASES) this.#excused.clear();
    this.#failing = lease;
    this.#become({ kind: "failed", fault });
    this.#try();
  }

  #become(state: ProbeState): void {
    if (this.#isStopped) return;
    this.#state = state;
    this.#options.changed();
  }
}

function everyLease(cause: string): string {
  return `no lease of the last ${WINDOW_MS / 60_000} minutes could be started, the last one: ${cause}`;
}
