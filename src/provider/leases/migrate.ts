import type { ManifestGroup } from "../../sdl/index.ts";
import type { DeploymentKey, LeaseKey } from "../../wire/index.ts";
import type { LeaseHealth } from "../cluster/index.ts";
import { type HostRegistry, ingressErrors, normalHost } from "../hostnames/index.ts";
import { leaseErrors } from "./errors.ts";
import { requestedNames } from "./hosts.ts";
import type { LeaseMachine } from "./machine.ts";

/** Names that a tenant wants to lead to another deployment of his. */
export interface HostMove extends DeploymentKey {
  readonly hosts: readonly string[];
  /** Group of the destination. */
  readonly gseq: number;
  /** Rejects if the tenant's credential does not allow this lease. */
  readonly permit: (lease: LeaseKey) => Promise<void>;
}

export interface MoveParts {
  readonly registry: HostRegistry;
  readonly machines: readonly LeaseMachine[];
  status(id: LeaseKey): Promise<LeaseHealth>;
}

/**
 * Moves host names to another deployment of the same owner. Every request is answered by the one or the other: the destination
 * must be ready, and its route takes the place of the old one. Returns the names that lead there now.
 */
export async function moveHosts(move: HostMove, { registry, machines, status }: MoveParts): Promise<string[]> {
  const destination = findDestination(move, machines);
  const { id } = destination;
  await move.permit(id);
  const hosts = namesToMove(move, destination, registry);
  const sources = machines.filter((machine) => machine !== destination && holdsOne(machine, hosts, registry));
  for (const source of sources) await move.permit(source.id);
  await checkReady(destination, hosts, await status(id));
  await holdAll(sources, () => destination.takeHosts(() => registry.move(id, hosts)));
  for (const source of sources) await source.settleHosts();
  return hosts.filter((host) => registry.holds(id, host));
}

function findDestination({ owner, dseq, gseq }: HostMove, machines: readonly LeaseMachine[]): LeaseMachine {
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
      throw ingressErrors.notMovable(`"${text.slice(0, 255)}" is not in the manifest of the destination`, { hint });
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
async function checkReady(destination: LeaseMachine, hosts: readonly string[], health: LeaseHealth): Promise<void> {
  for (const service of groupOf(destination).services) {
    const names = new Set(requestedNames({ ...groupOf(destination), services: [service] }));
    if (!hosts.some((host) => names.has(host))) continue;
    const seen = health.services.find(({ name }) => name === service.name);
    if ((seen?.available ?? 0) === 0) throw leaseErrors.notReady(`service "${service.name}"`);
  }
}

/** Runs the task while nothing else happens to any of the leases. */
function holdAll(machines: readonly LeaseMachine[], task: () => Promise<void>): Promise<void> {
  const [first, ...others] = machines;
  return first === undefined ? task() : first.hold(() => holdAll(others, task));
}
