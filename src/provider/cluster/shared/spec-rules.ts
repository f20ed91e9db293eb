import type { ManifestService } from "../../../sdl/index.ts";
import { clusterErrors, isNodePortExpose, isPersistent, isRam, type LeaseSpec } from "../contract/index.ts";
import { parseReference } from "./reference.ts";

/** Refuses a spec, with the service named in front of the text. */
export type Refuse = (text: string) => Error;

/** Calls the rules with every service of the spec and the refusal that names it. */
export function checkServices(spec: LeaseSpec, check: (service: ManifestService, refuse: Refuse) => void): void {
  for (const service of spec.group.services) {
    check(service, (text) => clusterErrors.unsupported(`service "${service.name}": ${text}`));
  }
}

/** The image has a name, and is in a registry unless local ones are allowed. */
export function checkImage({ name, image }: ManifestService, allowLocalImages: boolean): void {
  if (!parseReference(image).local || allowLocalImages) return;
  throw clusterErrors.imageRefused(
    `service "${name}": image ${image} exists only on the provider's machine; push it to a registry`,
  );
}

/** Replicas have at least the smallest memory that the cluster can give. */
export function checkMemory({ resources }: ManifestService, least: bigint, refuse: Refuse): void {
  if (BigInt(resources.memory.size.val) >= least) return;
  throw refuse(`memory is below the least possible, write ${least >> 20n}Mi or more`);
}

/** Addresses of a lease's own are asked for only where the cluster has any. */
export function checkLeasedIps({ expose }: ManifestService, areAvailable: boolean, refuse: Refuse): void {
  if (!areAvailable && expose.some(({ ip }) => ip !== "")) throw refuse("leased IP addresses are not available here");
}

/** Every expose that needs a port at the cluster's public address has one. */
export function checkPorts({ ports }: LeaseSpec, service: ManifestService, refuse: Refuse): void {
  for (const { port, proto } of service.expose.filter(isNodePortExpose)) {
    const assigned = ports.some(
      (entry) => entry.service === service.name && entry.port === port && entry.proto === proto,
    );
    if (!assigned) throw refuse(`port ${port} has no host port assigned`);
  }
}

const LEAST_VOLUME = 1n << 20n;

/** Volumes have a mount and a size. `unavailable` says why a size is not available here, or is undefined. */
export function checkVolumes(service: ManifestService, refuse: Refuse): void {
  const mounts = service.params?.storage ?? [];
  for (const storage of service.resources.storage) {
    const mount = mounts.find(({ name }) => name === storage.name)?.mount;
    if (mount === undefined) {
      if (isPersistent(storage))
        throw refuse(`persistent volume "${storage.name}" has no mount; give it one in params.storage`);
      continue;
    }
    if (!mount.startsWith("/") || mount.includes(":")) {
      throw refuse(`volume "${storage.name}" is mounted at "${mount}"; write an absolute path without colon`);
    }
    if (isRam(storage)) continue;
    if (BigInt(storage.size.val) < LEAST_VOLUME) throw refuse(`volume "${storage.name}" is smaller than 1Mi`);
  }
}
