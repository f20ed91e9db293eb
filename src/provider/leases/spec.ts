import type { LeaseSpec } from "../cluster/index.ts";
import { withLeaseVariables } from "./env.ts";
import type { LeaseRecord } from "./record/record.ts";

/** What the cluster is asked for; undefined while there is no manifest. */
export function leaseSpec(record: LeaseRecord, publicHostname: string): LeaseSpec | undefined {
  const { id, group, version, generation, hosts, ports } = record;
  if (group === null) return undefined;
  const services = group.services.map((service) => withLeaseVariables(service, id, publicHostname));
  return { id, group: { ...group, services }, version, generation, hosts: new Map(Object.entries(hosts)), ports };
}
