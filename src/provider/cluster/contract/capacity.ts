import type { ManifestService } from "../../../sdl/index.ts";

/** The storage class of volumes that end with their container. */
export const EPHEMERAL = "ephemeral";

/** Storage that volumes of the named classes share. */
export interface StoragePool {
  /** Classes as deployment files have them (`default`, `beta2`, ...) and `ephemeral`. */
  readonly classes: readonly string[] | "all";
  readonly bytes: bigint;
}

/** Graphics processors of one kind. */
export interface GpuCapacity {
  readonly vendor: string;
  /** Short name as deployment files have it, for example `a100`. */
  readonly model: string;
  /** Memory, for example `80Gi`, and bus (`pcie`, `sxm`), if the cluster reports them. */
  readonly ram?: string;
  readonly interface?: string;
  readonly count: bigint;
}

/** Capacity of one node: cpu in thousandths of a core, memory in bytes. */
export interface NodeCapacity {
  readonly name: string;
  readonly cpu: bigint;
  readonly memory: bigint;
  /** Storage that only this node can use. */
  readonly storage: readonly StoragePool[];
  readonly gpus: readonly GpuCapacity[];
}

export interface ClusterCapacity {
  readonly nodes: readonly NodeCapacity[];
  /** Storage that every node can use. */
  readonly storage: readonly StoragePool[];
  /** How many IP addresses leases can have as their own, taken or not; none where it is not said. */
  readonly addresses?: number;
}

/** Limits of a cluster, independent of its free capacity. */
export interface ClusterLimits {
  /** Bytes of memory below which no replica runs. */
  readonly leastMemory: bigint;
  /** Whether leases can have IP addresses of their own. */
  readonly leasedIps: boolean;
}

/** A kind of GPU that an order accepts. `*` is any model; missing fields accept anything. */
export interface GpuWish {
  readonly vendor: string;
  readonly model: string;
  readonly ram?: string;
  readonly interface?: string;
}

/** Reads an attribute key of a GPU: `vendor/nvidia/model/a100/ram/80Gi/interface/pcie`. */
export function parseGpuWish(key: string): GpuWish {
  const words = key.split("/");
  const after = (name: string) => words.find((_, i) => i % 2 === 1 && words[i - 1] === name);
  const [ram, bus] = [after("ram"), after("interface")];
  return {
    vendor: after("vendor") ?? "",
    model: after("model") ?? "*",
    ...(ram === undefined ? {} : { ram }),
    ...(bus === undefined ? {} : { interface: bus }),
  };
}

/** Whether the GPU is of one of the kinds; without kinds every GPU is. */
export function isWantedGpu(gpu: GpuCapacity, wishes: readonly GpuWish[]): boolean {
  return wishes.length === 0 || wishes.some((wish) => meets(gpu, wish));
}

function meets(gpu: GpuCapacity, wish: GpuWish): boolean {
  if (gpu.vendor !== wish.vendor || (wish.model !== "*" && wish.model !== gpu.model)) return false;
  return (wish.ram ?? gpu.ram) === gpu.ram && (wish.interface ?? gpu.interface) === gpu.interface;
}

/** Names a kind of GPU: `nvidia/a100/80Gi/pcie`. */
export function gpuName({ vendor, model, ram, interface: bus }: GpuWish): string {
  return [vendor, model, ram, bus].filter((part) => part !== undefined).join("/");
}

/** Whether the volume keeps its content over updates and restarts. */
export function isPersistent(storage: ManifestService["resources"]["storage"][number]): boolean {
  return attribute(storage.attributes, "persistent") === "true";
}

/** Whether the volume lives in memory. */
export function isRam(storage: ManifestService["resources"]["storage"][number]): boolean {
  return attribute(storage.attributes, "class") === "ram";
}

function attribute(
  attributes: readonly { readonly key: string; readonly value: string }[] | undefined,
  key: string,
): string | undefined {
  return attributes?.find((entry) => entry.key === key)?.value;
}
