import type { ManifestService } from "../../../../sdl/index.ts";
import type { LeaseKey } from "../../../../wire/index.ts";
import { externalPort, type LeaseSpec, leaseNamespace, type ServiceRoute } from "../../contract/index.ts";
import { GROUP, KIND, LEASES_SPACE, type Wanted, wanted } from "./kinds.ts";
import { LABEL, leaseIdLabels, leaseLabels } from "./names.ts";
import { sizes } from "./pod/resources.ts";
import type { ObjectSettings } from "./settings.ts";

/** Keeps what describes a lease until the provider itself has removed the lease. */
const HELD = `${GROUP}/lease`;
/** The same once the lease has ended, with the height at which it did. */
const CLOSED = `${GROUP}/closed-at-`;

type Settings = Pick<ObjectSettings, "provider">;

/** The parts of a manifest's object besides the lease. */
export interface ManifestEnd {
  /** The height at which the lease ended, where it has. */
  readonly closedAt: bigint;
  /** Only this object is meant, and not a new one of the same name. */
  readonly uid: string;
}

/**
 * The operator's view of a lease, without private data of the tenant: variables and commands are only in the record.
 */
export function manifestObject(spec: LeaseSpec, settings: Settings, end?: ManifestEnd): Wanted {
  const { id, group, version, generation } = spec;
  const { owner, dseq, gseq, oseq, provider } = id;
  const body = {
    lease: { owner, dseq: dseq.toString(), gseq, oseq, provider },
    namespace: leaseNamespace(id),
    group: group.name,
    version,
    generation,
    services: group.services.map((service) => serviceText(spec, service)),
    ...(end === undefined ? {} : { closedAt: end.closedAt.toString() }),
  };
  return wanted(
    KIND.manifest,
    {
      name: leaseNamespace(id),
      namespace: LEASES_SPACE,
      labels: { ...leaseLabels(settings.provider, id), ...leaseIdLabels(id) },
      finalizers: [end === undefined ? HELD : `${CLOSED}${end.closedAt}`],
      ...(end === undefined ? {} : { uid: end.uid }),
    },
    { spec: body },
  );
}

function serviceText({ hosts, ports }: LeaseSpec, service: ManifestService): object {
  const { cpu, memory, storage } = sizes(service);
  return {
    name: service.name,
    image: service.image,
    count: service.count,
    resources: {
      cpu: `${cpu}m`,
      memory: memory.toString(),
      storage: storage.toString(),
      gpu: service.resources.gpu.units.val,
    },
    expose: service.expose.map((expose) => ({
      port: expose.port,
      externalPort: externalPort(expose),
      proto: expose.proto,
      global: expose.global,
    })),
    hosts: [...(hosts.get(service.name) ?? [])],
    nodePorts: ports.flatMap((each) => (each.service === service.name ? [each.hostPort] : [])),
  };
}

/** Which lease's service has a host name. */
export function hostObjects(id: LeaseKey, { target, hosts }: ServiceRoute, port: number, settings: Settings): Wanted[] {
  const { owner, dseq, gseq, oseq, provider } = id;
  const labels = { ...leaseLabels(settings.provider, id), [LABEL.service]: target.service };
  return hosts.map((hostname) =>
    wanted(
      KIND.host,
      { name: hostname, namespace: LEASES_SPACE, labels },
      {
        spec: {
          hostname,
          owner,
          dseq: dseq.toString(),
          gseq,
          oseq,
          provider,
          service_name: target.service,
          external_port: port,
        },
      },
    ),
  );
}
