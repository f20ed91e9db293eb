import { EPHEMERAL, type GpuCapacity, type StoragePool } from "../cluster/index.ts";
import type { RowNeed, VolumeNeed } from "./resources.ts";

/** Cpu in thousandths of a core, gpu in pieces, the others in bytes. */
export interface Quantities {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly gpu: bigint;
}

export interface PoolRoom {
  readonly classes: StoragePool["classes"];
  left: bigint;
}

export interface GpuRoom {
  readonly gpu: GpuCapacity;
  left: bigint;
}

export interface NodeRoom {
  readonly name: string;
  cpu: bigint;
  memory: bigint;
  /** The node's own pools first, then the pools of the whole cluster, which all nodes share. */
  readonly pools: readonly PoolRoom[];
  readonly gpus: readonly GpuRoom[];
}

/** Resources of one replica. */
export interface ReplicaNeed extends Quantities {
  /** Bytes by storage class. */
  readonly classes: ReadonlyMap<string, bigint>;
  readonly gpuKinds: RowNeed["gpuKinds"];
}

export function sum(parts: readonly { readonly left: bigint }[]): bigint {
  return parts.reduce((total, { left }) => total + left, 0n);
}

/** The pool that volumes of the class come from. */
export function poolFor(pools: readonly PoolRoom[], name: string): PoolRoom | undefined {
  return pools.find(({ classes }) => classes === "all" || classes.includes(name));
}

/** Volumes of memory count as memory, all others as storage of their class. */
export function replicaNeed({ cpu, memory, gpu, gpuKinds, volumes }: RowNeed): ReplicaNeed {
  const classes = new Map<string, bigint>();
  const ofMemory = volumes.filter((volume) => volume.class === "ram");
  const onDisk = volumes.filter((volume) => volume.class !== "ram");
  for (const volume of onDisk) {
    const name = storageClass(volume);
    classes.set(name, (classes.get(name) ?? 0n) + volume.bytes);
  }
  return { cpu, memory: memory + bytesOf(ofMemory), storage: bytesOf(onDisk), gpu, gpuKinds, classes };
}

function storageClass(volume: VolumeNeed): string {
  return volume.persistent ? volume.class : EPHEMERAL;
}

function bytesOf(volumes: readonly VolumeNeed[]): bigint {
  return volumes.reduce((total, { bytes }) => total + bytes, 0n);
}

/** Requirements of all replicas of all rows. */
export function totalOf(rows: readonly RowNeed[]): Quantities {
  const sum = (of: (row: RowNeed) => bigint) => rows.reduce((total, row) => total + of(row) * row.count, 0n);
  const bytes = (row: RowNeed) => row.volumes.reduce((total, volume) => total + volume.bytes, 0n);
  return {
    cpu: sum((row) => row.cpu),
    memory: sum((row) => row.memory),
    storage: sum(bytes),
    gpu: sum((row) => row.gpu),
  };
}
