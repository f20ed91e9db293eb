import { join } from "node:path";
import {
  errorText,
  type Logger,
  makePrivateDirectory,
  Semaphore,
  SvcError,
  silentLogger,
} from "../../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import { type HostFault, hostFault } from "../../reasons.ts";
import {
  type AdoptedLease,
  type ClusterCapacity,
  type ClusterDriver,
  type ClusterEvent,
  type ClusterLimits,
  type ClusterPorts,
  type ClusterRouting,
  clusterErrors,
  type ExecRequest,
  type ExecSession,
  endpointNames,
  type LeaseHealth,
  type LeaseSpec,
  type LogLine,
  type LogOptions,
  leaseNamespace,
  type PortRange,
  replicaName,
  type StreamOptions,
} from "../contract/index.ts";
import { EventLog, HostData, isPortFree, PortAllocator, streamEvents } from "../shared/index.ts";
import { LeasedIps } from "./addresses/addresses.ts";
import type { KubernetesApi } from "./api/api.ts";
import { ApiFailure, answer, publicError } from "./api/failure.ts";
import { storagePools } from "./capacity.ts";
import { checkSpec, MIN_MEMORY } from "./check.ts";
import { DEFAULT_TIMING, type DriverContext, type DriverTiming } from "./context.ts";
import { PodForwards } from "./forwards.ts";
import { type IngressPlace, ObjectIngress } from "./ingress.ts";
import { Lease } from "./lease/lease.ts";
import { closedManifests, closeManifest, finishRemoval, releaseAll, releaseManifest } from "./lease/manifest.ts";
import { leaseRecords, leaseSpaces } from "./lease/record.ts";
import { removeNamespace } from "./lease/space.ts";
import { namedParts } from "./named.ts";
import { labelValue, leaseOfNamespace, type ObjectSettings } from "./objects/index.ts";
import { PodEvents } from "./streams/events.ts";
import { openExec } from "./streams/exec.ts";
import { followLogs, pastLogs } from "./streams/logs.ts";
import { PreviousLogs } from "./streams/previous.ts";
import { RouteEvents } from "./streams/routes.ts";
import { ClusterView } from "./view/view.ts";

export interface DriverOptions {
  readonly api: KubernetesApi;
  readonly objects: ObjectSettings;
  /** Folder of the driver's own on this machine, for events and the logs of replaced replicas. */
  readonly stateDir: string;
  /** Ports that leases get besides HTTP; they must be among the cluster's node ports. */
  readonly nodePorts?: PortRange | undefined;
  /** Addresses that leases can have as their own; the cluster's load balancer gives them to services that ask for them. */
  readonly leasedIps?: readonly string[] | undefined;
  /** Where the cluster's ingress takes requests; without it the provider's own asks for addresses of pods. */
  readonly ingress?: IngressPlace | undefined;
  /** Whether pods and node ports are reached through the API server, where this machine is not in the cluster's network. */
  readonly forwards?: boolean;
  readonly log?: Logger;
  readonly timing?: Partial<DriverTiming>;
}

/** Leases that are brought up to date at once. */
const PARALLEL_PASSES = 8;

/** Opens the driver: leases that the cluster has are taken up at once, without waiting for the provider. */
export async function openKubernetesDriver(options: DriverOptions): Promise<ClusterDriver> {
  makePrivateDirectory(options.stateDir);
  const driver = new KubernetesDriver(options);
  try {
    await driver.start();
  } catch (error) {
    await driver.close();
    throw publicError(error);
  }
  return driver;
}

class KubernetesDriver implements ClusterDriver {
  readonly name = "kubernetes";
  readonly limits: ClusterLimits;
  readonly routing: ClusterRouting;
  readonly ports: ClusterPorts;
  readonly addresses: LeasedIps;
  readonly #context: DriverContext;
  readonly #view: ClusterView;
  readonly #events: PodEvents;
  #routes: RouteEvents | undefined;
  readonly #previous: PreviousLogs;
  readonly #forwards: PodForwards | undefined;
  readonly #leases = new Map<string, Lease>();
  readonly #watchers = new Set<(id: LeaseKey) => void>();
  /** Namespaces of leases whose removal a daemon before this one had begun. */
  readonly #ending = new Set<string>();
  /**
   * Running removals, by namespace: a workload deployed meanwhile would run on, with addresses that other leases get.
   */
  readonly #removals = new Map<string, Promise<void>>();
  #closed = false;

  constructor(options: DriverOptions) {
    const { api, objects, stateDir, nodePorts, ingress, forwards = false, log = silentLogger, timing } = options;
    const { leasedIps = [] } = options;
    this.limits = { leastMemory: MIN_MEMORY, leasedIps: leasedIps.length > 0 };
    const provider = labelValue(objects.provider);
    this.#view = new ClusterView({
      api,
      log,
      provider,
      addresses: leasedIps.length > 0,
      moved: (namespace, change) => {
        const lease = this.#leases.get(namespace);
        if (lease === undefined) return;
        this.#events.moved(lease, change);
        lease.moved(change);
        this.#forwards?.update(lease);
        this.#tell(lease);
      },
      touched: (namespace, object, generation) => this.#leases.get(namespace)?.touched(object, generation),
    });
    const context: DriverContext = {
      api,
      objects,
      provider,
      stateDir,
      view: this.#view,
      events: new EventLog(join(stateDir, "events"), log),
      host: new HostData([stateDir], (name) => this.#view.hasNode(name)),
      log,
      timing: { ...DEFAULT_TIMING, ...timing },
      passes: new Semaphore(PARALLEL_PASSES),
    };
    this.#context = context;
    const leaseOf = (namespace: string): Lease | undefined => this.#leases.get(namespace);
    this.addresses = new LeasedIps(context, leasedIps, leaseOf);
    this.#events = new PodEvents(context, leaseOf);
    this.#previous = new PreviousLogs(context);
    this.#forwards = forwards ? new PodForwards(context, (lease) => this.#tell(lease)) : undefined;
    this.ports = new PortAllocator(nodePorts, async (port, proto) => {
      return !this.#view.nodePorts().has(port) && (!forwards || (await isPortFree(port, proto)));
    });
    this.routing = ingress === undefined ? this.#backends() : new ObjectIngress(context, leaseOf, ingress);
  }

  /** Rejects where the cluster cannot be asked. */
  async start(): Promise<void> {
    for (const name of await closedManifests(this.#context)) this.#ending.add(name);
    await this.addresses.start();
    for (const record of await leaseRecords(this.#context)) {
      const lease = new Lease(this.#context, this.addresses, record);
      if (!this.#ending.has(lease.namespace)) this.#leases.set(lease.namespace, lease);
    }
    await this.#view.first();
    const byGateway = this.routing.ingress === "cluster" && this.#context.objects.gateway !== undefined;
    // Only events of known leases are reported.
    if (byGateway) this.#routes = new RouteEvents(this.#context, (namespace) => this.#leases.get(namespace));
    for (const lease of this.#leases.values()) {
      this.#forwards?.update(lease);
      lease.poke();
    }
    for (const name of this.#ending) {
      const parts = {
        stopped: () => this.#closed,
        release: (each: string) => this.addresses.release(each),
      };
      void finishRemoval(this.#context, name, parts).then(() => this.#ending.delete(name));
    }
  }

  version(): Promise<Readonly<Record<string, string>>> {
    return answer(async () => ({ kubernetes: await this.#context.api.version() }));
  }

  capacity(): Promise<ClusterCapacity> {
    return answer(async () => {
      const storage = await storagePools(this.#context.api);
      if (!this.#view.hasNodes) throw clusterErrors.unreachable("state of nodes and pods is out of date");
      return { nodes: this.#view.nodes(), storage, addresses: this.addresses.size };
    });
  }

  async obstacle(): Promise<HostFault | undefined> {
    const setup = (text: string): HostFault => ({ reason: "setup", text });
    try {
      const { api, objects } = this.#context;
      await api.version();
      if (!this.#view.hasNodes) return hostFault("engineAway", "the known state of nodes and pods is out of date");
      if (this.#view.nodes().length === 0)
        return setup("no node of the cluster is ready and takes pods: uncordon one or add one");
      for (const part of namedParts(objects, this.routing.ingress === "cluster")) await part.look(api);
      return undefined;
    } catch (error) {
      if (error instanceof ApiFailure && error.kind === "unreachable") return hostFault("engineAway", error.message);
      const hint = error instanceof SvcError && error.hint !== undefined ? `: ${error.hint}` : "";
      return setup(`${errorText(error)}${hint}`);
    }
  }

  async check(spec: LeaseSpec): Promise<void> {
    const { allowLocalImages } = this.#context.objects;
    const leasedIps = this.addresses.areAvailable(spec.id, endpointNames(spec.group));
    checkSpec(spec, { allowLocalImages, nodes: this.#view.nodes(), leasedIps });
  }

  deploy(spec: LeaseSpec): Promise<void> {
    return answer(async () => {
      await this.check(spec);
      const namespace = leaseNamespace(spec.id);
      const known = this.#leases.get(namespace);
      if (this.#isEnding(namespace)) throw clusterErrors.closing(formatLeaseId(spec.id));
      if (known !== undefined) {
        await known.deploy(spec);
        this.#forwards?.update(known);
        return;
      }
      const lease = new Lease(this.#context, this.addresses, { spec, restarts: {} });
      this.#leases.set(namespace, lease);
      try {
        await lease.deploy(spec);
        this.#forwards?.update(lease);
      } catch (error) {
        // A spec that another call deployed meanwhile is refused with it.
        void lease.stop();
        if (this.#leases.get(namespace) === lease) this.#leases.delete(namespace);
        throw error;
      }
    });
  }

  teardown(id: LeaseKey, closedAt?: bigint): Promise<void> {
    const namespace = leaseNamespace(id);
    const removal =
      this.#removals.get(namespace) ?? this.#remove(id, closedAt).finally(() => this.#removals.delete(namespace));
    this.#removals.set(namespace, removal);
    return removal;
  }

  #remove(id: LeaseKey, closedAt: bigint | undefined): Promise<void> {
    return answer(async () => {
      const namespace = leaseNamespace(id);
      const lease = this.#leases.get(namespace);
      await this.#context.api.version();
      await lease?.close();
      await closeManifest(this.#context, lease?.spec, closedAt);
      this.#forwards?.remove(namespace);
      await removeNamespace(this.#context, namespace);
      await this.addresses.release(namespace);
      await releaseManifest(this.#context, namespace);
      if (this.#leases.get(namespace) === lease) this.#leases.delete(namespace);
      this.#context.events.remove(namespace);
      this.#previous.remove(namespace);
    });
  }

  adopt(): Promise<readonly AdoptedLease[]> {
    return answer(async () => {
      const records = new Map(
        (await leaseRecords(this.#context)).map((record) => [leaseNamespace(record.spec.id), record]),
      );
      const found: AdoptedLease[] = [];
      for (const metadata of await leaseSpaces(this.#context)) {
        const spec = records.get(metadata.name)?.spec;
        const id = spec?.id ?? leaseOfNamespace(metadata);
        if (id === undefined || this.#isEnding(metadata.name)) continue;
        found.push({ id, version: spec?.version ?? "", generation: spec?.generation ?? 0, spec });
      }
      const known = new Set(found.map(({ id }) => leaseNamespace(id)));
      for (const id of this.addresses.holders()) {
        const namespace = leaseNamespace(id);
        if (known.has(namespace) || this.#isEnding(namespace)) continue;
        found.push({ id, version: "", generation: 0, spec: undefined });
      }
      return found;
    });
  }

  async status(id: LeaseKey): Promise<LeaseHealth> {
    // A missing record is no reason to end the lease.
    const lease = this.#leases.get(leaseNamespace(id));
    if (lease === undefined) return { health: "unknown", services: [] };
    const health = lease.status();
    return this.#routes?.within(lease.namespace, health) ?? health;
  }

  async *logs(id: LeaseKey, options: LogOptions): AsyncIterable<LogLine> {
    const lease = this.#known(id);
    try {
      yield* options.follow ? followLogs(lease, options) : pastLogs(lease, this.#previous, options);
    } catch (error) {
      throw publicError(error);
    }
  }

  events(id: LeaseKey, options: StreamOptions): AsyncIterable<ClusterEvent> {
    this.#known(id);
    return streamEvents(this.#context.events, leaseNamespace(id), options);
  }

  exec(id: LeaseKey, request: ExecRequest): Promise<ExecSession> {
    return answer(async () => openExec(this.#known(id), request));
  }

  restart(id: LeaseKey, service: string): Promise<void> {
    return answer(async () => {
      const lease = this.#known(id);
      for (const [index, pod] of lease.slots(service)) {
        const replica = replicaName(service, index);
        if (pod.running) void this.#previous.keep(replica, pod);
        lease.event({
          type: "Normal",
          reason: "Restarting",
          note: `${replica} restarts on request`,
          service,
          replica,
        });
      }
      await lease.restart(service);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#previous.close();
    this.#forwards?.close();
    if (this.routing instanceof ObjectIngress) await this.routing.close();
    await Promise.all([...this.#leases.values()].map((lease) => lease.stop()));
    await Promise.all([this.#view.stop(), this.#events.stop(), this.#routes?.stop()]);
    this.#context.api.close();
  }

  purge(): Promise<void> {
    return answer(async () => {
      const names = new Set([...(await leaseSpaces(this.#context)).map(({ name }) => name), ...this.#leases.keys()]);
      await Promise.all([...this.#leases.values()].map((lease) => lease.close()));
      await Promise.all([...names].map((name) => removeNamespace(this.#context, name)));
      await this.addresses.releaseAll();
      await releaseAll(this.#context);
      for (const name of names) {
        this.#leases.delete(name);
        this.#forwards?.remove(name);
        this.#context.events.remove(name);
        this.#previous.remove(name);
      }
    });
  }

  async suspend(): Promise<void> {
    await Promise.all([...this.#leases.values()].map((lease) => lease.suspend()));
    await this.close();
  }

  #backends(): ClusterRouting {
    return {
      ingress: "provider",
      backends: (id, service, port) => {
        const lease = this.#leases.get(leaseNamespace(id));
        if (lease === undefined) return [];
        return this.#forwards?.backends(lease, service, port) ?? lease.backends(service, port);
      },
      isSeen: (id) => this.#view.fresh && this.#leases.has(leaseNamespace(id)),
      watch: (listener) => {
        this.#watchers.add(listener);
        return () => this.#watchers.delete(listener);
      },
    };
  }

  /** Watchers of leases' addresses look again. */
  #tell(lease: Lease): void {
    for (const listener of this.#watchers) listener(lease.spec.id);
  }

  #isEnding(namespace: string): boolean {
    const isClosing = this.#leases.get(namespace)?.closing === true;
    return isClosing || this.#ending.has(namespace) || this.#removals.has(namespace);
  }

  #known(id: LeaseKey): Lease {
    const lease = this.#leases.get(leaseNamespace(id));
    if (lease === undefined) throw clusterErrors.unknownLease(formatLeaseId(id));
    return lease;
  }
}
