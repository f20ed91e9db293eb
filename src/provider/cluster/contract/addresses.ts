import type { ManifestExpose, ManifestGroup } from "../../../sdl/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";

/** A route from a leased address to a service of its lease. */
export interface LeasedAddress {
  /** The name of the address in the deployment file. */
  readonly endpoint: string;
  readonly address: string;
  readonly service: string;
  /** Port inside the container. */
  readonly port: number;
  /** Port of the address. */
  readonly externalPort: number;
  readonly proto: "TCP" | "UDP";
  /** Whether the cluster reports that the route works. */
  readonly assigned: boolean;
  /** Why it does not, where that is known. */
  readonly problem?: string;
}

/**
 * Leased IP addresses, from a pool of the operator. At one provider an owner has one address per name; the first
 * deployment that claims the name holds it, until it gives the address up or the address migrates to another deployment
 * of the same owner. Leases of one deployment share the address, with separate ports.
 */
export interface ClusterAddresses {
  /**
   * Gives the lease the addresses of these names, durably, besides its current ones. A name held by another deployment
   * of the owner stays there. Rejects with `clusterErrors.noAddresses`, and takes nothing, if too few are left.
   */
  claim(id: LeaseKey, endpoints: readonly string[]): Promise<void>;
  /**
   * Releases the lease's other addresses: an address that no sister holds returns to the pool once it no longer leads
   * to the lease.
   */
  retain(id: LeaseKey, endpoints: readonly string[]): Promise<void>;
  /** The addresses that the owner has under these names are this lease's from now on, durably, and no other deployment's. */
  migrate(to: LeaseKey, endpoints: readonly string[]): Promise<void>;
  /** Names of the addresses that the lease has. Synchronous: this process is the only one that gives them out. */
  heldBy(id: LeaseKey): readonly string[];
  /** Leases that hold this owner's named address (all of one deployment); empty if it is free. */
  holdersOf(owner: string, endpoint: string): readonly LeaseKey[];
}

/** Whether both are leases of one deployment at one provider, for different groups. */
export function areSisters(one: LeaseKey, other: LeaseKey): boolean {
  const isOfOne = one.owner === other.owner && one.dseq === other.dseq && one.provider === other.provider;
  return isOfOne && one.gseq !== other.gseq;
}

/** Names of the leased addresses that a group asks for. */
export function endpointNames({ services }: ManifestGroup): string[] {
  return [...new Set(services.flatMap(({ expose }) => expose.filter(isLeasedIpExpose).map(({ ip }) => ip)))];
}

/** Whether the expose has a port of a leased address. */
export function isLeasedIpExpose({ global, ip }: ManifestExpose): boolean {
  return global && ip !== "";
}
