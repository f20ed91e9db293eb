import type { ManifestGroup, ManifestService } from "../../sdl/index.ts";
import { type DeploymentKey, formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import { type ClusterAddresses, endpointNames, type LeaseHealth } from "../cluster/index.ts";
import { type HostRegistry, ingressErrors, normalHost } from "../hostnames/index.ts";
import { leaseErrors } from "./errors.ts";
import { requestedNames } from "./hosts.ts";
import type { LeaseMachine } from "./machine.ts";

/** Characters of a name that a refusal repeats. */
const MAX_NAME = 255;

/** Names that a tenant wants to lead to another deployment of his. */
export interface HostMove extends DeploymentKey {
  readonly hosts: readonly string[];
  /** Group of the destination. */
  readonly gseq: number;
  /** Rejects if the tenant's credential does not allow this lease. */
  readonly permit: (lease: LeaseKey) => Promise<void>;
}

/** Leased addresses, by their names in the deployment file, that a tenant wants another deployment of his to have. */
export interface EndpointMove extends Omit<HostMove, "hosts"> {
  readonly endpoints: readonly string[];
}

interface EndpointParts extends Omit<MoveParts, "registry"> {
  readonly addresses: ClusterAddresses;
}

export interface MoveParts {
  readonly registry: HostRegistry;
  /** All leases of now. */
  machines(): readonly LeaseMachine[];
  status(id: LeaseKey): Promise<LeaseHealth>;
}

/**
 * Moves host names to another deployment of the same owner. Every request is answered by the one or the other: the destination
 * must be ready, and its route takes the place of the old one. Returns the names that lead there now.
 */
export async function moveHosts(move: HostMove, { registry, machines, status }: MoveParts): Promise<string[]> {
  const destination = findDestination(move, machines());
  const { id } = destination;
  await move.permit(id);
  const hosts = namesToMove(move, destination, registry);
  const findSources = () => machines().filter((each) => each !== destination && holdsOne(each, hosts, registry));
  const sources = findSources();
  for (const source of sources) await move.permit(source.id);
  checkReady(destination, hosts, await status(id));
  await holdAll([...sources, destination], () => {
    if (hasOthers(findSources(), sources)) throw leaseErrors.moving();
    return destination.takeHosts(() => registry.move(id, hosts));
  });
  for (const source of sources) await source.settleHosts();
  return hosts.filter((host) => registry.holds(id, host));
}

/**
 * Moves leased addresses to another deployment of the same owner. The destination must be ready; an address has one lease
 * at every moment. Returns the names that are the destination's now.
 */
export async function moveEndpoints(
  move: EndpointMove,
  { addresses, machines, status }: EndpointParts,
): Promise<string[]> {
  const destination = findDestination(move, machines());
  const { id } = destination;
  await move.permit(id);
  const endpoints = [...new Set(move.endpoints)];
  for (const each of endpoints) checkEndpoint(each, destination, addresses);
  const isSource = (machine: LeaseMachine): boolean =>
    machine !== destination && addresses.heldBy(machine.id).some((each) => endpoints.includes(each));
  const sources = machines().filter(isSource);
  for (const source of sources) await move.permit(source.id);
  const uses = ({ expose }: ManifestService) => expose.some(({ ip }) => endpoints.includes(ip));
  checkAvailable(groupOf(destination).services.filter(uses), await status(id));
  await holdAll([...sources, destination], () => {
    if (destination.record.phase === "closing") throw leaseErrors.closing();
    if (hasOthers(machines().filter(isSource), sources)) throw leaseErrors.addressesMoving();
    return addresses.move(id, endpoints);
  });
  return endpoints.filter((each) => addresses.heldBy(id).includes(each));
}

function checkEndpoint(endpoint: string, destination: LeaseMachine, addresses: ClusterAddresses): void {
  const text = `"${endpoint.slice(0, MAX_NAME)}"`;
  if (!endpointNames(groupOf(destination)).includes(endpoint)) throw leaseErrors.noEndpoint(text);
  if (addresses.holderOf(destination.id.owner, endpoint) === undefined) throw leaseErrors.noAddress(text);
}

function findDestination(
  { owner, dseq, gseq }: Pick<HostMove, "owner" | "dseq" | "gseq">,
  machines: readonly LeaseMachine[],
): LeaseMachine {
  const found = machines.findLast(
    ({ id, record }) => id.owner === owner && id.dseq === dseq && id.gseq === gseq && record.phase !== "closing",
  );
  if (found === undefined) throw leaseErrors.notFound();
  return found;
}

function namesToMove({ hosts, owner }: HostMove, destination: LeaseMachine, registry: HostRegistry): string[] {
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

/** Each service that is to have one of the names answers requests now. */
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

/** Whether a lease has got what is to move since the credential was asked about those that had it: an heir, for one. */
function hasOthers(now: readonly LeaseMachine[], before: readonly LeaseMachine[]): boolean {
  return now.some((each) => !before.includes(each));
}

/**
 * Runs the task while nothing else happens to any of the leases. They are held in one order, whatever moves: host names
 * that move one way and addresses that move the other way would else wait for each other for ever.
 */
function holdAll(machines: readonly LeaseMachine[], task: () => Promise<void>): Promise<void> {
  const inOrder = [...machines].sort((a, b) => (formatLeaseId(a.id) < formatLeaseId(b.id) ? -1 : 1));
  return inOrder.reduceRight<() => Promise<void>>((inner, machine) => () => machine.hold(inner), task)();
}
