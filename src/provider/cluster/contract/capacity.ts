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
