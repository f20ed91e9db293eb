import type { ManifestExpose, ManifestService } from "../../../../sdl/index.ts";
import { externalPort, isHttpExpose, isNodePortExpose, type LeaseSpec, leaseNamespace } from "../../contract/index.ts";
import { KIND, type Wanted, wanted } from "./kinds.ts";
import { LABEL, leaseLabels, nodePortsName, podSelector } from "./names.ts";
import type { ObjectSettings } from "./settings.ts";

interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly targetPort: number;
  readonly protocol: "TCP" | "UDP";
  readonly nodePort?: number;
}

/** Under the service's name the other services of the lease reach it; node ports have an object of their own. */
export function serviceObjects(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings): Wanted[] {
  const inside = innerPorts(service.expose);
  const outside = nodePorts(spec, service);
  const make = (name: string, type: string, ports: readonly ServicePort[]): Wanted =>
    wanted(KIND.service, metadataOf(spec, service, settings, name), {
      spec: { type, selector: podSelector(leaseNamespace(spec.id), service.name), ports },
    });
  return [
    ...(inside.length === 0 ? [] : [make(service.name, "ClusterIP", inside)]),
    ...(outside.length === 0 ? [] : [make(nodePortsName(service.name), "NodePort", outside)]),
  ];
}

function metadataOf(spec: LeaseSpec, service: ManifestService, settings: ObjectSettings, name: string) {
  const labels = { ...leaseLabels(settings.provider, spec.id), [LABEL.service]: service.name };
  return { name, namespace: leaseNamespace(spec.id), labels };
}

/** Where two exposes claim one port, the one whose program listens there, else the first, has it. */
export function innerPorts(exposes: readonly ManifestExpose[]): ServicePort[] {
  const ports = new Map<string, ServicePort>();
  const direct = exposes.filter((expose) => expose.port === externalPort(expose));
  for (const expose of [...direct, ...exposes]) {
    const port = externalPort(expose);
    const name = portName(expose.proto, port);
    if (!ports.has(name)) ports.set(name, { name, port, targetPort: expose.port, protocol: expose.proto });
  }
  // Host names may tell several HTTP ports apart: the ingress reaches each of them under its own number.
  for (const { port, proto } of exposes.filter(isHttpExpose)) {
    const name = portName(proto, port);
    const isReached = [...ports.values()].some((each) => each.targetPort === port && each.protocol === proto);
    if (!isReached && !ports.has(name)) ports.set(name, { name, port, targetPort: port, protocol: proto });
  }
  return [...ports.values()];
}

/** How many node ports the service has. */
export function nodePortCount(spec: LeaseSpec, service: ManifestService): number {
  return nodePorts(spec, service).length;
}

function nodePorts({ ports }: LeaseSpec, service: ManifestService): ServicePort[] {
  const isWanted = new Set(service.expose.filter(isNodePortExpose).map(({ port, proto }) => `${port}/${proto}`));
  const found = new Map<string, ServicePort>();
  for (const { service: name, port, proto, hostPort } of ports) {
    if (name !== service.name || !isWanted.has(`${port}/${proto}`)) continue;
    const text = portName(proto, hostPort);
    // Nothing connects to the port inside; it is the same as outside, so that no two are alike.
    found.set(text, { name: text, port: hostPort, targetPort: port, protocol: proto, nodePort: hostPort });
  }
  return [...found.values()];
}

function portName(protocol: string, port: number): string {
  return `${protocol.toLowerCase()}-${port}`;
}
