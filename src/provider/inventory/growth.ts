import { type ClusterCapacity, gpuName, type NodeCapacity, type StoragePool } from "../cluster/index.ts";

/** Whether the cluster has more resources than before: a new node, class of storage or kind of GPU, or more of one. */
export function hasGrown(before: ClusterCapacity, after: ClusterCapacity): boolean {
  if (hasMoreStorage(before.storage, after.storage)) return true;
  if ((after.addresses ?? 0) > (before.addresses ?? 0)) return true;
  const nodes = new Map(before.nodes.map((node) => [node.name, node]));
  return after.nodes.some((now) => {
    const then = nodes.get(now.name);
    return then === undefined || isLarger(then, now);
  });
}

function isLarger(then: NodeCapacity, now: NodeCapacity): boolean {
  return (
    now.cpu > then.cpu ||
    now.memory > then.memory ||
    hasMoreStorage(then.storage, now.storage) ||
    hasMoreGpus(then, now)
  );
}

function hasMoreStorage(before: readonly StoragePool[], after: readonly StoragePool[]): boolean {
  const amounts = amountsOf(before.map(({ classes, bytes }) => [nameOf(classes), bytes]));
  return after.some(({ classes, bytes }) => bytes > (amounts.get(nameOf(classes)) ?? 0n));
}

function hasMoreGpus({ gpus }: NodeCapacity, now: NodeCapacity): boolean {
  const amounts = amountsOf(gpus.map((gpu) => [gpuName(gpu), gpu.count]));
  return now.gpus.some((gpu) => gpu.count > (amounts.get(gpuName(gpu)) ?? 0n));
}

/** Pools with the same name count as the smaller: detecting too much growth does no harm. */
function amountsOf(rows: readonly (readonly [name: string, amount: bigint])[]): ReadonlyMap<string, bigint> {
  const amounts = new Map<string, bigint>();
  for (const [name, amount] of rows) {
    const known = amounts.get(name);
    amounts.set(name, known === undefined || amount < known ? amount : known);
  }
  return amounts;
}

function nameOf(classes: StoragePool["classes"]): string {
  return classes === "all" ? classes : classes.join(" ");
}
