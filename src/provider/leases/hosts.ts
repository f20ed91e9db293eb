import type { ManifestGroup, ManifestService } from "../../sdl/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { isHttpExpose, type ServiceRoute } from "../cluster/index.ts";
import { generatedHost, type HostRegistry } from "../ingress/index.ts";
import { leaseErrors } from "./errors.ts";
import type { LeaseRecord } from "./record/record.ts";

export interface HostOptions {
  /** Domain of the generated names; empty if they are off. */
  readonly domain: string;
  readonly staticHosts: boolean;
}

/** The host names of a lease by service, and those another deployment of the same owner still holds. */
export type LeaseHosts = Pick<LeaseRecord, "hosts" | "withheld">;

/** Names for all HTTP services: the generated one and those the tenant requested. Claims the latter or throws. */
export function claimHosts(
  registry: HostRegistry,
  lease: { readonly id: LeaseKey; readonly group: ManifestGroup },
  options: HostOptions,
): LeaseHosts {
  const { id, group } = lease;
  const web = group.services.filter((service) => service.expose.some(isHttpExpose));
  for (const service of web) checkNamed(service, options);
  const { accepted, withheld } = registry.claim(id, web.flatMap(acceptedNames));
  const hosts = web.map(({ name, ...service }): [string, string[]] => {
    const own = acceptedNames(service).filter((host) => accepted.includes(host));
    return [name, options.staticHosts ? [generatedHost(id, name, options.domain), ...own] : own];
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
  return records.flatMap(({ group }) => group?.services.flatMap(acceptedNames) ?? []);
}

/** Where requests for each HTTP service of the group come in, and where they go. */
export function serviceRoutes(id: LeaseKey, group: ManifestGroup, hosts: LeaseRecord["hosts"]): ServiceRoute[] {
  return group.services.flatMap(({ name, expose }) => {
    const http = expose.find(isHttpExpose);
    if (http === undefined) return [];
    const target = { lease: id, service: name, port: http.port, options: http.httpOptions };
    return [{ target, hosts: hosts[name] ?? [] }];
  });
}
