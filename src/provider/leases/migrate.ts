import type { ManifestGroup, ManifestService } from "../../sdl/index.ts";
import { type DeploymentKey, formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import { areSisters, type ClusterAddresses, endpointNames, type LeaseHealth } from "../cluster/index.ts";
import { type HostRegistry, ingressErrors, normalHost } from "../hostnames/index.ts";
import { leaseErrors } from "./errors.ts";
import { requestedNames } from "./hosts.ts";
import type { LeaseMachine } from "./machine.ts";
import { hasItsAddresses, wantedEndpoints } from "./record/addresses.ts";

/** Characters of a name that a refusal repeats. */
const MAX_NAME = 255;

/** Host names that a tenant migrates to another of its deployments. */
export interface HostMigration extends DeploymentKey {
  readonly hosts: readonly string[];
  /** Group of the destination. */
  readonly gseq: number;
  /** Rejects if the tenant's credential does not allow this lease. */
  readonly permit: (lease: LeaseKey) => Promise<void>;
}

/** Leased addresses, by their names in the deployment file, that a tenant migrates to another of its deployments. */
export interface EndpointMigration extends Omit<HostMigration, "hosts"> {
  readonly endpoints: readonly string[];
}

export interface MigrationParts {
  readonly registry: HostRegistry;
  readonly addresses: ClusterAddresses;
  /** All current leases. */
  machines(): readonly LeaseMachine[];
  status(id: LeaseKey): Promise<LeaseHealth>;
}

/**
 * Migrates host names to another deployment of the same owner. Every request is answered by one of the two: the destination
 * must be ready, and its route replaces the old one. Returns the names that are routed there now.
 */
export async function migrateHosts(
  migration: HostMigration,
  { registry, machines, status }: MigrationParts,
): Promise<string[]> {
  const destination = findDestination(migration, machines());
  const { id } = destination;
  await migration.permit(id);
  const hosts = namesToMigrate(migration, destination, registry);
  const findSources = () => machines().filter((each) => each !== destination && holdsOne(each, hosts, registry));
  const sources = findSources();
  for (const source of sources) await migration.permit(source.id);
  checkReady(destination, hosts, await status(id));
  await holdAll([...sources, destination], () => {
    if (hasOthers(findSources(), sources)) throw leaseErrors.migrating();
    return destination.takeHosts(() => registry.migrate(id, hosts));
  });
  for (const source of sources) await source.settleHosts();
  return hosts.filter((host) => registry.holds(id, host));
}

/**
 * Migrates leased addresses to another deployment of the same owner. The destination must be ready; an address always
 * belongs to exactly one deployment. Returns the names that are the destination's now.
 */
export async function migrateEndpoints(
  migration: EndpointMigration,
  { addresses, machines, status }: MigrationParts,
): Promise<string[]> {
  const destination = findDestination(migration, machines());
  const { id } = destination;
  await migration.permit(id);
  const endpoints = [...new Set(migration.endpoints)];
  for (const each of endpoints) checkEndpoint(each, destination, addresses);
  const isSource = (machine: LeaseMachine): boolean =>
    machine !== destination &&
    !areSisters(machine.id, id) &&
    addresses.heldBy(machine.id).some((each) => endpoints.includes(each));
  const sources = machines().filter(isSource);
  for (const source of sources) await migration.permit(source.id);
  const uses = ({ expose }: ManifestService) => expose.some(({ ip }) => endpoints.includes(ip));
  checkAvailable(groupOf(destination).services.filter(uses), await status(id));
  await holdAll([...sources, destination], () => {
    if (destination.record.phase === "closing") throw leaseErrors.closing();
    if (hasOthers(machines().filter(isSource), sources)) throw leaseErrors.addressesMigrating();
    return addresses.migrate(id, endpoints);
  });
  return endpoints.filter((each) => addresses.heldBy(id).includes(each));
}

/** Addresses that only this lease has, and does not keep, go to its owner's lease that wants them. */
export async function passOnAddresses(
  id: LeaseKey,
  kept: readonly string[],
  { addresses, machines }: MigrationParts,
): Promise<void> {
  const text = formatLeaseId(id);
  const isAlone = (endpoint: string) => addresses.holdersOf(id.owner, endpoint).length === 1;
  for (const endpoint of addresses.heldBy(id).filter((each) => !kept.includes(each) && isAlone(each))) {
    const heir = machines().find(
      ({ record }) =>
        record.id.owner === id.owner && formatLeaseId(record.id) !== text && wantedEndpoints(record).includes(endpoint),
    );
    if (heir !== undefined) await addresses.migrate(heir.id, [endpoint]);
  }
}

/** Names that one deployment gave up go to the same owner's deployment that waits for them. */
export async function settleWaiting(owner: string, { addresses, machines }: MigrationParts): Promise<void> {
  const open = () => machines().filter(({ id, record }) => id.owner === owner && record.phase !== "closing");
  for (const machine of open().filter(({ record }) => record.withheld.length > 0)) await machine.settleHosts();
  for (const machine of open().filter(({ record }) => !hasItsAddresses(record, addresses))) {
    await machine.settleAddresses();
  }
}

function checkEndpoint(endpoint: string, destination: LeaseMachine, addresses: ClusterAddresses): void {
  const text = `"${endpoint.slice(0, MAX_NAME)}"`;
  if (!endpointNames(groupOf(destination)).includes(endpoint)) throw leaseErrors.noEndpoint(text);
  if (addresses.holdersOf(destination.id.owner, endpoint).length === 0) throw leaseErrors.noAddress(text);
}

function findDestination(
  { owner, dseq, gseq }: Pick<HostMigration, "owner" | "dseq" | "gseq">,
  machines: readonly LeaseMachine[],
): LeaseMachine {
  const found = machines.findLast(
    ({ id, record }) => id.owner === owner && id.dseq === dseq && id.gseq === gseq && record.phase !== "closing",
  );
  if (found === undefined) throw leaseErrors.notFound();
  return found;
}

function namesToMigrate({ hosts, owner }: HostMigration, destination: LeaseMachine, registry: HostRegistry): string[] {
  const requested = new Set(requestedNames(groupOf(destination)));
  return [...new Set(hosts)].map((text) => {
    const host = normalHost(text);
    if (host === undefined || !requested.has(host)) {
      const hint = "name it under accept of the destination's deployment file, and send that manifest first";
      throw ingressErrors.notMovable(`"${text.slice(0, MAX_NAME)}" is not in the manifest of the destination`, {
        hint,
      });
    }
    if (registry.holderOf(host)?.owner !== owner) {
      throw ingressErrors.notMovable(`none of your deployments has "${host}" at this provider`);
    }
    return host;
  });
}

function groupOf({ record }: LeaseMachine): ManifestGroup {
  if (record.group === null) throw leaseErrors.noManifest();
  return record.group;
}

function holdsOne({ id }: LeaseMachine, hosts: readonly string[], registry: HostRegistry): boolean {
  return hosts.some((host) => registry.holds(id, host));
}

/** Each service that will get one of the names answers requests. */
function checkReady(destination: LeaseMachine, hosts: readonly string[], health: LeaseHealth): void {
  const group = groupOf(destination);
  const isNamed = (service: ManifestService) =>
    requestedNames({ ...group, services: [service] }).some((name) => hosts.includes(name));
  checkAvailable(group.services.filter(isNamed), health);
}

function checkAvailable(services: readonly ManifestService[], health: LeaseHealth): void {
  for (const { name } of services) {
    const seen = health.services.find((each) => each.name === name);
    if ((seen?.available ?? 0) === 0) throw leaseErrors.notReady(`service "${name}"`);
  }
}

/** Whether another lease, such as an heir, has become a holder since the credential was checked against the holders. */
function hasOthers(now: readonly LeaseMachine[], before: readonly LeaseMachine[]): boolean {
  return now.some((each) => !before.includes(each));
}

/**
 * Runs the task while nothing else happens to any of the leases. They are held in one order, whatever migrates: otherwise
 * host names going one way and addresses going the other way would wait for each other forever.
 */
function holdAll(machines: readonly LeaseMachine[], task: () => Promise<void>): Promise<void> {
  const inOrder = [...machines].sort((a, b) => (formatLeaseId(a.id) < formatLeaseId(b.id) ? -1 : 1));
  return inOrder.reduceRight<() => Promise<void>>((inner, machine) => () => machine.hold(inner), task)();
}
