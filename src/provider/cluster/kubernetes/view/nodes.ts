import { EPHEMERAL, type GpuCapacity, type NodeCapacity } from "../../contract/index.ts";
import type { KubernetesApi } from "../api/api.ts";
import type { ApiObject } from "../api/objects.ts";
import { GPU_LABEL, gpuResource, KIND } from "../objects/index.ts";
import type { Claim } from "./pods.ts";
import { milliQuantity, quantity } from "./quantity.ts";

/** A node of the API, as far as it is read. */
export interface ApiNode extends ApiObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, unknown>>;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface ObservedNode extends NodeCapacity {
  /** Whether pods of leases are put on it. */
  readonly open: boolean;
}

/** Capacity of an empty node. */
export function observeNode({ metadata, spec, status }: ApiNode): ObservedNode {
  const { allocatable = {}, conditions = [] } = status ?? {};
  const isReady = conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
  const isKept = (spec?.taints ?? []).some(({ key, effect }) => effect !== "PreferNoSchedule" && !isGpuTaint(key));
  return {
    name: metadata.name,
    open: isReady && spec?.unschedulable !== true && !isKept,
    cpu: milliQuantity(allocatable.cpu),
    memory: quantity(allocatable.memory),
    storage: [{ classes: [EPHEMERAL], bytes: quantity(allocatable["ephemeral-storage"]) }],
    gpus: gpusOf(metadata.labels ?? {}, allocatable),
  };
}

/** The pods of leases that need a graphics processor tolerate this one. */
function isGpuTaint(key: string): boolean {
  return key === gpuResource("nvidia");
}

/** A node counts its graphics processors by vendor, so all of one node are of the kind in its labels. */
function gpusOf(
  labels: Readonly<Record<string, string>>,
  allocatable: Readonly<Record<string, unknown>>,
): GpuCapacity[] {
  const { [GPU_LABEL.vendor]: vendor, [GPU_LABEL.model]: model } = labels;
  const { [GPU_LABEL.ram]: ram, [GPU_LABEL.interface]: bus } = labels;
  if (vendor === undefined || model === undefined) return [];
  const count = quantity(allocatable[gpuResource(vendor)]);
  if (count === 0n) return [];
  return [
    { vendor, model, ...(ram === undefined ? {} : { ram }), ...(bus === undefined ? {} : { interface: bus }), count },
  ];
}

/** The graphics processors of all nodes. */
export async function nodeGpus(api: KubernetesApi): Promise<GpuCapacity[]> {
  const { objects } = await api.list<ApiNode>(KIND.node);
  return objects.flatMap((node) => observeNode(node).gpus);
}

/** Free capacity of the node besides other owners' pods. */
export function freeOf(node: ObservedNode, claims: Iterable<Claim>): NodeCapacity {
  const used = { cpu: 0n, memory: 0n, storage: 0n, gpus: 0n };
  for (const { cpu, memory, storage, gpus } of claims) {
    used.cpu += cpu;
    used.memory += memory;
    used.storage += storage;
    used.gpus += gpus;
  }
  const { name, cpu, memory, storage, gpus } = node;
  return {
    name,
    cpu: atLeastZero(cpu - used.cpu),
    memory: atLeastZero(memory - used.memory),
    storage: storage.map((pool) => ({ ...pool, bytes: atLeastZero(pool.bytes - used.storage) })),
    gpus: gpus.map((gpu) => ({ ...gpu, count: atLeastZero(gpu.count - used.gpus) })),
  };
}

function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount;
}
