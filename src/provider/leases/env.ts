import type { ManifestService } from "../../sdl/index.ts";
import type { LeaseKey } from "../../wire/index.ts";

/** The service with the variables that tell a program where it runs; what the tenant set himself stays. */
export function withLeaseVariables(service: ManifestService, id: LeaseKey, publicHostname: string): ManifestService {
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
