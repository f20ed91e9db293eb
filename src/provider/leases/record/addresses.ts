import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import { areSisters, type ClusterAddresses, endpointNames } from "../../cluster/index.ts";
import type { LeaseRecord } from "./record.ts";

/** Leases of one deployment that take a manifest at the same time. */
export interface Together {
  readonly ids: readonly LeaseKey[];
  /** Names of all leased addresses of the new manifests. */
  readonly endpoints: readonly string[];
}

/** Names of the leased addresses that the lease's manifest asks for. */
export function wantedEndpoints({ group, phase }: Pick<LeaseRecord, "group" | "phase">): readonly string[] {
  return group === null || phase === "closing" ? [] : endpointNames(group);
}

/** Endpoints whose address is held by another deployment of the same owner. */
export function withheldEndpoints(record: LeaseRecord, addresses: ClusterAddresses): string[] {
  const held = addresses.heldBy(record.id);
  return wantedEndpoints(record).filter((each) => !held.includes(each));
}

/**
 * Whether the lease has exactly the addresses that it asks for and no other deployment has. A workload whose manifest
 * is lost keeps its addresses.
 */
export function hasItsAddresses(record: LeaseRecord, addresses: ClusterAddresses): boolean {
  const { id, adopted, group } = record;
  if (adopted && group === null) return true;
  const wanted = wantedEndpoints(record);
  const canClaim = (endpoint: string) =>
    addresses.holdersOf(id.owner, endpoint).every((holder) => areSisters(holder, id));
  return addresses.heldBy(id).every((each) => wanted.includes(each)) && !wanted.some(canClaim);
}

/** Whether the leases give up, by their new manifests, as many addresses as they need new ones. */
export function makesRoom({ ids, endpoints }: Together, addresses: ClusterAddresses): boolean {
  const own = new Set(ids.map(formatLeaseId));
  const [{ owner } = { owner: "" }] = ids;
  const areOwn = (endpoint: string) => addresses.holdersOf(owner, endpoint).every((id) => own.has(formatLeaseId(id)));
  const held = new Set(ids.flatMap((id) => addresses.heldBy(id)));
  const given = [...held].filter((each) => !endpoints.includes(each) && areOwn(each));
  const missing = endpoints.filter((each) => addresses.holdersOf(owner, each).length === 0);
  return missing.length <= given.length;
}
