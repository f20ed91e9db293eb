import { type GpuCapacity, isWantedGpu, type LeaseSpec, parseGpuWish } from "../contract/index.ts";
import { checkImage, checkLeasedIps, checkMemory, checkPorts, checkServices, checkVolumes } from "../shared/index.ts";

/** Engines refuse memory limits below this many bytes. */
export const MIN_MEMORY = 6n << 20n;

/** Abilities of the machine, for refusing specs that can never run. */
export interface Abilities {
  readonly allowLocalImages: boolean;
  /** Why volumes and layers of a given size cannot be had, or undefined. */
  readonly noVolumes: string | undefined;
  readonly gpus: readonly GpuCapacity[];
}

/** Throws on specs that a container engine on one host can never run, naming the service and the remedy. */
export function checkSpec(spec: LeaseSpec, { allowLocalImages, noVolumes, gpus }: Abilities): void {
  checkServices(spec, (service, refuse) => {
    checkImage(service, allowLocalImages);
    if (noVolumes !== undefined) throw refuse(noVolumes);
    const { units, attributes } = service.resources.gpu;
    const wishes = (attributes ?? []).map(({ key }) => parseGpuWish(key));
    const wanted = BigInt(units.val);
    if (wanted > 0n && !gpus.some((gpu) => gpu.count >= wanted && isWantedGpu(gpu, wishes))) {
      throw refuse(`this host does not have ${wanted} GPUs of a requested kind`);
    }
    checkMemory(service, MIN_MEMORY, refuse);
    checkLeasedIps(service, false, refuse);
    checkPorts(spec, service, refuse);
    checkVolumes(service, refuse);
  });
}
