import type { LeaseHealth, ServiceStatus } from "../../cluster/index.ts";
import type { LeasePhase, LeaseRecord } from "./record.ts";

/** A tenant's view of a service; the first seven fields equal the ecosystem's gateway. */
export interface ServiceView {
  readonly name: string;
  readonly available: number;
  readonly total: number;
  readonly uris: readonly string[];
  readonly observed_generation: number;
  readonly replicas: number;
  readonly updated_replicas: number;
  readonly ready_replicas: number;
  readonly available_replicas: number;
  /** Addresses that open as printed. */
  readonly urls: readonly string[];
  readonly error?: string;
  readonly pods: readonly PodView[];
}

export interface PodView {
  readonly name: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly state: string;
  readonly reason?: string;
}

export interface PortView {
  readonly host: string;
  /** Port inside the container. */
  readonly port: number;
  /** Port on the host. */
  readonly externalPort: number;
  readonly proto: "TCP" | "UDP";
  readonly name: string;
}

/** A port of a leased address; the first four fields equal the ecosystem's gateway. */
export interface IpView {
  /** Port inside the container. */
  readonly Port: number;
  /** Port of the address. */
  readonly ExternalPort: number;
  readonly Protocol: "TCP" | "UDP";
  readonly IP: string;
  /** The name of the address in the deployment file. */
  readonly Endpoint: string;
  /** Whether the provider's cluster says that the address leads to the service. */
  readonly Assigned: boolean;
  readonly Problem?: string;
}

export interface LeaseView {
  readonly services: Readonly<Record<string, ServiceView>>;
  readonly forwarded_ports: Readonly<Record<string, readonly PortView[]>>;
  /** Ports of leased addresses, by service. */
  readonly ips: Readonly<Record<string, readonly IpView[]>>;
  readonly state: LeasePhase;
  /** `unknown` if the cluster cannot be asked now. */
  readonly health: LeaseHealth["health"];
  /** Hash of the manifest in force. */
  readonly version: string;
  readonly generation: number;
  readonly withheld_hosts: readonly string[];
  /** Names of leased addresses that another deployment of the same owner has. */
  readonly withheld_endpoints: readonly string[];
  readonly error?: string;
}

export interface ViewOptions {
  readonly publicHostname: string;
  /** The address of a host name as a browser takes it. */
  readonly hostUrl: (host: string) => string;
  /** Names of leased addresses that another lease of the owner has. */
  readonly withheld: readonly string[];
  readonly error: string | undefined;
}

/** The answer to a status request. */
export function leaseView(record: LeaseRecord, health: LeaseHealth, options: ViewOptions): LeaseView {
  const names = record.group?.services.map(({ name }) => name) ?? [];
  const observed = new Map(health.services.map((service) => [service.name, service]));
  const services = names.map((name) => [name, serviceView(name, observed.get(name), { record, ...options })] as const);
  const settled = health.health === "ok" && health.services.every((each) => each.updated >= each.total);
  return {
    services: Object.fromEntries(services),
    forwarded_ports: forwardedPorts(record, options.publicHostname),
    ips: leasedIps(health),
    state: record.phase === "deploying" && settled ? "running" : record.phase,
    health: health.health,
    version: record.version,
    generation: record.generation,
    withheld_hosts: record.withheld,
    withheld_endpoints: options.withheld,
    ...(options.error === undefined ? {} : { error: options.error }),
  };
}

interface ServiceViewOptions extends ViewOptions {
  readonly record: LeaseRecord;
}

function serviceView(name: string, status: ServiceStatus | undefined, options: ServiceViewOptions): ServiceView {
  const { record, hostUrl } = options;
  const hosts = record.hosts[name] ?? [];
  const loopback = record.loopback[name];
  const total = record.group?.services.find((service) => service.name === name)?.count ?? 0;
  const ready = status?.replicas.filter((replica) => replica.ready).length ?? 0;
  return {
    name,
    available: status?.available ?? 0,
    total: status?.total ?? total,
    uris: hosts,
    observed_generation: status?.generation ?? 0,
    replicas: status?.replicas.length ?? 0,
    updated_replicas: status?.updated ?? 0,
    ready_replicas: ready,
    available_replicas: status?.available ?? 0,
    urls: [...(loopback === undefined ? [] : [`http://127.0.0.1:${loopback}/`]), ...hosts.map(hostUrl)],
    ...(status?.error === undefined ? {} : { error: status.error }),
    pods: (status?.replicas ?? []).map(({ name: pod, ready: isReady, restarts, state, reason }) => ({
      name: pod,
      ready: isReady,
      restarts,
      state,
      ...(reason === undefined ? {} : { reason }),
    })),
  };
}

function forwardedPorts(record: LeaseRecord, host: string): Record<string, PortView[]> {
  return byService(record.ports, ({ service, port, hostPort, proto }) => {
    return { host, port, externalPort: hostPort, proto, name: service };
  });
}

function leasedIps({ addresses = [] }: LeaseHealth): Record<string, IpView[]> {
  return byService(addresses, ({ endpoint, address, port, externalPort, proto, assigned, problem }) => ({
    Port: port,
    ExternalPort: externalPort,
    Protocol: proto,
    IP: address,
    Endpoint: endpoint,
    Assigned: assigned,
    ...(problem === undefined ? {} : { Problem: problem }),
  }));
}

/** Tenants may call a service what every object of the language has. */
function byService<T extends { readonly service: string }, View>(
  items: readonly T[],
  view: (item: T) => View,
): Record<string, View[]> {
  const lists = new Map<string, View[]>();
  for (const item of items) lists.set(item.service, [...(lists.get(item.service) ?? []), view(item)]);
  return Object.fromEntries(lists);
}
