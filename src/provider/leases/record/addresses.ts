import { areSisters, type ClusterAddresses, endpointNames } from "../../cluster/index.ts";
import type { LeaseRecord } from "./record.ts";

/** Names of the leased addresses that the lease's manifest asks for. */
export function wantedEndpoints({ group, phase }: Pick<LeaseRecord, "group" | "phase">): readonly string[] {
  return group === null || phase === "closing" ? [] : endpointNames(group);
}

/** Those of them that another deployment of the same owner has. */
export function withheldEndpoints(record: LeaseRecord, addresses: ClusterAddresses): string[] {
  const held = addresses.heldBy(record.id);
  return wantedEndpoints(record).filter((each) => !held.includes(each));
}

/**
 * Whether the lease has all addresses that it asks for and that no other deployment has, and no others. What a workload whose
 * manifest is lost asks for is not known: it keeps what it has.
 */
export function hasItsAddresses(record: LeaseRecord, addresses: ClusterAddresses): boolean {
  const { id, adopted, group } = record;
  if (adopted && group === null) return true;
  const wanted = wantedEndpoints(record);
  const canClaim = (endpoint: string) =>
    addresses.holdersOf(id.owner, endpoint).every((holder) => areSisters(holder, id));
  return addresses.heldBy(id).every((each) => wanted.includes(each)) && !wanted.some(canClaim);
}
