import { formatBytes } from "../../sdl/index.ts";
import { gpuName, isWantedGpu } from "../cluster/index.ts";
import { type NodeRoom, poolFor, type Quantities, type ReplicaNeed, sum } from "./need.ts";

const MIB = 1n << 20n;
const GIB = 1n << 30n;
const TEN_GIB = 10n * GIB;

/** The first thing that no node has enough of for one more replica, or that no node has together with the others. */
export function shortage(nodes: readonly NodeRoom[], need: ReplicaNeed): string {
  if (nodes.length === 0) return "the cluster has no node";
  return (
    resourceShortage(nodes, need) ??
    classShortage(nodes, need) ??
    gpuShortage(nodes, need) ??
    "no single node has cpu, memory and storage for one more replica"
  );
}

const LEFT: Readonly<Record<keyof Quantities, (node: NodeRoom) => bigint>> = {
  cpu: ({ cpu }) => cpu,
  memory: ({ memory }) => memory,
  storage: ({ pools }) => sum(pools),
  gpu: ({ gpus }) => sum(gpus),
};
const RESOURCES = ["cpu", "memory", "storage", "gpu"] as const;

function resourceShortage(nodes: readonly NodeRoom[], need: ReplicaNeed): string | undefined {
  for (const resource of RESOURCES) {
    const left = most(nodes, LEFT[resource]);
    if (need[resource] <= left) continue;
    return `${resource} ${formatAmount(resource, need[resource])} wanted per replica, at most ${rounded(resource, left)} left on a node`;
  }
  return undefined;
}

function classShortage(nodes: readonly NodeRoom[], { classes }: ReplicaNeed): string | undefined {
  for (const [name, bytes] of classes) {
    const left = most(nodes, ({ pools }) => poolFor(pools, name)?.left ?? 0n);
    if (bytes <= left) continue;
    const asked = formatAmount("storage", bytes);
    return `${asked} of storage class ${name} wanted per replica, at most ${rounded("storage", left)} left on a node`;
  }
  return undefined;
}

function gpuShortage(nodes: readonly NodeRoom[], { gpu: count, gpuKinds }: ReplicaNeed): string | undefined {
  const rooms = nodes.flatMap(({ gpus }) => gpus).filter(({ gpu }) => isWantedGpu(gpu, gpuKinds));
  const left = rooms.reduce((max, room) => (room.left > max ? room.left : max), 0n);
  if (count <= left) return undefined;
  const kinds = gpuKinds.map(gpuName).join(" or ");
  return `gpu ${count}${kinds === "" ? "" : ` of ${kinds}`} wanted per replica, at most ${left} left on a node`;
}

function most(nodes: readonly NodeRoom[], left: (node: NodeRoom) => bigint): bigint {
  return nodes.map(left).reduce((max, each) => (each > max ? each : max), 0n);
}

/** An amount as deployment files write it. */
export function formatAmount(resource: keyof Quantities | "ports", amount: bigint): string {
  if (resource === "gpu" || resource === "ports") return amount.toString();
  return resource === "cpu" ? `${amount}m` : formatBytes(amount);
}

/** The free amount, rounded down to units that can be requested. */
function rounded(resource: keyof Quantities, amount: bigint): string {
  const isBytes = resource === "memory" || resource === "storage";
  return formatAmount(resource, isBytes ? amount - (amount % (amount < TEN_GIB ? MIB : GIB)) : amount);
}
