import type { GpuCapacity } from "../../contract/index.ts";
import type { GpuModel } from "./models.ts";
import { modelOf, UNKNOWN_MODEL } from "./models.ts";
import { type CdiDevice, type CdiSpec, GPU_CLASS } from "./specs.ts";

/** A graphics processor of this machine that a container can be given. */
export interface GpuDevice extends Omit<GpuCapacity, "count"> {
  /** As engines call it: `nvidia.com/gpu=0`. */
  readonly name: string;
}

/** Sources of models besides the descriptions. */
export interface ModelSources {
  /** The operator's models, by device (`nvidia.com/gpu=0`) or by kind (`nvidia.com/gpu`). */
  readonly named: ReadonlyMap<string, GpuModel>;
  /** The driver's models, by the path of the device. */
  readonly detected: ReadonlyMap<string, GpuModel>;
}

/** The name under which vendors describe all of a machine's devices together. */
const ALL = "all";

/**
 * The graphics processors in the descriptions, each once: vendors describe one device by number and by UUID, and add an
 * entry for all devices together.
 */
export function gpuDevices(specs: readonly CdiSpec[], sources: ModelSources): GpuDevice[] {
  const kinds = new Map<string, Map<string, CdiDevice>>();
  for (const { kind, devices } of specs) {
    if (kind.split("/")[1] !== GPU_CLASS) continue;
    const known = kinds.get(kind) ?? new Map<string, CdiDevice>();
    for (const device of devices) if (!known.has(device.name)) known.set(device.name, device);
    kinds.set(kind, known);
  }
  const found = [...kinds].flatMap(([kind, known]) =>
    singles([...known.values()]).map((device) => gpuDevice(kind, device, sources)),
  );
  return found.sort((a, b) => byNumber(a.name, b.name));
}

function gpuDevice(kind: string, device: CdiDevice, { named, detected }: ModelSources): GpuDevice {
  const name = `${kind}=${device.name}`;
  const byDriver = nodesOf(device).flatMap((path) => detected.get(path) ?? []);
  const model = named.get(name) ?? named.get(kind) ?? byDriver[0] ?? UNKNOWN_MODEL;
  return { name, vendor: kind.split(/[./]/)[0] ?? "", ...modelOf(model) };
}

/** Devices that neither contain another one nor are its second name. */
function singles(devices: readonly CdiDevice[]): CdiDevice[] {
  const sorted = devices.toSorted((a, b) => byNumber(a.name, b.name));
  const apart = sorted.filter(({ name }) => name !== ALL);
  const all = (apart.length === 0 ? sorted : apart).map((device) => ({ device, nodes: nodesOf(device) }));
  const found = all.filter(({ nodes }, i) => {
    const own = new Set(nodes);
    return !all.some(({ nodes: others }, k) => {
      const isWithin = others.length > 0 && others.every((path) => own.has(path));
      return isWithin && (others.length < own.size || k < i);
    });
  });
  return found.map(({ device }) => device);
}

function nodesOf({ containerEdits }: CdiDevice): string[] {
  return [...new Set((containerEdits?.deviceNodes ?? []).map(({ path, hostPath }) => hostPath ?? path))];
}

/** `gpu=2` comes before `gpu=10`. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** How many there are of each kind, in the order of the devices. */
export function gpuKinds(devices: readonly GpuDevice[], nameOf: (gpu: GpuDevice) => string): GpuCapacity[] {
  const kinds = new Map<string, GpuCapacity>();
  for (const device of devices) {
    const { name: _, ...kind } = device;
    kinds.set(nameOf(device), { ...kind, count: (kinds.get(nameOf(device))?.count ?? 0n) + 1n });
  }
  return [...kinds.values()];
}
