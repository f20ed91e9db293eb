import type { ManifestService } from "../../../sdl/index.ts";
import { clusterErrors, isNodePortExpose, isPersistent, isRam, type LeaseSpec } from "../contract/index.ts";
import { parseReference } from "./reference.ts";

/** Engines refuse memory limits below this many bytes. */
export const MIN_MEMORY = 6n << 20n;

/** What the machine can do, for the refusal of specs that can never run. */
export interface Abilities {
  readonly allowLocalImages: boolean;
  /** Why sized volumes cannot be had, or undefined. */
  readonly noVolumes: string | undefined;
}

/** Throws on specs that this driver can never run, naming the service and the remedy. */
export function checkSpec(spec: LeaseSpec, abilities: Abilities): void {
  for (const service of spec.group.services) {
    const refuse = (text: string) => clusterErrors.unsupported(`service "${service.name}": ${text}`);
    const image = parseReference(service.image);
    if (image.local && !abilities.allowLocalImages) {
      throw clusterErrors.imageRefused(
        `service "${service.name}": image ${service.image} exists on the provider's machine alone; push it to a registry`,
      );
    }
    const { resources } = service;
    if (BigInt(resources.gpu.units.val) > 0n) throw refuse("GPUs are not available on a single host engine");
    if (BigInt(resources.memory.size.val) < MIN_MEMORY)
      throw refuse("memory is below the least possible, write 6Mi or more");
    if (service.expose.some((expose) => expose.ip !== "")) throw refuse("leased IP addresses are not available here");
    checkPorts(spec, service, refuse);
    checkVolumes(service, abilities, refuse);
  }
}

type Refuse = (text: string) => Error;

function checkPorts(spec: LeaseSpec, service: ManifestService, refuse: Refuse): void {
  for (const expose of service.expose.filter(isNodePortExpose)) {
    const assigned = spec.ports.some(
      (entry) => entry.service === service.name && entry.port === expose.port && entry.proto === expose.proto,
    );
    if (!assigned) throw refuse(`port ${expose.port} has no host port assigned`);
  }
}

function checkVolumes(service: ManifestService, abilities: Abilities, refuse: Refuse): void {
  const mounts = service.params?.storage ?? [];
  for (const storage of service.resources.storage) {
    const mount = mounts.find((entry) => entry.name === storage.name)?.mount;
    if (mount === undefined) {
      if (isPersistent(storage))
        throw refuse(`persistent volume "${storage.name}" has no mount; give it one in params.storage`);
      continue;
    }
    if (!mount.startsWith("/") || mount.includes(":")) {
      throw refuse(`volume "${storage.name}" is mounted at "${mount}"; write an absolute path without colon`);
    }
    if (isRam(storage)) continue;
    if (BigInt(storage.size.val) < 1n << 20n) throw refuse(`volume "${storage.name}" is smaller than 1Mi`);
    if (abilities.noVolumes !== undefined) throw refuse(`volume "${storage.name}": ${abilities.noVolumes}`);
  }
}
