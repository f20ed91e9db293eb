import { Mutex } from "../../../../util/index.ts";
import { formatLeaseId } from "../../../../wire/index.ts";
import { type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import type { NetworkState } from "../api/answers.ts";
import { type DriverContext, type EventInput, recordEvent } from "../context.ts";
import type { LeaseRecord } from "../journal.ts";
import { Notices } from "../replica/notices.ts";
import type { Observed } from "../replica/observe.ts";
import { ReplicaHistory } from "../replica/replica.ts";

/** A volume or layer of a replica that is full. */
export interface FullVolume {
  readonly service: string;
  readonly replica: string;
  /** The noun of it. */
  readonly what: string;
  /** Whether the next container has it too. */
  readonly outlives: boolean;
  /** For the tenant. */
  readonly text: string;
}

/** Full state of one lease: the durable record, the last observation, and events in this process. */
export class LeaseState {
  readonly context: DriverContext;
  readonly namespace: string;
  /** Last observation, without containers that are on their way out. */
  units: readonly Observed[] = [];
  network: NetworkState | undefined;
  /** Last fault per service that belongs to no single replica (pull, volume, update). */
  readonly errors = new Map<string, string>();
  /** Volumes and layers of replicas that are full, by their names. */
  full: ReadonlyMap<string, FullVolume> = new Map();
  /** Ids of ready containers that the node ports lead to, where their service has any. */
  reached: ReadonlySet<string> = new Set();
  /** Ids of containers that are being removed. */
  readonly leaving = new Set<string>();
  readonly restarts = new Restarts();
  readonly notices: Notices;
  readonly #histories = new Map<string, ReplicaHistory>();
  readonly #writes = new Mutex();
  #record: LeaseRecord;
  #gone = false;

  constructor(context: DriverContext, record: LeaseRecord) {
    this.context = context;
    this.#record = record;
    this.namespace = leaseNamespace(record.spec.id);
    this.notices = new Notices(context.log.child({ lease: formatLeaseId(record.spec.id) }));
  }

  get record(): LeaseRecord {
    return this.#record;
  }

  get spec(): LeaseSpec {
    return this.#record.spec;
  }

  /** Changes the durable record; it holds when the promise resolves. */
  update(change: (record: LeaseRecord) => LeaseRecord): Promise<void> {
    return this.#writes.run(async () => {
      // Work that was still in progress when the lease was removed must not bring its record back.
      if (this.#gone) return;
      const next = change(this.#record);
      await this.context.journal.save(next);
      this.#record = next;
    });
  }

  /** Removes record and events, after everything else of the lease. */
  retire(): Promise<void> {
    return this.#writes.run(async () => {
      this.#gone = true;
      this.context.events.remove(this.namespace);
      await this.context.journal.remove(this.namespace);
    });
  }

  history(service: string, index: number, config: string): ReplicaHistory {
    const key = `${service}/${index}/${config}`;
    let history = this.#histories.get(key);
    if (history === undefined) {
      history = new ReplicaHistory(this.context.settings.timing.backoff);
      this.#histories.set(key, history);
    }
    return history;
  }

  historyOf(unit: Pick<Observed, "service" | "index" | "config">): ReplicaHistory {
    return this.history(unit.service, unit.index, unit.config);
  }

  /** A manifest is a new try: faults of earlier ones that no longer run do not count against it. */
  beginAnew(): void {
    this.errors.clear();
    this.#forget(() => true);
  }

  event(input: EventInput): void {
    if (!this.#gone) recordEvent(this.context, this.spec, input);
  }

  /** Forgets what belongs to configurations that are gone. */
  prune(): void {
    this.#forget((history) => history.failures === 0);
  }

  #forget(isOld: (history: ReplicaHistory) => boolean): void {
    const live = new Set(this.units.map((unit) => `${unit.service}/${unit.index}/${unit.config}`));
    for (const [key, history] of this.#histories) {
      if (!live.has(key) && isOld(history)) this.#histories.delete(key);
    }
  }
}

/** Containers that a tenant wants to start again, each with the start that it had at that time. */
export class Restarts {
  readonly #wanted = new Map<string, number>();

  /** Adds the running containers of a service; stopped ones are started anyway. */
  add(service: string, units: readonly Observed[]): void {
    const present = new Set(units.map(({ id }) => id));
    for (const id of this.#wanted.keys()) if (!present.has(id)) this.#wanted.delete(id);
    for (const unit of units) if (unit.service === service && unit.running) this.#wanted.set(unit.id, unit.startedAt);
  }

  /** Containers that are still to be started again, or that were removed since the last wish. */
  get size(): number {
    return this.#wanted.size;
  }

  /** The next of these containers to stop: none while one is not ready; other services continue. */
  next(units: readonly Observed[], isReady: (unit: Observed) => boolean): Observed | undefined {
    const waiting = units.filter((unit) => this.#isWaiting(unit));
    if (waiting.length === 0) return undefined;
    // A container that is not ready serves no requests, so it can be first.
    const idle = waiting.find((unit) => !isReady(unit));
    if (idle !== undefined) return idle;
    return units.every((unit) => unit.running && isReady(unit)) ? waiting[0] : undefined;
  }

  #isWaiting(unit: Observed): boolean {
    const started = this.#wanted.get(unit.id);
    if (started === undefined) return false;
    if (unit.running && unit.startedAt === started) return true;
    this.#wanted.delete(unit.id);
    return false;
  }
}
