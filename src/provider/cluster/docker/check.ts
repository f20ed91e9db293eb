import type { LeaseSpec } from "../contract/index.ts";
import { checkImage, checkMemory, checkNoLeasedIps, checkPorts, checkServices, checkVolumes } from "../shared/index.ts";

/** Engines refuse memory limits below this many bytes. */
export const MIN_MEMORY = 6n << 20n;

/** What the machine can do, for the refusal of specs that can never run. */
export interface Abilities {
  readonly allowLocalImages: boolean;
  /** Why volumes and layers of a given size cannot be had, or undefined. */
  readonly noVolumes: string | undefined;
}

/** Throws on specs that a container engine on one host can never run, naming the service and the remedy. */
export function checkSpec(spec: LeaseSpec, { allowLocalImages, noVolumes }: Abilities): void {
  checkServices(spec, (service, refuse) => {
    checkImage(service, allowLocalImages);
    if (noVolumes !== undefined) throw refuse(noVolumes);
    const gpus = BigInt(service.resources.gpu.units.val);
    if (gpus > 0n) throw refuse("GPUs are not available on a single host engine");
    checkMemory(service, MIN_MEMORY, refuse);
    checkNoLeasedIps(service, refuse);
    checkPorts(spec, service, refuse);
    checkVolumes(service, refuse);
  });
}
