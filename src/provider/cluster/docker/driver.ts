import { setTimeout as pause } from "node:timers/promises";
import { errorText, Mutexes } from "../../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";
import { type HostFault, hostFault } from "../../reasons.ts";
import {
  type AdoptedLease,
  type BackendRouting,
  type ClusterCapacity,
  type ClusterDriver,
  type ClusterEvent,
  type ClusterPorts,
  type ClusterProbe,
  clusterErrors,
  type ExecRequest,
  type ExecSession,
  isProbeLease,
  type LeaseHealth,
  type LeaseSpec,
  type LogLine,
  type LogOptions,
  leaseNamespace,
  type StreamOptions,
} from "../contract/index.ts";
import { NO_ADDRESSES, PortAllocator, streamEvents } from "../shared/index.ts";
import type { ContainerEvent } from "./api/api.ts";
import { hostReason, ignoreNotFound, publicError } from "./api/failure.ts";
import { checkSpec, MIN_MEMORY } from "./check.ts";
import { type DriverContext, type DriverParts, openParts } from "./context.ts";
import { hostCapacity } from "./host/capacity.ts";
import { removeSeccomp } from "./host/seccomp.ts";
import { LABEL, leasesOf } from "./labels.ts";
import { Lease } from "./lease/lease.ts";
import { removeSurroundings } from "./lease/operations.ts";
import type { DockerOptions } from "./options.ts";
import { kernelPortsOf } from "./ports/open.ts";
import { persistentVolumes } from "./replica/plan.ts";
import { openExec } from "./streams/exec.ts";
import { followLogs, pastLogs } from "./streams/log-stream.ts";
import { EngineWatch } from "./watch.ts";

const FIREWALL_REFRESH_MS = 30_000;
/** Longest wait of `close` for calls that the engine has not answered. */
const CLOSE_MS = 30_000;

/** A driver behind the provider's own ingress. */
export interface DockerDriver extends ClusterDriver {
  readonly routing: BackendRouting;
}

/**
 * Opens the driver on its state folder. Leases in the journal are resumed at once, and crashed replicas restarted,
 * without waiting for the provider; an engine that does not answer yet is waited for in the background.
 */
export async function openDockerDriver(options: DockerOptions): Promise<DockerDriver> {
  const driver: Driver = new Driver(await openParts(options, () => driver.liveImages()));
  await driver.start();
  return driver;
}

class Driver implements DockerDriver {
  readonly name = "engine";
  readonly limits = { leastMemory: MIN_MEMORY, leasedIps: false };
  readonly addresses = NO_ADDRESSES;
  readonly routing: BackendRouting = {
    ingress: "provider",
    backends: (id, service, port) => this.#leases.get(leaseNamespace(id))?.backends(service, port) ?? [],
    isSeen: (id) => this.#leases.get(leaseNamespace(id))?.seen === true,
    watch: (listener) => {
      this.#watchers.add(listener);
      return () => this.#watchers.delete(listener);
    },
  };
  readonly ports: ClusterPorts;
  readonly #context: DriverContext;
  readonly #leases = new Map<string, Lease>();
  readonly #watch: EngineWatch;
  /** One deployment of a lease at a time. */
  readonly #deploys = new Mutexes();
  readonly #watchers = new Set<(id: LeaseKey) => void>();
  #timers: NodeJS.Timeout[] = [];
  /** Periodic tasks that are under way. */
  readonly #tasks = new Set<Promise<void>>();
  #isClosed = false;

  constructor(shared: DriverParts) {
    const moved = (id: LeaseKey) => {
      for (const listener of this.#watchers) listener(id);
    };
    const context = { ...shared, moved };
    this.#context = context;
    this.ports = new PortAllocator(context.settings.nodePorts);
    this.#watch = new EngineWatch(context, {
      connected: () => this.#connected(),
      event: (event) => this.#event(event),
    });
  }

  get probe(): ClusterProbe {
    return this.#context.news;
  }

  /** Images that leases have or are about to have, by the engine's id or the digest of their configuration. */
  liveImages(): ReadonlySet<string> {
    return new Set([...this.#leases.values()].flatMap((lease) => lease.images));
  }

  async start(): Promise<void> {
    for (const record of await this.#context.journal.load()) {
      this.#leases.set(leaseNamespace(record.spec.id), new Lease(this.#context, record));
    }
    await this.#watch.start();
    const { timing } = this.#context.settings;
    this.#every(FIREWALL_REFRESH_MS, () => this.#context.firewall.refresh());
    this.#every(FIREWALL_REFRESH_MS, () => this.#sweepEngineRules());
    this.#every(FIREWALL_REFRESH_MS, async () => this.#context.kernelPorts?.refresh());
    this.#every(timing.imageCheck, () => this.#collectImages());
    // Without layers of limited size, oversized ones are found by measuring.
    if (this.#context.settings.volumeSizeEnforcement === "none")
      this.#every(timing.layerCheck, () => this.#checkLayers());
  }

  version(): Promise<Readonly<Record<string, string>>> {
    return this.#answer(async () => {
      const { kind: engine, version, api } = await this.#context.api.ping();
      return { engine, version, api };
    });
  }

  capacity(): Promise<ClusterCapacity> {
    return this.#answer(async () => {
      const kept = await this.#context.images.keptBytes();
      const node = await hostCapacity(this.#context, kept);
      return { nodes: [{ ...node, gpus: await this.#context.gpus.kinds() }], storage: [] };
    });
  }

  check(spec: LeaseSpec): Promise<void> {
    return this.#answer(async () => {
      const { settings, volumes, gpus } = this.#context;
      const allowLocalImages = settings.allowLocalImages || isProbeLease(spec.id);
      const noVolumes = await volumes.unavailable();
      checkSpec(spec, { allowLocalImages, noVolumes, gpus: await gpus.kinds() });
    });
  }

  deploy(spec: LeaseSpec, { hasRun = false } = {}): Promise<void> {
    return this.#answer(() => this.#deploys.run(leaseNamespace(spec.id), () => this.#deploy(spec, hasRun)));
  }

  teardown(id: LeaseKey): Promise<void> {
    return this.#answer(async () => {
      await this.#context.api.ping();
      const namespace = leaseNamespace(id);
      const lease = this.#leases.get(namespace);
      if (lease === undefined) return this.#removeOrphan(namespace);
      await lease.close();
      if (this.#leases.get(namespace) === lease) this.#leases.delete(namespace);
    });
  }

  adopt(): Promise<readonly AdoptedLease[]> {
    return this.#answer(async () => {
      const { api, naming } = this.#context;
      const home = { [LABEL.home]: naming.prefix };
      const objects = await Promise.all([api.listNetworks(home), api.listContainers(home)]);
      const found = leasesOf(objects.flat().map(({ labels }) => labels));
      for (const [namespace, { closing, spec }] of this.#leases) {
        const { id, version, generation } = spec;
        if (closing) found.delete(namespace);
        else found.set(namespace, { id, version, generation, spec });
      }
      return [...found.values()].filter(({ id }) => !isProbeLease(id));
    });
  }

  async status(id: LeaseKey): Promise<LeaseHealth> {
    const lease = this.#leases.get(leaseNamespace(id));
    if (lease !== undefined) return lease.status();
    // A missing record proves nothing against the lease.
    return { health: "unknown", services: [] };
  }

  async *logs(id: LeaseKey, options: LogOptions): AsyncIterable<LogLine> {
    const lease = this.#known(id);
    try {
      yield* options.follow ? followLogs(this.#context, lease, options) : pastLogs(this.#context, lease, options);
    } catch (error) {
      throw this.#public(error);
    }
  }

  events(id: LeaseKey, options: StreamOptions): AsyncIterable<ClusterEvent> {
    this.#known(id);
    return streamEvents(this.#context.events, leaseNamespace(id), options);
  }

  exec(id: LeaseKey, request: ExecRequest): Promise<ExecSession> {
    return this.#answer(() => openExec(this.#context, this.#known(id), request));
  }

  restart(id: LeaseKey, service: string): Promise<void> {
    return this.#answer(async () => {
      await this.#context.api.ping();
      this.#known(id).restart(service);
    });
  }

  /** An engine finishes a call also if its caller has ended, so calls under way are waited for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const watch = this.#watch.stop();
    for (const timer of this.#timers) clearInterval(timer);
    const leases = [...this.#leases.values()];
    for (const lease of leases) lease.stop();
    const begun = Promise.allSettled([watch, ...this.#tasks, ...leases.map((lease) => lease.settled())]);
    const patience = new AbortController();
    await Promise.race([begun, pause(CLOSE_MS, undefined, { signal: patience.signal })]);
    patience.abort();
    this.#context.settings.carrier.close();
  }

  async purge(): Promise<void> {
    await Promise.all([...this.#leases.values()].map((lease) => this.teardown(lease.spec.id)));
    await this.#removeObjects();
    await this.#answer(() => this.#context.volumes.removeAll());
    await this.#answer(() => this.#context.images.purge());
    await this.#answer(() => this.#context.news.removeImage());
    removeSeccomp(this.#context.settings.stateDir);
    this.#context.gpus.forget();
  }

  async suspend(): Promise<void> {
    await this.close();
    await this.#removeObjects();
    await this.#answer(() => this.#context.volumes.unmountAll());
  }

  /** Containers, networks and rules of any lease. */
  #removeObjects(): Promise<void> {
    return this.#answer(async () => {
      const { api, naming, firewall, kernelPorts, settings } = this.#context;
      const home = { [LABEL.home]: naming.prefix };
      for (const { id } of await api.listContainers(home)) await api.remove(id).catch(ignoreNotFound);
      for (const { name } of await api.listNetworks(home)) await api.removeNetwork(name).catch(ignoreNotFound);
      await firewall.clear();
      await this.#sweepEngineRules();
      // Rules may be left of a daemon that had them, also where this one has none.
      await (kernelPorts ?? kernelPortsOf(settings, naming)).clear();
    });
  }

  /**
   * Without its engine a host runs nothing; without rules and sizes nothing keeps tenants away from the host and its
   * disk.
   */
  async obstacle(): Promise<HostFault | undefined> {
    const { api, firewall, volumes } = this.#context;
    try {
      await api.ping();
      const noRuntime = await this.#missingRuntime();
      if (noRuntime !== undefined) return noRuntime;
      await firewall.probe();
      // Every container needs a layer of its size, not only containers with volumes.
      const noSizes = await volumes.unavailable();
      return noSizes === undefined ? undefined : hostFault("volumes", noSizes);
    } catch (error) {
      return hostFault(hostReason(error), errorText(error));
    }
  }

  async #missingRuntime(): Promise<HostFault | undefined> {
    const { api, settings } = this.#context;
    if (settings.runtime === undefined) return undefined;
    const { runtimes } = await api.info();
    if (runtimes.includes(settings.runtime)) return undefined;
    return hostFault("runtime", `the engine has no runtime "${settings.runtime}", only ${runtimes.join(", ")}`);
  }

  async #deploy(spec: LeaseSpec, hasRun: boolean): Promise<void> {
    const { api, firewall, journal } = this.#context;
    const namespace = leaseNamespace(spec.id);
    const lease = this.#leases.get(namespace);
    if (lease?.closing === true) throw clusterErrors.closing(formatLeaseId(spec.id));
    if (lease !== undefined && spec.generation < lease.spec.generation && spec.version !== lease.spec.version) {
      throw clusterErrors.staleGeneration(`generation ${spec.generation} after ${lease.spec.generation}`);
    }
    await this.check(spec);
    await api.ping();
    await firewall.probe();
    if (lease !== undefined) return lease.deploy(spec);
    const volumes = hasRun ? persistentVolumes(spec.group.services) : [];
    const record = { spec, images: {}, earlier: [], volumes, failed: {}, closing: false };
    await journal.save(record);
    const fresh = new Lease(this.#context, record);
    this.#leases.set(namespace, fresh);
    // The next start continues with the journal.
    if (this.#isClosed) fresh.stop();
    else fresh.poke();
  }

  /** Something of a lease that has no record: containers by their labels, the rest by its name. */
  async #removeOrphan(namespace: string): Promise<void> {
    const { api, naming, events, settings } = this.#context;
    const labels = { [LABEL.home]: naming.prefix, [LABEL.namespace]: namespace };
    for (const { id } of await api.listContainers(labels)) await api.remove(id).catch(ignoreNotFound);
    await settings.carrier.carry(namespace, []);
    await removeSurroundings(this.#context, namespace);
    events.remove(namespace);
  }

  /** The rules of all leases are in force again before the first container is started. */
  async #connected(): Promise<void> {
    const { api, naming, firewall, log, users, health, gpus } = this.#context;
    try {
      const { root, mapsUsers, runtimes } = await api.info();
      this.#context.host.add(root);
      await gpus.look(runtimes);
      await users.look(health.kind, mapsUsers);
      const networks = await api.listNetworks({ [LABEL.home]: naming.prefix });
      const known = networks.flatMap((network) => {
        const namespace = network.labels[LABEL.namespace];
        return namespace === undefined ? [] : [{ namespace, bridge: naming.bridge(namespace), subnet: network.subnet }];
      });
      await firewall.restore(known);
      await this.#sweepEngineRules();
    } catch (error) {
      log.error("network rules could not be restored", { err: errorText(error) });
    }
    for (const lease of this.#leases.values()) lease.poke();
    this.#context.news.returned();
  }

  /** Removes redirected ports of containers that are gone. */
  async #sweepEngineRules(): Promise<void> {
    const { api, naming, engineRules, health } = this.#context;
    if (!health.reachable) return;
    await engineRules.sweep(async () => {
      const containers = await api.listContainers({ [LABEL.home]: naming.prefix });
      return new Set(containers.map(({ id }) => id));
    });
  }

  #event(event: ContainerEvent): void {
    const lease = this.#leases.get(event.labels[LABEL.namespace] ?? "");
    if (lease === undefined || event.action.startsWith("exec")) return;
    if (event.action === "kill") lease.noteKill(event.id);
    else lease.poke();
  }

  /** An engine that does not answer keeps its images. */
  async #collectImages(): Promise<void> {
    const { health, images } = this.#context;
    if (!health.reachable) return;
    await images.collect();
  }

  async #checkLayers(): Promise<void> {
    for (const lease of this.#leases.values()) {
      if (lease.closing) continue;
      // A container may vanish while it is measured; the next round measures what exists then.
      await lease.checkLayers().catch((error) => this.#context.health.observe(error));
    }
  }

  /** A task that takes longer than its interval is not begun again meanwhile: a slow engine must not get more work by it. */
  #every(milliseconds: number, task: () => Promise<void>): void {
    let isBusy = false;
    const run = async (): Promise<void> => {
      isBusy = true;
      await task().catch((error) => this.#context.log.warn("periodic check failed", { err: errorText(error) }));
      isBusy = false;
    };
    const timer = setInterval(() => {
      if (isBusy) return;
      const running = run();
      this.#tasks.add(running);
      void running.finally(() => this.#tasks.delete(running));
    }, milliseconds);
    timer.unref();
    this.#timers.push(timer);
  }

  async #answer<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#public(error);
    }
  }

  #public(error: unknown): unknown {
    return this.#context.host.error(publicError(error));
  }

  #known(id: LeaseKey): Lease {
    const lease = this.#leases.get(leaseNamespace(id));
    if (lease === undefined) throw clusterErrors.unknownLease(formatLeaseId(id));
    return lease;
  }
}
