import type { ManifestService } from "../../sdl/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import type { LeaseSpec } from "../cluster/index.ts";
import { type LeaseRecord, newRecord } from "./record/record.ts";

/** The spec for the cluster; undefined while there is no manifest. */
export function leaseSpec(record: LeaseRecord, publicHostname: string): LeaseSpec | undefined {
  const { id, group, version, generation, hosts, ports } = record;
  if (group === null) return undefined;
  const services = group.services.map((service) => withLeaseVariables(service, id, publicHostname));
  return { id, group: { ...group, services }, version, generation, hosts: new Map(Object.entries(hosts)), ports };
}

/** A new record for a lease whose record was lost, made from the running spec. */
export function recordOfSpec(spec: LeaseSpec, firstSeen: number, publicHostname: string): LeaseRecord {
  const { id, group, version, generation, hosts, ports } = spec;
  const added = new Set(leaseVariables(id, publicHostname).map(([name, value]) => `${name}=${value}`));
  const services = group.services.map((service) => {
    const env = service.env?.filter((entry) => !added.has(entry)) ?? [];
    return { ...service, env: env.length === 0 ? null : env };
  });
  const known = { group: { ...group, services }, version, generation, hosts: Object.fromEntries(hosts), ports };
  return { ...newRecord(id, firstSeen), phase: "deploying", ...known };
}

/** The service with the variables that tell a program where it runs; what the tenant has set is kept. */
function withLeaseVariables(service: ManifestService, id: LeaseKey, publicHostname: string): ManifestService {
  const own = new Set((service.env ?? []).map((entry) => entry.split("=", 1)[0]));
  const added = leaseVariables(id, publicHostname).filter(([name]) => !own.has(name));
  return { ...service, env: [...(service.env ?? []), ...added.map(([name, value]) => `${name}=${value}`)] };
}

function leaseVariables(id: LeaseKey, publicHostname: string): readonly (readonly [string, string])[] {
  return [
    ["SVC_GROUP_SEQUENCE", String(id.gseq)],
    ["SVC_DEPLOYMENT_SEQUENCE", String(id.dseq)],
    ["SVC_ORDER_SEQUENCE", String(id.oseq)],
    ["SVC_OWNER", id.owner],
    ["SVC_PROVIDER", id.provider],
    ["SVC_CLUSTER_PUBLIC_HOSTNAME", publicHostname],
  ];
}
