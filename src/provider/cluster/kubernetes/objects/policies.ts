import type { ManifestExpose } from "../../../../sdl/index.ts";
import {
  isHttpExpose,
  isLeasedIpExpose,
  isNodePortExpose,
  type LeaseSpec,
  leaseNamespace,
} from "../../contract/index.ts";
import { FORBIDDEN } from "../../shared/index.ts";
import { KIND, type Wanted, wanted } from "./kinds.ts";
import { httpName, LABEL, leaseLabels, nodePortsName, podSelector } from "./names.ts";
import type { ObjectSettings } from "./settings.ts";

/** Address at which nodes have a cache of the cluster's name servers. */
const NODE_DNS = "169.254.20.10/32";
/** IPv6 addresses that are given out to machines of the internet, without tunnels of IPv4. */
const PUBLIC_V6 = { cidr: "2000::/3", except: ["2001::/23", "2002::/16"] };

/**
 * A lease is reachable only from itself, and reaches itself, the name servers and the internet. The ingress reaches the
 * ports of its host names, and everyone the ports that the tenant opens globally.
 */
export function networkPolicies(spec: LeaseSpec, settings: ObjectSettings): Wanted[] {
  const namespace = leaseNamespace(spec.id);
  const labels = leaseLabels(settings.provider, spec.id);
  const make = (name: string, body: object): Wanted => wanted(KIND.policy, { name, namespace, labels }, { spec: body });
  const open = [
    ...openPorts(spec, { name: httpName, isOpen: isHttpExpose, from: [fromIngress()] }),
    ...openPorts(spec, { name: nodePortsName, isOpen: isOpenToAll }),
  ];
  return [make("lease", leasePolicy()), ...open.map(([name, body]) => make(name, body))];
}

function leasePolicy(): object {
  const own = { podSelector: {} };
  return {
    podSelector: {},
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ from: [own] }],
    egress: [
      { to: [own] },
      { to: [nameServers(), { ipBlock: { cidr: NODE_DNS } }], ports: dnsPorts() },
      { to: [{ ipBlock: { cidr: "0.0.0.0/0", except: [...FORBIDDEN] } }, { ipBlock: PUBLIC_V6 }] },
    ],
  };
}

function nameServers(): object {
  return {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
    podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
  };
}

function dnsPorts(): object[] {
  return ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 }));
}

/** Pods that bring requests from outside. */
function fromIngress(): object {
  return { namespaceSelector: { matchLabels: { [LABEL.ingress]: "true" } } };
}

interface Opening {
  /** Name of the policy of a service. */
  readonly name: (service: string) => string;
  readonly isOpen: (expose: ManifestExpose) => boolean;
  /** Allowed sources; all if left out. */
  readonly from?: readonly object[];
}

/** A policy for each service with ports that are open in this way. */
function openPorts(spec: LeaseSpec, { name: nameOf, isOpen, from }: Opening): (readonly [string, object])[] {
  const namespace = leaseNamespace(spec.id);
  return spec.group.services.flatMap(({ name, expose }) => {
    const open = new Map(
      expose.filter(isOpen).map(({ port, proto }) => [`${port}/${proto}`, { protocol: proto, port }]),
    );
    if (open.size === 0) return [];
    const body = {
      podSelector: { matchLabels: podSelector(namespace, name) },
      policyTypes: ["Ingress"],
      ingress: [{ ...(from === undefined ? {} : { from }), ports: [...open.values()] }],
    };
    return [[nameOf(name), body]];
  });
}

/** Whether everybody reaches the port: at the nodes, or at an address of the lease's own. */
function isOpenToAll(expose: ManifestExpose): boolean {
  return isNodePortExpose(expose) || isLeasedIpExpose(expose);
}
