import { smallest } from "../../../../util/index.ts";
import { type BackoffPolicy, restartDelay } from "../../shared/index.ts";

/** So often in a row may every replica of a service be ended before any waits. */
const AT_ONCE = 2;

/** How a node ended a replica for good. */
export interface Ending {
  readonly service: string;
  /** Replicas of the service. */
  readonly count: number;
  /** Place of the replica, where its workload gives places. */
  readonly ordinal: number | undefined;
  /** Why, for the tenant. */
  readonly text: string;
}

interface Rest {
  readonly ordinal: number | undefined;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

interface Row {
  ends: number;
  /** Since when nothing has ended, waits included. */
  calmSince: number;
  rests: readonly Rest[];
  text: string;
}

/**
 * Replicas that wait before they start again, because nodes have ended them several times in a row. A cluster itself
 * replaces what a node ended at once and for ever, so a program that fills its disk would make ended pods without end.
 */
export class Rests {
  readonly #policy: BackoffPolicy;
  readonly #rows = new Map<string, Row>();

  constructor(policy: BackoffPolicy) {
    this.#policy = policy;
  }

  /** Milliseconds that the replica is to wait; 0 where the cluster may replace it at once. */
  add({ service, count, ordinal, text }: Ending, now: number): number {
    const before = this.#rows.get(service);
    const isRow = before !== undefined && now - before.calmSince < this.#policy.resetAfter;
    const ends = isRow ? before.ends + 1 : 1;
    // All replicas of a node that runs out of something end together, and that is once.
    const times = Math.ceil(ends / Math.max(1, count));
    const wait = times <= AT_ONCE ? 0 : restartDelay(times - AT_ONCE + 1, this.#policy);
    const rests = this.#resting(service, now);
    const until = now + wait;
    const more = wait === 0 ? rests : [...rests, { ordinal, until }];
    this.#rows.set(service, { ends, calmSince: until, rests: more, text });
    return wait;
  }

  /**
   * Current number of replicas of a service. A workload with fixed places removes replicas from its end, so one of
   * these waits only if all behind it do, and no working replica is ended for it.
   */
  replicas(service: string, count: number, now: number): number {
    const rests = this.#resting(service, now);
    const places = new Set(rests.flatMap(({ ordinal }) => ordinal ?? []));
    if (places.size === 0) return Math.max(0, count - rests.length);
    let left = count;
    while (places.has(left - 1)) left--;
    return left;
  }

  /** When the first wait ends, in milliseconds since the epoch. */
  next(now: number): number | undefined {
    const ends = [...this.#rows.keys()].flatMap((service) => this.#resting(service, now)).map(({ until }) => until);
    return ends.length === 0 ? undefined : smallest(ends, Number.POSITIVE_INFINITY);
  }

  /** Why a replica of the service waits, for its tenant; undefined where none does. */
  reason(service: string, now: number): string | undefined {
    const { ends = 0, text = "" } = this.#rows.get(service) ?? {};
    const [first] = this.#resting(service, now);
    if (first === undefined) return undefined;
    const time = new Date(first.until).toISOString().slice(0, 19);
    return `${text}; that happened ${ends} times in a row, so it starts again later each time, next at ${time}Z`;
  }

  /** Nothing waits any more: the service is another, or its tenant wants it to start. */
  forget(service: string): void {
    this.#rows.delete(service);
  }

  clear(): void {
    this.#rows.clear();
  }

  /** The one whose wait ends first comes first. */
  #resting(service: string, now: number): readonly Rest[] {
    const rests = this.#rows.get(service)?.rests ?? [];
    return rests.filter(({ until }) => until > now).sort((a, b) => a.until - b.until);
  }
}
