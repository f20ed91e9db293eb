import { formatLeaseId } from "../../../wire/index.ts";
import type { RouteTarget } from "../../cluster/index.ts";

/**
 * Requests and websockets of one lease that may be open at once: a quarter of all connections. Otherwise a tenant whose
 * visitors come from many addresses, and hold what they open, would keep all others out.
 */
export const OPEN_PER_LEASE = 1_024;

/** Counts what is open of each lease. */
export class LeaseShares {
  readonly #most: number;
  readonly #open = new Map<string, number>();
  readonly #leases = new WeakMap<RouteTarget, string>();

  constructor(most = OPEN_PER_LEASE) {
    this.#most = most;
  }

  /** Undefined where the lease has its share; otherwise to be called, once or more, when it has ended. */
  enter(target: RouteTarget): (() => void) | undefined {
    const lease = this.leaseOf(target);
    const count = this.#open.get(lease) ?? 0;
    if (count >= this.#most) return undefined;
    this.#open.set(lease, count + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#leave(lease);
      isOpen = false;
    };
  }

  /** The text of the target's lease. */
  leaseOf(target: RouteTarget): string {
    const known = this.#leases.get(target);
    if (known !== undefined) return known;
    const lease = formatLeaseId(target.lease);
    this.#leases.set(target, lease);
    return lease;
  }

  #leave(lease: string): void {
    const left = (this.#open.get(lease) ?? 1) - 1;
    if (left === 0) this.#open.delete(lease);
    else this.#open.set(lease, left);
  }
}
