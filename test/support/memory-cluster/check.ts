import {
  isWantedGpu,
  type LeaseSpec,
  type NodeCapacity,
  parseGpuWish,
} from "../../../src/provider/cluster/contract/index.ts";
import {
  checkImage,
  checkLeasedIps,
  checkMemory,
  checkPorts,
  checkServices,
  checkVolumes,
} from "../../../src/provider/cluster/shared/index.ts";

/** As much as the smallest of other clusters. */
export const LEAST_MEMORY = 6n << 20n;

/** Capacity of the cluster, for the refusal of specs that it can never run. */
interface Abilities {
  readonly nodes: readonly NodeCapacity[];
  readonly leasedIps: boolean;
}

/** Throws on specs that the cluster can never run: a GPU is available if a node has some of the requested kind. */
export function checkSpec(spec: LeaseSpec, { nodes, leasedIps }: Abilities): void {
  checkServices(spec, (service, refuse) => {
    checkImage(service, true);
    const { units, attributes = [] } = service.resources.gpu;
    const wishes = attributes.map(({ key }) => parseGpuWish(key));
    const gpus = nodes.flatMap((node) => node.gpus);
    if (BigInt(units.val) > 0n && !gpus.some((gpu) => isWantedGpu(gpu, wishes))) {
      throw refuse("there is no GPU of a requested kind here");
    }
    checkMemory(service, LEAST_MEMORY, refuse);
    checkLeasedIps(service, leasedIps, refuse);
    checkPorts(spec, service, refuse);
    checkVolumes(service, refuse);
  });
}
