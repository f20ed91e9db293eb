import type { HttpOptions, ManifestExpose, ManifestGroup, ManifestService } from "../../sdl/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { isHttpExpose, type ServiceRoute } from "../cluster/index.ts";
import { generatedHost, type HostClaim, type HostRegistry } from "../hostnames/index.ts";
import { leaseErrors } from "./errors.ts";
import type { LeaseRecord } from "./record/record.ts";

export interface HostOptions {
  /** Domain of the generated names; empty if they are off. */
  readonly domain: string;
  readonly staticHosts: boolean;
}

/** The host names of a lease by service, and the names that another deployment of the same owner still holds. */
export type LeaseHosts = Pick<LeaseRecord, "hosts" | "withheld">;

/** A lease with its part of the manifest. */
export interface NamedLease {
  readonly id: LeaseKey;
  readonly group: ManifestGroup;
}

/** Names for all HTTP services: the generated one and the tenant's own, which it claims. Throws if a claim fails. */
export function claimHosts(registry: HostRegistry, { id, group }: NamedLease, options: HostOptions): LeaseHosts {
  const web = group.services.filter((service) => service.expose.some(isHttpExpose));
  for (const service of web) checkNamed(service, options);
  const claim = registry.claim(id, requestedNames(group));
  return hostsOf(group, claim, (name) => (options.staticHosts ? [generatedHost(id, name, options.domain)] : []));
}

/** The same for a lease that runs: its generated names stay, and names that it may no longer have are left out. */
export function keptHosts(registry: HostRegistry, { id, group }: NamedLease, before: LeaseRecord["hosts"]): LeaseHosts {
  const requested = requestedNames(group);
  const claim = registry.claim(
    id,
    requested.filter((host) => registry.allows(id, host)),
  );
  return hostsOf(group, claim, (name) => before[name]?.filter((host) => !requested.includes(host)) ?? []);
}

/** Names that the tenant asks for. */
export function requestedNames({ services }: ManifestGroup): string[] {
  return services.flatMap(acceptedNames);
}

function hostsOf(
  group: ManifestGroup,
  { accepted, withheld }: HostClaim,
  generated: (service: string) => readonly string[],
): LeaseHosts {
  const web = group.services.filter((service) => service.expose.some(isHttpExpose));
  const hosts = web.map(({ name, ...service }): [string, string[]] => {
    const own = acceptedNames(service).filter((host) => accepted.includes(host));
    return [name, [...generated(name), ...own]];
  });
  return { hosts: Object.fromEntries(hosts), withheld };
}

function checkNamed(service: ManifestService, { staticHosts }: HostOptions): void {
  if (staticHosts || acceptedNames(service).length > 0) return;
  throw leaseErrors.hostMissing(`service "${service.name}"`);
}

function acceptedNames({ expose }: Pick<ManifestService, "expose">): string[] {
  const names = expose.filter(isHttpExpose).flatMap(({ hosts }) => hosts ?? []);
  return [...new Set(names.map((host) => host.toLowerCase().replace(/\.$/, "")))];
}

/** Host names claimed from the registry by these records of one group; all other names are free again. */
export function claimedHosts(records: readonly LeaseRecord[]): string[] {
  return records.flatMap(({ group }) => (group === null ? [] : requestedNames(group)));
}

/**
 * Where requests for each HTTP service of the group come in, and where they go. A name that has moved on meanwhile is left
 * out: the route of its new lease stays.
 */
export function serviceRoutes(
  registry: HostRegistry,
  { id, group }: NamedLease,
  hosts: LeaseRecord["hosts"],
): ServiceRoute[] {
  const requested = new Set(requestedNames(group));
  const isOwn = (host: string) => !requested.has(host) || registry.holds(id, host);
  return group.services.flatMap(({ name, expose }) => {
    const own = hosts[name]?.filter(isOwn) ?? [];
    return httpPorts(expose).map(({ port, options, names }, at) => {
      const isMain = at === 0;
      const target = { lease: id, service: name, port, options };
      return { target, hosts: own.filter((host) => names.includes(host) || (isMain && !requested.has(host))) };
    });
  });
}

interface HttpPort {
  readonly port: number;
  readonly options: HttpOptions;
  /** Names that the tenant asks for. */
  readonly names: readonly string[];
}

/** The HTTP ports of a service; first the port to which the generated name leads: one without names, if there is one. */
function httpPorts(exposes: readonly ManifestExpose[]): HttpPort[] {
  const http = exposes.filter(isHttpExpose);
  const ports = [...new Set(http.map(({ port }) => port))].flatMap((port) => {
    const same = http.filter((expose) => expose.port === port);
    const [first] = same;
    return first === undefined ? [] : [{ port, options: first.httpOptions, names: acceptedNames({ expose: same }) }];
  });
  return ports.toSorted((a, b) => Number(a.names.length > 0) - Number(b.names.length > 0));
}
