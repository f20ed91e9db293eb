import { clientNetwork } from "../../../util/index.ts";

/** Limits on the clients of a lease's host ports. */
export interface PortLimits {
  /** Open connections from one address. */
  readonly connectionsPerAddress: number;
  /** Open connections over all ports of the lease, and as many clients of each UDP port. */
  readonly connectionsPerLease: number;
  /** A connection without a byte in either direction is closed after this. */
  readonly idleMs: number;
}

export const DEFAULT_PORT_LIMITS: PortLimits = {
  connectionsPerAddress: 256,
  connectionsPerLease: 1024,
  idleMs: 3_600_000,
};

/** The share of each of two carriers of the same ports. */
export function halfOf(limits: PortLimits): PortLimits {
  const half = (count: number) => Math.max(Math.floor(count / 2), 1);
  const { connectionsPerAddress, connectionsPerLease } = limits;
  return {
    ...limits,
    connectionsPerAddress: half(connectionsPerAddress),
    connectionsPerLease: half(connectionsPerLease),
  };
}

/** Counts the connections of one lease. */
export class ConnectionGuard {
  readonly #limits: PortLimits;
  readonly #addresses = new Map<string, number>();
  #all = 0;
  /** Whether another carrier gives the other half. */
  shared = false;

  constructor(limits: PortLimits) {
    this.#limits = limits;
  }

  get limits(): PortLimits {
    return this.shared ? halfOf(this.#limits) : this.#limits;
  }

  /** Undefined where a limit is reached; otherwise to be called when the connection has ended. */
  admit(client: string): (() => void) | undefined {
    const address = clientNetwork(client);
    const open = this.#addresses.get(address) ?? 0;
    const { connectionsPerAddress, connectionsPerLease } = this.limits;
    if (this.#all >= connectionsPerLease || open >= connectionsPerAddress) return undefined;
    this.#all++;
    this.#addresses.set(address, open + 1);
    return () => this.#leave(address);
  }

  #leave(address: string): void {
    this.#all--;
    const left = (this.#addresses.get(address) ?? 1) - 1;
    if (left === 0) this.#addresses.delete(address);
    else this.#addresses.set(address, left);
  }
}
