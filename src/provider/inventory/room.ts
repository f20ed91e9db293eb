import { type ClusterCapacity, gpuName, isWantedGpu, type NodeCapacity, type StoragePool } from "../cluster/index.ts";
import {
  type GpuRoom,
  type NodeRoom,
  type PoolRoom,
  poolFor,
  type Quantities,
  type ReplicaNeed,
  replicaNeed,
  sum,
} from "./need.ts";
import type { RowNeed } from "./resources.ts";
import { shortage } from "./shortage.ts";

/** Overcommit of a resource in percent: 0 = none, 100 = twice. */
export interface Overcommit {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
}

/** Where the replicas of an order are. */
export interface Placement {
  /** Node of each replica, row by row. */
  readonly placement: readonly (readonly string[])[];
  /** Kind of the GPUs of each replica, if the order has any. */
  readonly gpus?: readonly (readonly string[])[];
}

/** A placement with the rows that it places. */
type Placed = Placement & { readonly rows: readonly RowNeed[] };
type Sign = 1n | -1n;

/** Where a replica fits: the node, and the kind of GPUs that it takes there. */
interface Fit {
  readonly node: NodeRoom;
  readonly gpus: GpuRoom | undefined;
}

/** Free resources of a cluster while reservations are subtracted. */
export class Room {
  readonly #own: ReadonlyMap<string, readonly PoolRoom[]>;
  readonly #nodes: readonly NodeRoom[];
  readonly #byName: ReadonlyMap<string, NodeRoom>;

  constructor({ nodes, storage }: ClusterCapacity, overcommit: Overcommit) {
    const shared = pools(storage, overcommit);
    this.#own = new Map(nodes.map((node) => [node.name, pools(node.storage, overcommit)]));
    this.#nodes = nodes.map((node) => nodeRoom(node, [...(this.#own.get(node.name) ?? []), ...shared], overcommit));
    this.#byName = new Map(this.#nodes.map((node) => [node.name, node]));
  }

  /** Subtracts a placement from its node, even if there is no room for it. */
  take(placed: Placed): void {
    this.#move(placed, -1n);
  }

  /** Gives back what `take` or `place` took. */
  give(placed: Placed): void {
    this.#move(placed, 1n);
  }

  /**
   * First fit, replica by replica; takes the found room. Throws one sentence, and takes nothing, if a replica fits
   * nowhere.
   */
  place(rows: readonly RowNeed[]): Placement {
    const taken: (readonly [Fit, ReplicaNeed])[] = [];
    const putAll = (row: RowNeed): Fit[] => {
      const need = replicaNeed(row);
      // Where one replica did not fit, the next of the same row does not either.
      let from = 0;
      return Array.from({ length: Number(row.count) }, () => {
        const { fit, at } = this.#put(need, from);
        from = at;
        taken.push([fit, need]);
        return fit;
      });
    };
    try {
      return placementOf(rows.map(putAll));
    } catch (error) {
      for (const [fit, need] of taken) change(fit, need, 1n);
      throw error;
    }
  }

  #move({ rows, placement, gpus }: Placed, sign: Sign): void {
    rows.forEach((row, i) => {
      const need = replicaNeed(row);
      placement[i]?.forEach((name, k) => {
        const node = this.#byName.get(name);
        if (node === undefined) return;
        const kind = gpus?.[i]?.[k];
        change({ node, gpus: node.gpus.find(({ gpu }) => gpuName(gpu) === kind) ?? node.gpus[0] }, need, sign);
      });
    });
  }

  /** Each node's free resources; negative if it shrank below its reservations. */
  left(): (Quantities & { readonly name: string })[] {
    return this.#nodes.map(({ name, cpu, memory, gpus }) => ({
      name,
      cpu,
      memory,
      storage: sum(this.#own.get(name) ?? []),
      gpu: sum(gpus),
    }));
  }

  /** Free amounts of all nodes together. Storage in common counts once, and a node with less than nothing as empty. */
  total(): Quantities {
    const add = (amounts: readonly bigint[]) => amounts.reduce((total, each) => (each > 0n ? total + each : total), 0n);
    const pools = [...new Set(this.#nodes.flatMap((node) => node.pools))];
    return {
      cpu: add(this.#nodes.map(({ cpu }) => cpu)),
      memory: add(this.#nodes.map(({ memory }) => memory)),
      storage: add(pools.map(({ left }) => left)),
      gpu: add(this.#nodes.flatMap(({ gpus }) => gpus.map(({ left }) => left))),
    };
  }

  #put(need: ReplicaNeed, from: number): { readonly fit: Fit; readonly at: number } {
    for (const [i, node] of this.#nodes.slice(from).entries()) {
      const fit = fitOn(node, need);
      if (fit === undefined) continue;
      change(fit, need, -1n);
      return { fit, at: from + i };
    }
    throw new Error(`insufficient capacity: ${shortage(this.#nodes, need)}`);
  }
}

function pools(storage: readonly StoragePool[], overcommit: Overcommit): PoolRoom[] {
  return storage.map(({ classes, bytes }) => ({ classes, left: withOvercommit(bytes, overcommit.storage) }));
}

function nodeRoom(node: NodeCapacity, storage: readonly PoolRoom[], overcommit: Overcommit): NodeRoom {
  return {
    name: node.name,
    cpu: withOvercommit(node.cpu, overcommit.cpu),
    memory: withOvercommit(node.memory, overcommit.memory),
    pools: storage,
    gpus: node.gpus.map((gpu) => ({ gpu, left: gpu.count })),
  };
}

/** The node with the GPUs to take, or undefined if the replica does not fit on it. */
function fitOn(node: NodeRoom, need: ReplicaNeed): Fit | undefined {
  if (need.cpu > node.cpu || need.memory > node.memory || !hasStorage(node, need)) return undefined;
  if (need.gpu === 0n) return { node, gpus: undefined };
  const gpus = node.gpus.find(({ gpu, left }) => left >= need.gpu && isWantedGpu(gpu, need.gpuKinds));
  return gpus === undefined ? undefined : { node, gpus };
}

function hasStorage(node: NodeRoom, { classes }: ReplicaNeed): boolean {
  const wanted = new Map<PoolRoom, bigint>();
  for (const [name, bytes] of classes) {
    const pool = poolFor(node.pools, name);
    if (pool === undefined) return false;
    wanted.set(pool, (wanted.get(pool) ?? 0n) + bytes);
  }
  return [...wanted].every(([pool, bytes]) => bytes <= pool.left);
}

function placementOf(fits: readonly (readonly Fit[])[]): Placement {
  const placement = fits.map((row) => row.map(({ node }) => node.name));
  if (!fits.flat().some(({ gpus }) => gpus !== undefined)) return { placement };
  return { placement, gpus: fits.map((row) => row.map(({ gpus }) => (gpus === undefined ? "" : gpuName(gpus.gpu)))) };
}

/** Takes a replica's needs from a node, or gives them back. */
function change({ node, gpus }: Fit, need: ReplicaNeed, sign: Sign): void {
  node.cpu += sign * need.cpu;
  node.memory += sign * need.memory;
  for (const [name, bytes] of need.classes) {
    const pool = poolFor(node.pools, name);
    if (pool !== undefined) pool.left += sign * bytes;
  }
  if (gpus !== undefined) gpus.left += sign * need.gpu;
}

function withOvercommit(value: bigint, percent: number): bigint {
  return (value * BigInt(Math.round((100 + percent) * 100))) / 10_000n;
}

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
