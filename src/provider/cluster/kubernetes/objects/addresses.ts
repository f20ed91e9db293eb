import { isIPv6 } from "node:net";
import type { ManifestExpose, ManifestService } from "../../../../sdl/index.ts";
import { externalPort, isLeasedIpExpose, type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import type { Holding } from "../../shared/index.ts";
import { GROUP, KIND, LEASES_SPACE, type Wanted, wanted } from "./kinds.ts";
import { LABEL, labelValue, leasedIpName, leaseIdLabels, leaseLabels, podSelector } from "./names.ts";
import type { ObjectSettings } from "./settings.ts";

/** The load balancer for clusters without a cloud's. */
const BALANCER = "metallb.io";
/** Keeps the record of an address until the provider itself has given the address back. */
export const ADDRESS_HELD = `${GROUP}/address`;

/** An address as the name of an object: labels and names have no colons. */
export function addressName(address: string): string {
  if (!isIPv6(address)) return address;
  // Shortening zeros may leave a dash at the end, where a name needs a letter or digit.
  return address.replaceAll(":", "-").replace(/^-/, "0-").replace(/-$/, "-0");
}

/** Services of the lease with ports on each of its addresses. */
export function leasedServices({ group }: LeaseSpec): (readonly [service: ManifestService, endpoint: string])[] {
  return group.services.flatMap((service) =>
    [...new Set(service.expose.filter(isLeasedIpExpose).map(({ ip }) => ip))].map((ip) => [service, ip] as const),
  );
}

/**
 * Services that lead from the lease's addresses to its services, one per service and address. They share the address
 * with the deployment's other groups by a unique key.
 */
export function addressObjects(spec: LeaseSpec, held: readonly Holding[], settings: ObjectSettings): Wanted[] {
  return leasedServices(spec).flatMap(([service, endpoint]) => {
    const holding = held.find((each) => each.endpoint === endpoint);
    return holding === undefined ? [] : [addressObject(spec, service, holding, settings)];
  });
}

function addressObject(
  spec: LeaseSpec,
  service: ManifestService,
  { endpoint, address }: Holding,
  settings: ObjectSettings,
): Wanted {
  const namespace = leaseNamespace(spec.id);
  const labels = {
    ...leaseLabels(settings.provider, spec.id),
    [LABEL.service]: service.name,
    [LABEL.address]: addressName(address),
  };
  const annotations = {
    [`${BALANCER}/loadBalancerIPs`]: address,
    [`${BALANCER}/allow-shared-ip`]: sharingKey(spec.id.owner, endpoint),
  };
  const metadata = { name: leasedIpName(service.name, endpoint), namespace, labels, annotations };
  const exposes = service.expose.filter((expose) => isLeasedIpExpose(expose) && expose.ip === endpoint);
  return wanted(KIND.service, metadata, {
    spec: {
      type: "LoadBalancer",
      // The balancer brings connections to the address itself; ports of nodes would open it at theirs too.
      allocateLoadBalancerNodePorts: false,
      externalTrafficPolicy: "Cluster",
      ipFamilyPolicy: "SingleStack",
      ipFamilies: [isIPv6(address) ? "IPv6" : "IPv4"],
      selector: podSelector(namespace, service.name),
      ports: exposes.map(addressPort),
    },
  });
}

function addressPort(expose: ManifestExpose) {
  const port = externalPort(expose);
  const { proto: protocol, port: targetPort } = expose;
  return { name: `${protocol.toLowerCase()}-${port}`, port, targetPort, protocol };
}

/** One for each name of an owner. */
export function sharingKey(owner: string, endpoint: string): string {
  return `${owner}-ip-${labelValue(endpoint)}`;
}

/** The holder of an address, and since when. Its name is the address, so that no second one can exist. */
export function leasedIpObject(holding: Holding, since: string, settings: Pick<ObjectSettings, "provider">): Wanted {
  const { leases, endpoint, address } = holding;
  const [lease] = leases;
  const { owner, dseq, gseq, oseq, provider } = lease;
  const labels = { ...leaseLabels(settings.provider, lease), ...leaseIdLabels(lease) };
  return wanted(
    KIND.leasedIp,
    { name: addressName(address), namespace: LEASES_SPACE, labels, finalizers: [ADDRESS_HELD] },
    {
      spec: {
        address,
        endpoint,
        owner,
        dseq: dseq.toString(),
        gseq,
        oseq,
        provider,
        groups: leases.map((each) => ({ gseq: each.gseq, oseq: each.oseq })),
        sharing_key: sharingKey(owner, endpoint),
        since,
      },
    },
  );
}
