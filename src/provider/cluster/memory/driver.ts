import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import {
  type AdoptedLease,
  type ClusterDriver,
  type ClusterEvent,
  clusterErrors,
  type ExecRequest,
  type ExecSession,
  type LeaseHealth,
  type LeaseSpec,
  type LogLine,
  leaseNamespace,
  type NodeCapacity,
  replicaName,
  type StreamOptions,
} from "../contract/index.ts";
import { type BackoffPolicy, checkSpec, EventLog, LineQueue, streamEvents } from "../shared/index.ts";
import { memoryExec } from "./exec.ts";
import { MemoryLease } from "./lease.ts";

export interface MemoryClusterOptions {
  readonly nodes?: readonly NodeCapacity[];
  /** Which images exist; all by default. */
  readonly hasImage?: (image: string) => boolean;
  readonly backoff?: BackoffPolicy;
  readonly nodePortAddress?: string;
}

const DEFAULT_NODE: NodeCapacity = {
  name: "memory",
  cpu: 8_000n,
  memory: 16n << 30n,
  storage: 100n << 30n,
  gpu: 0n,
};
const QUICK: BackoffPolicy = { first: 10, initial: 100, max: 1_000, resetAfter: 60_000 };

/**
 * A cluster without containers that lives in this process: replicas are loopback HTTP servers or little scripts. It outlives
 * its drivers as a real cluster does; what goes wrong with one can be played.
 */
export class MemoryCluster {
  readonly leases = new Map<string, MemoryLease>();
  readonly options: Required<MemoryClusterOptions>;
  readonly #folder = mkdtempSync(join(tmpdir(), "svc-memory-cluster-"));
  readonly events = new EventLog(this.#folder, silentLogger);
  /** Set to false, every call fails as with an engine that is away. */
  reachable = true;
  /** Why the cluster runs nothing of anybody. */
  obstacle: string | undefined;

  constructor(options: MemoryClusterOptions = {}) {
    this.options = {
      nodes: options.nodes ?? [DEFAULT_NODE],
      hasImage: options.hasImage ?? (() => true),
      backoff: options.backoff ?? QUICK,
      nodePortAddress: options.nodePortAddress ?? "127.0.0.1",
    };
  }

  /** A driver on the cluster; a second one after `close()` is the restarted daemon. */
  open(): ClusterDriver {
    return new MemoryDriver(this);
  }

  /** Ends a replica's program. */
  crash(id: LeaseKey, service: string, index: number, exitCode = 1): void {
    this.leases.get(leaseNamespace(id))?.replica(service, index)?.crash(exitCode);
  }

  /** Removes everything. */
  async destroy(): Promise<void> {
    for (const lease of this.leases.values()) await lease.close();
    this.leases.clear();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

class MemoryDriver implements ClusterDriver {
  readonly name = "memory";
  readonly #cluster: MemoryCluster;

  constructor(cluster: MemoryCluster) {
    this.#cluster = cluster;
  }

  async version(): Promise<Readonly<Record<string, string>>> {
    this.#reach();
    return { engine: "memory" };
  }

  async nodes(): Promise<readonly NodeCapacity[]> {
    this.#reach();
    return this.#cluster.options.nodes;
  }

  async obstacle(): Promise<string | undefined> {
    return this.#cluster.obstacle;
  }

  async deploy(spec: LeaseSpec): Promise<void> {
    this.#reach();
    checkSpec(spec, { allowLocalImages: true, noVolumes: undefined });
    const { leases, events, options } = this.#cluster;
    const namespace = leaseNamespace(spec.id);
    const known = leases.get(namespace);
    if (known !== undefined && spec.generation < known.spec.generation && spec.version !== known.spec.version) {
      throw clusterErrors.staleGeneration(`generation ${spec.generation} after ${known.spec.generation}`);
    }
    const event = (name: string, entry: ClusterEvent) => events.add(name, entry);
    const world = { ...options, policy: options.backoff, event };
    const lease = known ?? new MemoryLease(spec, world);
    leases.set(namespace, lease);
    lease.deploy(spec);
  }

  async teardown(id: LeaseKey): Promise<void> {
    this.#reach();
    const namespace = leaseNamespace(id);
    await this.#cluster.leases.get(namespace)?.close();
    this.#cluster.leases.delete(namespace);
    this.#cluster.events.remove(namespace);
  }

  async adopt(): Promise<readonly AdoptedLease[]> {
    this.#reach();
    return [...this.#cluster.leases.values()].map(({ spec }) => ({
      id: spec.id,
      version: spec.version,
      generation: spec.generation,
    }));
  }

  async status(id: LeaseKey): Promise<LeaseHealth> {
    const lease = this.#cluster.leases.get(leaseNamespace(id));
    if (lease === undefined) return { health: "unknown", services: [] };
    return this.#cluster.reachable ? lease.status() : { ...lease.status(), health: "unknown" };
  }

  backends(id: LeaseKey, service: string, port: number): readonly string[] {
    return this.#cluster.leases.get(leaseNamespace(id))?.backends(service, port) ?? [];
  }

  async *logs(id: LeaseKey, options: StreamOptions): AsyncIterable<LogLine> {
    const lease = this.#known(id);
    const wanted = (line: LogLine) =>
      options.services.length === 0 || options.services.some((name) => line.name.replace(/-\d+$/, "") === name);
    const queue = new LineQueue<LogLine>();
    const listener = (line: LogLine | undefined) => {
      if (line === undefined) queue.end();
      else if (wanted(line)) void queue.push(line);
    };
    const end = () => queue.end();
    lease.listeners.add(listener);
    options.signal.addEventListener("abort", end, { once: true });
    try {
      yield* lastLines(lease.lines.filter(wanted), options.tail);
      if (options.follow && !options.signal.aborted) yield* queue;
    } finally {
      lease.listeners.delete(listener);
      options.signal.removeEventListener("abort", end);
    }
  }

  events(id: LeaseKey, options: StreamOptions): AsyncIterable<ClusterEvent> {
    this.#known(id);
    return streamEvents(this.#cluster.events, leaseNamespace(id), options);
  }

  async exec(id: LeaseKey, request: ExecRequest): Promise<ExecSession> {
    this.#reach();
    const lease = this.#known(id);
    const names = lease.spec.group.services.map((service) => service.name);
    if (!names.includes(request.service)) {
      throw clusterErrors.noReplica(`service "${request.service}" is not in the lease, it has ${names.join(", ")}`);
    }
    if (lease.replica(request.service, request.replica)?.ready !== true) {
      throw clusterErrors.noReplica(replicaName(request.service, request.replica));
    }
    return memoryExec(request);
  }

  async close(): Promise<void> {}

  #reach(): void {
    if (!this.#cluster.reachable) throw clusterErrors.unreachable("the memory cluster was switched off");
  }

  #known(id: LeaseKey): MemoryLease {
    const lease = this.#cluster.leases.get(leaseNamespace(id));
    if (lease === undefined) throw clusterErrors.unknownLease(formatLeaseId(id));
    return lease;
  }
}

/** The last lines of every replica, in the order they were written. */
function lastLines(lines: readonly LogLine[], tail: number): LogLine[] {
  if (tail < 0) return [...lines];
  const left = new Map<string, number>();
  const kept: LogLine[] = [];
  for (const line of lines.toReversed()) {
    const count = left.get(line.name) ?? 0;
    left.set(line.name, count + 1);
    if (count < tail) kept.unshift(line);
  }
  return kept;
}
