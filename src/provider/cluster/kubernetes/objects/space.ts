import { isPersistent, type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import { leasedServices } from "./addresses.ts";
import { KIND, type Wanted, wanted } from "./kinds.ts";
import { leaseIdAnnotation, leaseIdLabels, leaseLabels } from "./names.ts";
import { sizes } from "./pod/resources.ts";
import { nodePortCount } from "./services.ts";
import type { ObjectSettings } from "./settings.ts";

/** Label by which clusters hold the pods of a namespace to a standard. */
const ENFORCED = "pod-security.kubernetes.io/enforce";

/** The namespace of a lease, in which all of it lies. */
export function namespaceObject({ id }: LeaseSpec, { provider, podSecurity }: ObjectSettings): Wanted {
  const labels = { ...leaseLabels(provider, id), ...leaseIdLabels(id), [ENFORCED]: podSecurity };
  return wanted(KIND.namespace, { name: leaseNamespace(id), labels, annotations: leaseIdAnnotation(id) }, {});
}

/** Twice what runs: old replicas stay until new ones are ready, and take a while to end. */
const ROOM = 2n;

/** The most that the whole lease can use, whatever goes wrong. */
export function quotaObject(spec: LeaseSpec, settings: ObjectSettings): Wanted {
  const total = { pods: 0n, cpu: 0n, memory: 0n, storage: 0n, claims: 0n, claimed: 0n, ports: 0 };
  for (const service of spec.group.services) {
    const count = BigInt(service.count);
    const { cpu, memory, storage } = sizes(service);
    total.pods += count;
    total.cpu += count * cpu;
    total.memory += count * memory;
    total.storage += count * storage;
    for (const { size } of service.resources.storage.filter(isPersistent)) {
      total.claims += count;
      total.claimed += count * BigInt(size.val);
    }
    total.ports += nodePortCount(spec, service);
  }
  const services = BigInt(spec.group.services.length);
  const hard = {
    pods: (ROOM * total.pods + services).toString(),
    "limits.cpu": `${(ROOM + 1n) * total.cpu}m`,
    "limits.memory": ((ROOM + 1n) * total.memory).toString(),
    "limits.ephemeral-storage": ((ROOM + 1n) * total.storage).toString(),
    persistentvolumeclaims: total.claims.toString(),
    "requests.storage": total.claimed.toString(),
    "services.nodeports": total.ports.toString(),
    "services.loadbalancers": leasedServices(spec).length.toString(),
  };
  const metadata = {
    name: "lease",
    namespace: leaseNamespace(spec.id),
    labels: leaseLabels(settings.provider, spec.id),
  };
  return wanted(KIND.quota, metadata, { spec: { hard } });
}
