import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AdoptedLease,
  type ClusterAddresses,
  type ClusterCapacity,
  type ClusterDriver,
  type ClusterEvent,
  type ClusterLimits,
  type ClusterPorts,
  type ClusterRouting,
  clusterErrors,
  type ExecRequest,
  type ExecSession,
  externalPort,
  isLeasedIpExpose,
  type LeasedAddress,
  type LeaseHealth,
  type LeaseSpec,
  type LogLine,
  type LogOptions,
  leaseNamespace,
  type NodeCapacity,
  type PortCarrier,
  type PortRange,
  type RouteTarget,
  replicaName,
  type StoragePool,
  type StreamOptions,
} from "../../../src/provider/cluster/contract/index.ts";
import {
  AddressBook,
  type BackoffPolicy,
  EventLog,
  type Holding,
  isSameHolding,
  LineQueue,
  LocalCarrier,
  leasedAddresses,
  PortAllocator,
  type PortProbe,
  portTaken,
  streamEvents,
} from "../../../src/provider/cluster/shared/index.ts";
import type { HostFault } from "../../../src/provider/reasons.ts";
import type { ManifestGroup } from "../../../src/sdl/index.ts";
import { silentLogger } from "../../../src/util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../src/wire/index.ts";
import { checkSpec, LEAST_MEMORY } from "./check.ts";
import { memoryExec } from "./exec.ts";
import { MemoryIngress } from "./ingress.ts";
import { MemoryLease } from "./lease.ts";

export interface MemoryClusterOptions {
  readonly nodes?: readonly NodeCapacity[];
  /** Which images exist; all by default. */
  readonly hasImage?: (image: string) => boolean;
  readonly backoff?: BackoffPolicy;
  readonly nodePortAddress?: string;
  /** Carrier of node ports; this process by default. */
  readonly carrier?: PortCarrier;
  readonly nodePorts?: PortRange;
  /** Whether a port is free; asks this machine by default. */
  readonly portProbe?: PortProbe;
  /** Storage that all nodes share; none by default. */
  readonly storage?: readonly StoragePool[];
  /** Addresses that leases can have as their own; none by default. */
  readonly leasedIps?: readonly string[];
  /** Whose ingress routes host names; the provider's by default. */
  readonly ingress?: "provider" | "cluster";
}

const DEFAULT_NODE: NodeCapacity = {
  name: "memory",
  cpu: 8_000n,
  memory: 16n << 30n,
  storage: [{ classes: "all", bytes: 100n << 30n }],
  gpus: [],
};
const QUICK: BackoffPolicy = { first: 10, initial: 100, max: 1_000, resetAfter: 60_000 };

interface MemoryDefaults {
  readonly nodes: readonly NodeCapacity[];
  readonly hasImage: (image: string) => boolean;
  readonly backoff: BackoffPolicy;
  readonly nodePortAddress: string;
}

/**
 * A cluster without containers that lives in this process: replicas are loopback HTTP servers or small scripts. It
 * outlives its drivers as a real cluster does, and faults can be played on it.
 */
export class MemoryCluster {
  readonly leases = new Map<string, MemoryLease>();
  readonly options: MemoryClusterOptions & MemoryDefaults;
  readonly ingress: MemoryIngress | undefined;
  /** Who has which address. */
  readonly holdings = new Map<string, Holding>();
  readonly #folder = mkdtempSync(join(tmpdir(), "svc-memory-cluster-"));
  readonly events = new EventLog(this.#folder, silentLogger);
  readonly watchers = new Set<(id: LeaseKey) => void>();
  readonly carrier: PortCarrier;
  /** Set to false, every call fails as with a cluster that is away. */
  reachable = true;
  /** The reason why the cluster runs no containers. */
  obstacle: string | undefined;

  constructor(options: MemoryClusterOptions = {}) {
    this.options = {
      ...options,
      nodes: options.nodes ?? [DEFAULT_NODE],
      hasImage: options.hasImage ?? (() => true),
      backoff: options.backoff ?? QUICK,
      nodePortAddress: options.nodePortAddress ?? "127.0.0.1",
    };
    this.carrier = options.carrier ?? new LocalCarrier();
    const { ingress = "provider" } = options;
    const backends = (target: RouteTarget) => this.backends(target.lease, target.service, target.port);
    this.ingress = ingress === "cluster" ? new MemoryIngress(backends) : undefined;
  }

  /** A driver on the cluster; a second one after `close()` is the restarted daemon. */
  open(): ClusterDriver {
    for (const lease of this.leases.values()) if (lease.suspended) lease.deploy(lease.spec);
    return new MemoryDriver(this);
  }

  backends(id: LeaseKey, service: string, port: number): readonly string[] {
    return this.leases.get(leaseNamespace(id))?.backends(service, port) ?? [];
  }

  /** Ends a replica's program. */
  crash(id: LeaseKey, service: string, index: number, exitCode = 1): void {
    this.leases.get(leaseNamespace(id))?.replica(service, index)?.crash(exitCode);
  }

  /** Removes everything. */
  async destroy(): Promise<void> {
    for (const lease of this.leases.values()) await lease.close();
    this.leases.clear();
    this.carrier.close();
    await this.ingress?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

class MemoryDriver implements ClusterDriver {
  readonly name = "memory";
  readonly limits: ClusterLimits;
  readonly routing: ClusterRouting;
  readonly ports: ClusterPorts;
  readonly addresses: ClusterAddresses;
  readonly #book: AddressBook;
  readonly #cluster: MemoryCluster;

  constructor(cluster: MemoryCluster) {
    this.#cluster = cluster;
    const { nodePorts, portProbe, leasedIps = [] } = cluster.options;
    this.limits = { leastMemory: LEAST_MEMORY, leasedIps: leasedIps.length > 0 };
    this.ports = new PortAllocator(nodePorts, portProbe);
    this.#book = this.#openBook(leasedIps);
    this.addresses = this.#book;
    const backends = (id: LeaseKey, service: string, port: number) => cluster.backends(id, service, port);
    const watch = (listener: (id: LeaseKey) => void) => {
      cluster.watchers.add(listener);
      return () => cluster.watchers.delete(listener);
    };
    this.routing = cluster.ingress ?? { ingress: "provider", backends, watch, isSeen: () => true };
  }

  async version(): Promise<Readonly<Record<string, string>>> {
    this.#reach();
    return { engine: "memory" };
  }

  async capacity(): Promise<ClusterCapacity> {
    this.#reach();
    const { nodes, storage = [], leasedIps = [] } = this.#cluster.options;
    return { nodes, storage, addresses: leasedIps.length };
  }

  async check(spec: LeaseSpec): Promise<void> {
    checkSpec(spec, { nodes: this.#cluster.options.nodes, leasedIps: this.limits.leasedIps });
  }

  async obstacle(): Promise<HostFault | undefined> {
    this.#reach();
    const { obstacle } = this.#cluster;
    return obstacle === undefined ? undefined : { reason: "setup", text: obstacle };
  }

  async deploy(spec: LeaseSpec): Promise<void> {
    this.#reach();
    await this.check(spec);
    const { leases, events, options } = this.#cluster;
    const namespace = leaseNamespace(spec.id);
    const known = leases.get(namespace);
    if (known !== undefined && spec.generation < known.spec.generation && spec.version !== known.spec.version) {
      throw clusterErrors.staleGeneration(`generation ${spec.generation} after ${known.spec.generation}`);
    }
    const event = (name: string, entry: ClusterEvent) => events.add(name, entry);
    const moved = (id: LeaseKey) => {
      for (const listener of this.#cluster.watchers) listener(id);
    };
    const carrier = () => this.#cluster.carrier;
    const setting = { ...options, policy: options.backoff, event, moved, carrier };
    const lease = known ?? new MemoryLease(spec, setting);
    leases.set(namespace, lease);
    lease.deploy(spec);
  }

  async teardown(id: LeaseKey): Promise<void> {
    this.#reach();
    const namespace = leaseNamespace(id);
    await this.#cluster.leases.get(namespace)?.close();
    this.#cluster.leases.delete(namespace);
    await this.#book.retain(id, []);
    this.#cluster.events.remove(namespace);
  }

  async adopt(): Promise<readonly AdoptedLease[]> {
    this.#reach();
    const { leases } = this.#cluster;
    const deployed = [...leases.values()].map(({ spec }) => {
      const { id, version, generation } = spec;
      return { id, version, generation, spec };
    });
    const holders = this.#book.holders().filter((id) => !leases.has(leaseNamespace(id)));
    return [...deployed, ...holders.map((id) => ({ id, version: "", generation: 0, spec: undefined }))];
  }

  async status(id: LeaseKey): Promise<LeaseHealth> {
    const lease = this.#cluster.leases.get(leaseNamespace(id));
    if (lease === undefined) return { health: "unknown", services: [] };
    const addresses = this.#told(lease.spec);
    const status = { ...lease.status(), ...(addresses.length === 0 ? {} : { addresses }) };
    return this.#cluster.reachable ? status : { ...status, health: "unknown" };
  }

  async *logs(id: LeaseKey, options: LogOptions): AsyncIterable<LogLine> {
    const lease = this.#known(id);
    const wanted = (line: LogLine) =>
      (options.services.length === 0 || options.services.some((name) => line.name.replace(/-\d+$/, "") === name)) &&
      Date.parse(line.time) >= (options.since ?? 0);
    const queue = new LineQueue<LogLine>();
    const listener = async (line: LogLine | undefined) => {
      if (line === undefined) queue.end();
      else if (wanted(line)) await queue.push(line);
    };
    const end = () => queue.end();
    lease.listeners.add(listener);
    options.signal.addEventListener("abort", end, { once: true });
    try {
      const lines = options.previous === true ? lease.previousLines() : lease.lines;
      yield* lastLines(lines.filter(wanted), options.tail);
      if (options.follow && !options.signal.aborted) yield* queue;
    } finally {
      lease.listeners.delete(listener);
      end();
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
    const replica = lease.replica(request.service, request.replica);
    if (replica?.ready !== true) throw clusterErrors.noReplica(replicaName(request.service, request.replica));
    return memoryExec(request, replica.signal);
  }

  async restart(id: LeaseKey, service: string): Promise<void> {
    this.#reach();
    this.#known(id).restart(service);
  }

  async close(): Promise<void> {}

  async purge(): Promise<void> {
    for (const { spec } of this.#cluster.leases.values()) await this.teardown(spec.id);
    for (const id of this.#book.holders()) await this.#book.retain(id, []);
  }

  async suspend(): Promise<void> {
    for (const lease of this.#cluster.leases.values()) await lease.close();
  }

  /** Where two leases of a deployment want one port of an address, the first has it. */
  #told({ id, group }: LeaseSpec): readonly LeasedAddress[] {
    const isTaken = ({ endpoint, leases }: Holding, port: string): boolean => {
      const before = leases.slice(
        0,
        leases.findIndex((each) => formatLeaseId(each) === formatLeaseId(id)),
      );
      const groups = before.flatMap((each) => this.#cluster.leases.get(leaseNamespace(each))?.spec.group ?? []);
      return groups.some((each) => addressPorts(each, endpoint).includes(port));
    };
    return leasedAddresses(group, this.#book.held(id), (_, holding, port) =>
      isTaken(holding, port) ? { assigned: false, problem: portTaken(port) } : { assigned: true },
    );
  }

  /** Notes belong to the cluster, and outlive this driver. */
  #openBook(pool: readonly string[]): AddressBook {
    const { holdings } = this.#cluster;
    const note = (holding: Holding) => {
      this.#reach();
      holdings.set(holding.address, holding);
    };
    const ledger = {
      take: async (holding: Holding) => {
        this.#reach();
        const held = holdings.get(holding.address) ?? holding;
        if (!isSameHolding(held, holding)) return false;
        note(holding);
        return true;
      },
      change: async (from: Holding, to: Holding) => {
        if (holdings.has(from.address)) note(to);
        return holdings.has(from.address);
      },
      free: async (holding: Holding) => {
        this.#reach();
        const held = holdings.get(holding.address);
        if (held !== undefined && isSameHolding(held, holding)) holdings.delete(holding.address);
      },
    };
    return new AddressBook({ pool, ledger }, [...holdings.values()]);
  }

  #reach(): void {
    if (!this.#cluster.reachable) throw clusterErrors.unreachable("the memory cluster was switched off");
  }

  #known(id: LeaseKey): MemoryLease {
    const lease = this.#cluster.leases.get(leaseNamespace(id));
    if (lease === undefined) throw clusterErrors.unknownLease(formatLeaseId(id));
    return lease;
  }
}

/** Ports of the address that the group asks for, such as `53/UDP`. */
function addressPorts({ services }: ManifestGroup, endpoint: string): string[] {
  const exposes = services.flatMap(({ expose }) => expose.filter(isLeasedIpExpose));
  return exposes.filter(({ ip }) => ip === endpoint).map((each) => `${externalPort(each)}/${each.proto}`);
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
