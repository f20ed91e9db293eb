import { join } from "node:path";
import { type Manifest, type ManifestGroup, manifestHash } from "../../sdl/index.ts";
import { type Clock, errorText, evenClock, type Logger, toHex } from "../../util/index.ts";
import { formatLeaseId, formatOrderId, type LeaseKey } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import {
  type AdoptedLease,
  type ClusterDriver,
  type ClusterEvent,
  EventLog,
  type ExecRequest,
  type ExecSession,
  HostData,
  type LeaseHealth,
  type LogLine,
  type LogOptions,
  leaseNamespace,
  type StreamOptions,
  streamEvents,
} from "../cluster/index.ts";
import { accountHost, HostOwnership, type HostProver, type HostRegistry } from "../hostnames/index.ts";
import type { LeaseRouter } from "../ingress/index.ts";
import type { GiveUpReason, LeaseContext, LeaseSettings } from "./context.ts";
import { leaseErrors } from "./errors.ts";
import { mergeEvents } from "./events.ts";
import { claimedHosts, requestedNames } from "./hosts.ts";
import { LeaseMachine } from "./machine.ts";
import { acceptTogether, type LeaseGroup, type Member, matchManifest } from "./manifests.ts";
import {
  type EndpointMigration,
  type HostMigration,
  type MigrationParts,
  migrateEndpoints,
  migrateHosts,
  passOnAddresses,
  settleWaiting,
} from "./migrate.ts";
import { type ReconcileReport, reconcile } from "./reconcile.ts";
import { withheldEndpoints } from "./record/addresses.ts";
import { type CloseProof, type LeaseRecord, newRecord } from "./record/record.ts";
import { type LeaseView, leaseView } from "./record/status.ts";
import { LeaseStore } from "./record/store.ts";
import { recordOfSpec } from "./spec.ts";

export interface LeaseServiceOptions {
  /** Its own folder for records and events. */
  readonly folder: string;
  readonly settings: LeaseSettings;
  readonly chain: ChainView;
  readonly driver: ClusterDriver;
  readonly registry: HostRegistry;
  readonly router: LeaseRouter;
  /** Who tells whose a host name is; undefined where the first tenant with a name gets it. */
  readonly prover?: HostProver | undefined;
  readonly log: Logger;
  /** Sends the message that closes the bid, and with it the lease; resolves when it is in a block. */
  readonly closeBid: (id: LeaseKey, reason: GiveUpReason) => Promise<void>;
  /** Called when nothing of a lease is left: its reservation may go. */
  readonly onGone?: (id: LeaseKey) => void;
  readonly clock?: Clock;
  /** From 0 up to 1: spreads the checks of leases over time. */
  readonly random?: () => number;
  /** Waits before a manifest that does not fit the chain is refused; milliseconds. */
  readonly settleMs?: readonly number[];
  /** Called when the disk is full; returns true if it freed some space. */
  readonly makeRoom?: () => boolean;
  /** Milliseconds between comparisons of store, cluster and chain. */
  readonly reconcileMs?: number;
}

const SETTLE_MS = [1_000, 2_000];
const RECONCILE_MS = 60_000;

/** All leases of the provider. A restart, an error or an empty answer never ends a workload; only `CloseProof` does. */
export class LeaseService {
  readonly #options: LeaseServiceOptions;
  readonly #clock: Clock;
  readonly #context: LeaseContext;
  readonly #machines = new Map<string, LeaseMachine>();
  readonly #ownership: HostOwnership;
  readonly #taking = new Set<string>();
  #cancel: () => void = () => {};
  #isTakenUp = false;
  #stopped = false;

  constructor(options: LeaseServiceOptions) {
    const { settings, driver, log, registry, folder } = options;
    this.#options = options;
    this.#clock = options.clock ?? evenClock;
    this.#context = {
      settings,
      driver,
      registry,
      log,
      router: options.router,
      clock: this.#clock,
      random: options.random ?? Math.random,
      store: new LeaseStore(join(folder, "leases"), log, options.makeRoom),
      events: new EventLog(join(folder, "events"), log),
      host: new HostData([folder]),
      closeBid: options.closeBid,
      gone: (id) => this.#gone(id),
      claimed: (id) => claimedHosts(this.#ofGroup(id).filter(({ phase }) => phase !== "closing")),
      handOver: (id) => this.#handOver(id),
      passOn: (id, kept) => passOnAddresses(id, kept, this.#migrating()),
    };
    this.#ownership = new HostOwnership({
      registry,
      prover: options.prover,
      clock: this.#clock,
      aliasOf: (owner) => (settings.staticHosts ? accountHost(owner, settings.domain) : undefined),
      onLost: (holder, host) => this.#lost(holder, host),
    });
  }

  /** Takes up the stored leases, once: what runs is served and watched from then on. Asks nothing of the chain. */
  takeUp(): void {
    if (this.#isTakenUp) return;
    this.#isTakenUp = true;
    const records = this.#context.store.load();
    for (const record of records) this.#take(record);
    this.#context.log.info("found existing leases", { module: "provider-manifest", count: records.length });
    for (const machine of this.#machines.values()) machine.start();
  }

  /** Takes up the stored leases, then compares them with cluster and chain. Works without either. */
  async start(): Promise<ReconcileReport> {
    this.takeUp();
    const report = await this.reconcile();
    this.#tellStart(report);
    return report;
  }

  #tellStart({ active, deployments, skipped }: ReconcileReport): void {
    const { log } = this.#context;
    const where = { module: "provider-cluster", cmp: "service" };
    if (active !== undefined) log.info("found leases", { ...where, "num-active": active });
    for (const { id, group } of this.records()) {
      log.debug("deployment", { ...where, lease: formatLeaseId(id), mgroup: group?.name ?? "" });
    }
    log.info("found deployments", { ...where, "num-active": deployments, "num-skipped": skipped });
  }

  /** Compares store, cluster and chain, now and repeatedly from then on. */
  async reconcile(): Promise<ReconcileReport> {
    this.#cancel();
    const { chain, settings, driver, log, reconcileMs = RECONCILE_MS } = this.#options;
    try {
      return await reconcile({ chain, driver, log, provider: settings.provider, leases: this });
    } finally {
      this.#cancel();
      if (!this.#stopped) this.#cancel = this.#clock.after(reconcileMs, () => this.#reconcileAgain());
    }
  }

  #reconcileAgain(): void {
    this.reconcile().catch((error) => this.#context.log.error("leases were not compared", { err: errorText(error) }));
  }

  /** Ends the work here; workloads keep running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await Promise.all([...this.#machines.values()].map((machine) => machine.stop()));
  }

  /** Orders whose leases have a record here. */
  orders(): string[] {
    return this.records().map(({ id }) => formatOrderId(id));
  }

  /** A bid of ours has become a lease: the wait for its manifest begins. Known leases do not change. */
  leaseWon(id: LeaseKey): void {
    this.#open(newRecord(id, this.#clock.now()));
  }

  /**
   * A workload without a record was found. The record is made again from the cluster's spec; without one, the workload
   * runs on, and the tenant may send the manifest again.
   */
  leaseAdopted({ id, generation, spec }: AdoptedLease): void {
    const now = this.#clock.now();
    const { publicHostname } = this.#context.settings;
    const record = spec === undefined ? newRecord(id, now, generation) : recordOfSpec(spec, now, publicHostname);
    if (this.#isOpen(id)) return;
    try {
      this.#context.store.save(record);
    } catch (error) {
      // The workload is served all the same; its next change writes the record again.
      this.#context.log.error("the record of a lease cannot be written", {
        lease: formatLeaseId(id),
        err: errorText(error),
      });
    }
    this.#take(record).start();
  }

  /** The cluster runs a lease of ours whose spec it has lost. */
  async leaseForgotten(id: LeaseKey): Promise<void> {
    await this.#machines.get(formatLeaseId(id))?.describe();
  }

  /** A block that the provider followed ended the lease. */
  leaseClosed(id: LeaseKey, height: bigint): Promise<void> {
    return this.closeWithProof(id, { source: "block", height });
  }

  async closeWithProof(id: LeaseKey, proof: CloseProof): Promise<void> {
    if (proof.height <= 0n) throw new Error("a lease ends at a height");
    await this.#machines.get(formatLeaseId(id))?.close(proof);
  }

  /** Accepts a manifest for all leases of the deployment at this provider; durable when it resolves. */
  async manifestReceived(owner: string, dseq: bigint, manifest: Manifest): Promise<void> {
    const key = `${owner}/${dseq}`;
    await this.#alone(key, leaseErrors.busy, async () => {
      const { chain, settings, log, settleMs = SETTLE_MS } = this.#options;
      log.info("manifest received", { module: "provider-manifest", deployment: key });
      const check = { chain, provider: settings.provider, clock: this.#clock, settleMs };
      const matched = await matchManifest({ owner, dseq, manifest }, check);
      for (const { id, group } of matched) await this.#ownership.establish(id, requestedNames(group));
      await acceptTogether(this.#members(matched), toHex(manifestHash(manifest)), log);
      void settleWaiting(owner, this.#migrating());
    });
  }

  #members(matched: readonly LeaseGroup[]): Member[] {
    return matched.flatMap(({ id, group }) => {
      this.leaseWon(id);
      const machine = this.#machines.get(formatLeaseId(id));
      return machine === undefined ? [] : [{ machine, group }];
    });
  }

  /** Whether a lease of the order could have these host names now; rejects with the reason, and changes nothing. */
  async checkHosts(order: Pick<LeaseKey, "owner" | "dseq" | "gseq">, hosts: readonly string[]): Promise<void> {
    await this.#ownership.check(order, hosts);
  }

  /** Migrates host names between deployments of an owner, one request of that owner at a time. */
  migrateHosts(migration: HostMigration): Promise<readonly string[]> {
    const parts = this.#migrating();
    return this.#alone(`${migration.owner}/hosts`, leaseErrors.migrating, () => migrateHosts(migration, parts));
  }

  /** The same with leased addresses. */
  migrateEndpoints(migration: EndpointMigration): Promise<readonly string[]> {
    const parts = this.#migrating();
    const key = `${migration.owner}/endpoints`;
    return this.#alone(key, leaseErrors.addressesMigrating, () => migrateEndpoints(migration, parts));
  }

  #migrating(): MigrationParts {
    const { registry, driver } = this.#context;
    return {
      registry,
      addresses: driver.addresses,
      machines: () => [...this.#machines.values()],
      status: (id) => this.#look(id),
    };
  }

  /** Refuses a second request of this kind while one is carried out. */
  async #alone<T>(key: string, refusal: () => Error, task: () => Promise<T>): Promise<T> {
    if (this.#taking.has(key)) throw refusal();
    this.#taking.add(key);
    try {
      return await task();
    } finally {
      this.#taking.delete(key);
    }
  }

  records(): readonly LeaseRecord[] {
    return [...this.#machines.values()].map((machine) => machine.record);
  }

  find(id: LeaseKey): LeaseRecord | undefined {
    return this.#machines.get(formatLeaseId(id))?.record;
  }

  /** The group that is in force. Throws `noManifest`. */
  group(id: LeaseKey): ManifestGroup {
    const group = this.find(id)?.group;
    if (group === undefined || group === null) throw leaseErrors.noManifest();
    return group;
  }

  /** The tenant's view. Throws `noManifest`. */
  async status(id: LeaseKey): Promise<LeaseView> {
    this.group(id);
    const machine = this.#machines.get(formatLeaseId(id));
    if (machine === undefined) throw leaseErrors.notFound();
    const health = await this.#look(id);
    const { settings, router } = this.#options;
    const { publicHostname } = settings;
    const hostUrl = (host: string) => router.url(host);
    const withheld = withheldEndpoints(machine.record, this.#options.driver.addresses);
    return leaseView(machine.record, health, { publicHostname, hostUrl, withheld, error: machine.error });
  }

  logs(id: LeaseKey, options: LogOptions): AsyncIterable<LogLine> {
    this.#checkServices(id, options.services);
    return this.#options.driver.logs(id, options);
  }

  /** Events of the cluster and of the provider, by time. */
  events(id: LeaseKey, options: StreamOptions): AsyncIterable<ClusterEvent> {
    this.#checkServices(id, options.services);
    const own = streamEvents(this.#context.events, leaseNamespace(id), options);
    return mergeEvents([own, this.#options.driver.events(id, options)]);
  }

  /** Restarts the replicas of a service. */
  async restart(id: LeaseKey, service: string): Promise<void> {
    this.#checkServices(id, [service]);
    await this.#options.driver.restart(id, service);
  }

  exec(id: LeaseKey, request: ExecRequest): Promise<ExecSession> {
    this.#checkServices(id, [request.service]);
    return this.#options.driver.exec(id, request);
  }

  #checkServices(id: LeaseKey, wanted: readonly string[]): void {
    const names = this.group(id).services.map((service) => service.name);
    const unknown = wanted.find((name) => !names.includes(name));
    if (unknown !== undefined) throw leaseErrors.unknownService(`"${unknown}" (it has ${names.join(", ")})`);
  }

  async #look(id: LeaseKey): Promise<LeaseHealth> {
    try {
      return await this.#options.driver.status(id);
    } catch (error) {
      this.#context.log.warn("the cluster cannot be asked", { lease: formatLeaseId(id), err: errorText(error) });
      return { health: "unknown", services: [] };
    }
  }

  #open(record: LeaseRecord): void {
    if (this.#isOpen(record.id)) return;
    this.#context.store.save(record);
    this.#take(record).start();
  }

  #isOpen(id: LeaseKey): boolean {
    return this.#machines.has(formatLeaseId(id)) || this.#stopped;
  }

  #take(record: LeaseRecord): LeaseMachine {
    const { registry, driver } = this.#context;
    const machine = new LeaseMachine(this.#context, record);
    this.#machines.set(formatLeaseId(record.id), machine);
    driver.ports.hold(record.id, record.ports);
    const names = claimedHosts([record]).filter((host) => !record.withheld.includes(host));
    const allowed = names.filter((host) => registry.allows(record.id, host));
    registry.claim(record.id, allowed);
    if (allowed.length < names.length) {
      const lost = names.filter((host) => !allowed.includes(host)).join(", ");
      this.#context.log.warn("a stored host name is no longer allowed", { lease: formatLeaseId(record.id), lost });
    }
    return machine;
  }

  #gone(id: LeaseKey): void {
    this.#machines.delete(formatLeaseId(id));
    this.#options.onGone?.(id);
    void settleWaiting(id.owner, this.#migrating());
  }

  /** Names of a lease that ends are free for other deployments of its owner, and reserved against everybody else. */
  async #handOver(id: LeaseKey): Promise<void> {
    this.#context.registry.retain(id, this.#context.claimed(id));
    await passOnAddresses(id, [], this.#migrating());
    await settleWaiting(id.owner, this.#migrating());
  }

  /** Another account has the domain of a name now. */
  #lost(holder: Pick<LeaseKey, "owner" | "dseq" | "gseq">, host: string): void {
    for (const machine of this.#machines.values()) {
      const { owner, dseq, gseq } = machine.id;
      if (owner !== holder.owner || dseq !== holder.dseq || gseq !== holder.gseq) continue;
      this.#context.log.warn("a host name went to the tenant who owns its domain", {
        lease: formatLeaseId(machine.id),
        host,
      });
      void machine.settleHosts();
    }
  }

  #ofGroup({ owner, dseq, gseq }: LeaseKey): LeaseRecord[] {
    return this.records().filter(({ id }) => id.owner === owner && id.dseq === dseq && id.gseq === gseq);
  }
}
