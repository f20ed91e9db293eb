import type { ManifestService } from "../../../sdl/index.ts";
import { isLeasedIpExpose, isWantedGpu, type LeaseSpec, type NodeCapacity, parseGpuWish } from "../contract/index.ts";
import { checkImage, checkLeasedIps, checkMemory, checkPorts, checkServices, checkVolumes } from "../shared/index.ts";
import { encodeRecord, MAX_RECORD } from "./lease/record.ts";
import { gpuVendors, leasedIpName, nodePortsName, workloadName } from "./objects/index.ts";

/** Container runtimes refuse memory limits below this many bytes. */
export const MIN_MEMORY = 6n << 20n;

/** Abilities of the cluster, for refusing specs that it can never run. */
export interface Abilities {
  readonly allowLocalImages: boolean;
  readonly nodes: readonly NodeCapacity[];
  /** Whether the lease can have addresses of its own. */
  readonly leasedIps: boolean;
}

/** Throws on specs that the cluster can never run, naming the service and the remedy. */
export function checkSpec(spec: LeaseSpec, { allowLocalImages, nodes, leasedIps }: Abilities): void {
  const names = new Set<string>();
  checkServices(spec, (service, refuse) => {
    checkImage(service, allowLocalImages);
    const { units, attributes = [] } = service.resources.gpu;
    const wishes = attributes.map(({ key }) => parseGpuWish(key));
    const gpus = nodes.flatMap((node) => node.gpus);
    if (BigInt(units.val) > 0n && !gpus.some((gpu) => isWantedGpu(gpu, wishes))) {
      throw refuse("there is no GPU of a requested kind here");
    }
    if (gpuVendors(service).length > 1) throw refuse("a replica has GPUs of one vendor only; name one");
    checkMemory(service, MIN_MEMORY, refuse);
    checkLeasedIps(service, leasedIps, refuse);
    checkPorts(spec, service, refuse);
    checkVolumes(service, refuse);
    // Only a name that was made to collide does.
    for (const name of new Set(objectNames(service))) {
      if (names.has(name)) throw refuse("another service of the lease needs its name; choose another name");
      names.add(name);
    }
  });
  const bytes = Buffer.byteLength(encodeRecord({ spec, restarts: {} }));
  checkServices(spec, (_, refuse) => {
    if (bytes > MAX_RECORD)
      throw refuse(`the manifest is larger than the ${MAX_RECORD >> 10} KiB that clusters can keep`);
  });
}

/** Names of the lease's objects for a service. */
function objectNames({ name, expose }: ManifestService): string[] {
  const addresses = expose.filter(isLeasedIpExpose).map(({ ip }) => leasedIpName(name, ip));
  return [name, workloadName(name), nodePortsName(name), ...addresses];
}
