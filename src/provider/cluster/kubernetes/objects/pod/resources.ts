import type { ManifestService } from "../../../../../sdl/index.ts";
import { isPersistent, isRam, parseGpuWish } from "../../../contract/index.ts";
import type { ObjectSettings } from "../settings.ts";

/** Where all storage is mounted elsewhere: mount points and sockets still lie in the layer of the container. */
const LEAST_LAYER = 16n << 20n;

export interface Amounts {
  readonly cpu: string;
  readonly memory: string;
  readonly "ephemeral-storage": string;
  readonly [gpu: string]: string;
}

/** Limits of a service's pod. Volumes in memory count as memory. */
export function limitsOf(service: ManifestService): Amounts {
  const { cpu, memory, storage } = sizes(service);
  return { ...texts(cpu, memory, storage), ...gpus(service) };
}

/** Requests of a service's pod on its node. */
export function requestsOf(service: ManifestService, overcommit: ObjectSettings["overcommit"]): Amounts {
  const { cpu, memory, storage } = sizes(service);
  return {
    ...texts(
      committed(cpu, overcommit.cpu),
      committed(memory, overcommit.memory),
      committed(storage, overcommit.storage),
    ),
    ...gpus(service),
  };
}

/** Name under which nodes count the graphics processors of a vendor. */
export function gpuResource(vendor: string): string {
  return `${vendor}.com/gpu`;
}

/** Vendors of the service's acceptable graphics processors; a pod can have only one. */
export function gpuVendors({ resources: { gpu } }: ManifestService): readonly string[] {
  if (BigInt(gpu.units.val) === 0n) return [];
  const vendors = (gpu.attributes ?? []).map(({ key }) => parseGpuWish(key).vendor);
  return vendors.length === 0 ? ["nvidia"] : [...new Set(vendors)];
}

export interface Sizes {
  /** Thousandths of a core. */
  readonly cpu: bigint;
  /** Bytes. */
  readonly memory: bigint;
  readonly storage: bigint;
}

/** Sizes of one pod. */
export function sizes({ resources, params }: ManifestService): Sizes {
  const mounted = new Set((params?.storage ?? []).map(({ name }) => name));
  const local = resources.storage.filter((each) => !isPersistent(each));
  const sum = (list: typeof local) => list.reduce((total, { size }) => total + BigInt(size.val), 0n);
  const inMemory = (each: (typeof local)[number]) => mounted.has(each.name) && isRam(each);
  const storage = sum(local.filter((each) => !inMemory(each)));
  return {
    cpu: BigInt(resources.cpu.units.val),
    memory: BigInt(resources.memory.size.val) + sum(local.filter(inMemory)),
    storage: storage === 0n ? LEAST_LAYER : storage,
  };
}

function texts(cpu: bigint, memory: bigint, storage: bigint) {
  return { cpu: `${cpu}m`, memory: memory.toString(), "ephemeral-storage": storage.toString() };
}

function gpus(service: ManifestService): Record<string, string> {
  const [vendor] = gpuVendors(service);
  return vendor === undefined ? {} : { [gpuResource(vendor)]: service.resources.gpu.units.val };
}

/** Rounded up, so that nothing is promised twice. Hundredths of a per cent count. */
function committed(amount: bigint, percent: number): bigint {
  const whole = 10_000n + BigInt(Math.round(percent * 100));
  return (amount * 10_000n + whole - 1n) / whole;
}
