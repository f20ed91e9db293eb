import type { ManifestGroup } from "../../sdl/index.ts";
import { causeText, errorText, isOneOf, Mutex, SvcError, waitAtMost } from "../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import {
  clusterErrors,
  endpointNames,
  isLasting,
  type LeaseHealth,
  leaseNamespace,
  tellNotKept,
} from "../cluster/index.ts";
import { HOST_REASONS } from "../reasons.ts";
import { type GiveUpReason, type LeaseContext, leaseEvent } from "./context.ts";
import { leaseErrors } from "./errors.ts";
import { countHealth, HEALTHY, type HealthCount, isGivenUp } from "./health.ts";
import { claimHosts, keptHosts, serviceRoutes } from "./hosts.ts";
import { hasItsAddresses, makesRoom, type Together, wantedEndpoints, withheldEndpoints } from "./record/addresses.ts";
import { advance, type CloseProof, type LeaseRecord } from "./record/record.ts";
import { leaseSpec } from "./spec.ts";

/** Waits in milliseconds: between calls of a cluster that fails, and before the chain is asked again to end a lease. */
const RETRY = { first: 1_000, most: 60_000 };
const ASK_AGAIN_MS = 600_000;
/** A workload whose lease has ended does not run on for longer than this because another lease is busy. */
const HAND_OVER_MS = 5_000;

/**
 * One lease: awaiting manifest -> deploying -> running -> closing -> gone. Steps run one at a time; the record is
 * durable before the cluster acts on it. Only `close` ends a workload, and it requires the proof.
 */
export class LeaseMachine {
  readonly id: LeaseKey;
  readonly #context: LeaseContext;
  readonly #serial = new Mutex();
  #record: LeaseRecord;
  #health: HealthCount = HEALTHY;
  #deployed = 0;
  #deployError: string | undefined;
  #failures = 0;
  #askedAt: number | undefined;
  #warned = false;
  #cancel: () => void = () => {};
  #stopped = false;

  constructor(context: LeaseContext, record: LeaseRecord) {
    this.id = record.id;
    this.#context = context;
    this.#record = record;
  }

  get record(): LeaseRecord {
    return this.#record;
  }

  /** Last refusal of the cluster, for the tenant. */
  get error(): string | undefined {
    return this.#deployError;
  }

  /**
   * Takes the lease up where the record left it. Its routes come first: what runs is reachable before the cluster
   * answers.
   */
  start(): void {
    if (this.#record.phase !== "closing") {
      this.#serial
        .run(() => {
          this.#lookAtHosts();
          return this.#publish();
        })
        .catch((error) => {
          this.#context.log.warn("lease not routed yet", { lease: formatLeaseId(this.id), err: errorText(error) });
        });
    }
    this.#schedule(0);
  }

  /** Ends the machine, not the workload. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#serial.run(() => {});
  }

  /**
   * Puts the manifest in force, durably, or throws and keeps the previous one. The same version again changes nothing.
   */
  accept(group: ManifestGroup, version: string, together: Together): Promise<void> {
    return this.#serial.run(() => this.#accept(group, version, together));
  }

  /** Rejects where the manifest could not be put in force now. Host names and ports that it needs stay taken until `relax`. */
  check(group: ManifestGroup, version: string): Promise<void> {
    return this.#serial.run(async () => {
      if (this.#record.phase === "closing" || this.#stopped) throw leaseErrors.closing();
      if (this.#record.version === version) return;
      await this.#propose(group, version);
    });
  }

  /** Gives back what `check` has taken. */
  relax(): Promise<void> {
    return this.#serial.run(() => {
      if (!this.#stopped) this.#keepWhatIsInForce();
    });
  }

  /** Deploys the current manifest again, for a cluster that has lost its record; retries later if that fails. */
  describe(): Promise<void> {
    return this.#serial.run(async () => {
      if (this.#record.phase === "closing" || this.#stopped) return;
      await this.#deploy().catch((error: unknown) => this.#deployLater(error));
    });
  }

  /** Begins the end of the lease, durably; the rest is repeated until nothing is left. */
  close(proof: CloseProof): Promise<void> {
    return this.#serial.run(() => {
      if (this.#record.phase === "closing") return;
      this.#save(advance(this.#record, "closing", { proof }));
      const note = `the lease ended at height ${proof.height}; its workload is removed`;
      leaseEvent(this.#context, this.id, { type: "Normal", reason: "Closing", note });
      this.#context.log.info("lease closed, removing workload", {
        module: "provider-cluster",
        lease: formatLeaseId(this.id),
        height: String(proof.height),
        proof: proof.source,
      });
      this.#failures = 0;
      this.#schedule(0);
    });
  }

  /** Serves exactly the host names that are the lease's by now: others were migrated here, or away. */
  settleHosts(): Promise<void> {
    return this.#serial
      .run(() => this.#settleHosts())
      .catch((error) => {
        this.#context.log.warn("host names could not be taken", {
          lease: formatLeaseId(this.id),
          err: errorText(error),
        });
      });
  }

  /** Takes the available leased addresses that the manifest asks for, and releases others. */
  settleAddresses(): Promise<void> {
    return this.#serial.run(() => this.#settleAddresses());
  }

  /** Runs the task while nothing else happens to the lease. */
  hold<T>(task: () => Promise<T>): Promise<T> {
    return this.#serial.run(task);
  }

  /** Migrates host names here, and resolves when they are routed here. Called while the lease is held. */
  async takeHosts(migrate: () => void): Promise<void> {
    if (this.#stopped || this.#record.phase === "closing") throw leaseErrors.closing();
    migrate();
    this.#lookAtHosts();
    await this.#publish();
  }

  async #settleHosts(): Promise<void> {
    if (this.#stopped || !this.#lookAtHosts()) return;
    await this.#publish();
  }

  /** Whether the names in the record changed. */
  #lookAtHosts(): boolean {
    const { registry, claimed } = this.#context;
    const { group, withheld, hosts, phase } = this.#record;
    if (group === null || phase === "closing") return false;
    const now = keptHosts(registry, { id: this.id, group }, hosts);
    if (JSON.stringify([now.hosts, now.withheld]) === JSON.stringify([hosts, withheld])) return false;
    this.#save({ ...this.#record, ...now });
    registry.retain(this.id, claimed(this.id));
    this.#tellLost(Object.values(hosts).flat());
    return true;
  }

  #tellLost(before: readonly string[]): void {
    const { hosts, withheld } = this.#record;
    const now = new Set([...Object.values(hosts).flat(), ...withheld]);
    const lost = before.filter((host) => !now.has(host));
    if (lost.length === 0) return;
    const note = `${lost.join(", ")} no longer routes here: another tenant has proved ownership of the name, or the provider blocks it`;
    leaseEvent(this.#context, this.id, { type: "Warning", reason: "HostnameLost", note });
  }

  /** Failures are retried at the next check of the lease. */
  async #settleAddresses(): Promise<void> {
    const { driver, passOn, log } = this.#context;
    if (this.#stopped || this.#record.phase === "closing") return;
    if (hasItsAddresses(this.#record, driver.addresses)) return;
    try {
      const wanted = wantedEndpoints(this.#record);
      await passOn(this.id, wanted);
      await driver.addresses.retain(this.id, wanted);
      await driver.addresses.claim(this.id, wanted);
    } catch (error) {
      log.warn("leased addresses are not yet those of the manifest", {
        lease: formatLeaseId(this.id),
        err: errorText(error),
      });
    }
  }

  async #accept(group: ManifestGroup, version: string, together: Together): Promise<void> {
    const before = this.#record;
    if (before.phase === "closing" || this.#stopped) throw leaseErrors.closing();
    if (before.group !== null && before.version === version) return this.#schedule(0);
    this.#save(await this.#prepare(group, version, together));
    try {
      await this.#deploy();
    } catch (error) {
      if (!isLasting(error)) return this.#deployLater(error);
      this.#save(before);
      throw error;
    } finally {
      this.#keepWhatIsInForce();
      await this.#settleAddresses();
    }
    this.#tellAccepted();
    this.#schedule(0);
  }

  #tellAccepted(): void {
    const { version, withheld } = this.#record;
    const { addresses } = this.#context.driver;
    const note = `manifest ${version.slice(0, 16)} is in force`;
    leaseEvent(this.#context, this.id, { type: "Normal", reason: "ManifestReceived", note });
    const endpoints = withheldEndpoints(this.#record, addresses);
    if (endpoints.length > 0) {
      const text = `${endpoints.join(", ")} still belongs to another deployment of yours; it migrates when that one closes, or with: svc provider migrate-endpoints`;
      leaseEvent(this.#context, this.id, { type: "Warning", reason: "EndpointWithheld", note: text });
    }
    if (withheld.length === 0) return;
    const held = `${withheld.join(", ")} still belongs to another deployment of yours; it migrates when that one closes, or with: svc provider migrate-hostnames`;
    leaseEvent(this.#context, this.id, { type: "Warning", reason: "HostnameWithheld", note: held });
  }

  /** The next record, with host names, ports and addresses taken; on a refusal nothing is taken. */
  async #prepare(group: ManifestGroup, version: string, together: Together): Promise<LeaseRecord> {
    try {
      const next = await this.#propose(group, version);
      await this.#claimAddresses(endpointNames(group), together);
      return next;
    } catch (error) {
      this.#keepWhatIsInForce();
      await this.#settleAddresses();
      throw error;
    }
  }

  /** The next record, with host names and ports taken, if the cluster can ever run it. */
  async #propose(group: ManifestGroup, version: string): Promise<LeaseRecord> {
    const { driver, registry, settings } = this.#context;
    const before = this.#record;
    const hosts = claimHosts(registry, { id: this.id, group }, settings);
    const ports = await driver.ports.assign(this.id, group);
    const next = advance(before, "deploying", { group, version, generation: before.generation + 1, ports, ...hosts });
    const spec = leaseSpec(next, settings.publicHostname);
    if (spec !== undefined) await driver.check(spec);
    return next;
  }

  /** Gives back host names and ports of a manifest that is not in force. */
  #keepWhatIsInForce(): void {
    const { driver, registry, claimed } = this.#context;
    registry.retain(this.id, claimed(this.id));
    driver.ports.hold(this.id, this.#record.ports);
  }

  /**
   * With all addresses taken, only the ones that the manifest gives up remain: they are free once it is in force for
   * all groups.
   */
  async #claimAddresses(wanted: readonly string[], together: Together): Promise<void> {
    const { addresses } = this.#context.driver;
    try {
      await addresses.claim(this.id, wanted);
    } catch (error) {
      if (!isOneOf([clusterErrors.noAddresses], error) || !makesRoom(together, addresses)) throw error;
    }
  }

  async #deploy(): Promise<void> {
    const { driver, settings } = this.#context;
    const spec = leaseSpec(this.#record, settings.publicHostname);
    if (spec === undefined) return;
    await driver.deploy(spec, { hasRun: this.#record.phase === "running" });
    await this.#publish();
    this.#deployed = spec.generation;
    this.#deployError = undefined;
    this.#failures = 0;
  }

  /** Routes the lease's host names. */
  async #publish(): Promise<void> {
    const { id, group, hosts, loopback } = this.#record;
    if (group === null) return;
    const routes = serviceRoutes(this.#context.registry, { id, group }, hosts);
    const { router, events } = this.#context;
    const ports = await router.route(id, routes, loopback);
    for (const route of routes) tellNotKept(events, route, router.notKept?.(route.target.options) ?? []);
    if (JSON.stringify(ports) !== JSON.stringify(loopback)) this.#save({ ...this.#record, loopback: ports });
  }

  #deployLater(error: unknown): void {
    const { host, log } = this.#context;
    this.#deployError = host.hide(deployText(error));
    log.warn("deploy failed, trying again", { lease: formatLeaseId(this.id), err: causeText(error) });
    this.#schedule(this.#retryDelay());
  }

  async #step(): Promise<void> {
    const { phase } = this.#record;
    if (this.#stopped) return;
    if (phase === "awaiting") return this.#await();
    if (phase === "closing") return this.#teardown();
    if (this.#deployed < this.#record.generation) {
      try {
        await this.#deploy();
      } catch (error) {
        return this.#deployLater(error);
      }
    }
    await this.#observe();
  }

  async #await(): Promise<void> {
    const { clock, settings, log } = this.#context;
    if (this.#record.adopted) return;
    const left = this.#record.firstSeen + settings.manifestTimeoutMs - clock.now();
    if (left > 0) return this.#schedule(left);
    log.info("watchdog: no manifest, closing bid", { module: "provider-manifest", lease: formatLeaseId(this.id) });
    await this.#giveUp("manifest_timeout");
    this.#schedule(RETRY.most);
  }

  async #observe(): Promise<void> {
    const { clock, random, settings, log } = this.#context;
    const status = await this.#look();
    this.#health = countHealth(this.#health, status.health, clock.now());
    log.debug("check result", { lease: formatLeaseId(this.id), health: status.health, attempt: this.#health.bad });
    await this.#settleAddresses();
    if (status.health === "ok") this.#healthy(status);
    if (status.health === "bad") await this.#unhealthy(status);
    const { periodMs, periodJitterMs, retryMs, retryJitterMs } = settings.monitor;
    const calm = status.health === "ok" && this.#record.phase === "running";
    const [wait, jitter] = calm ? [periodMs, periodJitterMs] : [retryMs, retryJitterMs];
    this.#schedule(wait + Math.floor(jitter * random()));
  }

  async #look(): Promise<LeaseHealth> {
    try {
      return await this.#context.driver.status(this.id);
    } catch (error) {
      this.#context.log.warn("the cluster cannot be asked", { lease: formatLeaseId(this.id), err: causeText(error) });
      return { health: "unknown", services: [] };
    }
  }

  #healthy({ services }: LeaseHealth): void {
    this.#warned = false;
    this.#askedAt = undefined;
    const updated = services.every((service) => service.updated >= service.total);
    if (this.#record.phase !== "deploying" || !updated) return;
    this.#save(advance(this.#record, "running"));
    this.#context.log.info("deploy complete", { module: "provider-cluster", lease: formatLeaseId(this.id) });
  }

  async #unhealthy(status: LeaseHealth): Promise<void> {
    const { monitor } = this.#context.settings;
    const reason = describeBad(status);
    if (this.#health.bad === 1) {
      leaseEvent(this.#context, this.id, { type: "Warning", reason: "Unhealthy", note: reason });
    }
    if (!this.#warned && this.#health.badMs * 2 >= monitor.graceMs && this.#health.bad * 2 > monitor.retries) {
      this.#warned = true;
      const note = `${reason}; the lease is closed unless it works within ${minutes(monitor.graceMs - this.#health.badMs)}`;
      leaseEvent(this.#context, this.id, { type: "Warning", reason: "Closing", note });
    }
    if (!isGivenUp(this.#health, monitor)) return;
    this.#context.log.error("deployment failed.  closing lease.", { lease: formatLeaseId(this.id), err: reason });
    await this.#giveUp("unstable");
  }

  /** Asks the chain to end the lease. The workload stays until the end is proven. */
  async #giveUp(reason: GiveUpReason): Promise<void> {
    const { clock, log, closeBid } = this.#context;
    if (this.#askedAt !== undefined && clock.now() - this.#askedAt < ASK_AGAIN_MS) return;
    this.#askedAt = clock.now();
    const note = `the provider closes the lease: ${reason}`;
    leaseEvent(this.#context, this.id, { type: "Warning", reason: "Closing", note });
    // Not awaited: the block that closes the lease must not find this machine waiting for it.
    closeBid(this.id, reason).catch((error) => {
      this.#askedAt = undefined;
      log.error("bid could not be closed, trying again", { lease: formatLeaseId(this.id), err: errorText(error) });
    });
  }

  async #teardown(): Promise<void> {
    const { driver, router, log, handOver } = this.#context;
    try {
      // First, so that one of the deployments always serves a name that both want.
      await waitAtMost(this.#context.clock, HAND_OVER_MS, handOver(this.id));
      await router.unroute(this.id);
      await driver.teardown(this.id, this.#record.proof?.height);
    } catch (error) {
      log.warn("teardown failed, trying again", { lease: formatLeaseId(this.id), err: causeText(error) });
      return this.#schedule(this.#retryDelay());
    }
    this.#forget();
  }

  #forget(): void {
    const { store, driver, registry, events, gone, log, claimed } = this.#context;
    this.#stopped = true;
    this.#cancel();
    store.remove(this.id);
    driver.ports.release(this.id);
    events.remove(leaseNamespace(this.id));
    gone(this.id);
    registry.retain(this.id, claimed(this.id));
    log.info("teardown complete", { module: "provider-cluster", lease: formatLeaseId(this.id) });
  }

  #save(record: LeaseRecord): void {
    this.#context.store.save(record);
    this.#record = record;
  }

  #retryDelay(): number {
    return Math.min(RETRY.most, RETRY.first * 2 ** Math.min(this.#failures++, 16));
  }

  /** The next step replaces the one that was planned. */
  #schedule(milliseconds: number): void {
    this.#cancel();
    if (this.#stopped) return;
    this.#cancel = this.#context.clock.after(milliseconds, () => {
      this.#serial
        .run(() => this.#step())
        .catch((error) => {
          this.#context.log.error("lease step failed", { lease: formatLeaseId(this.id), err: causeText(error) });
          this.#schedule(this.#retryDelay());
        });
    });
  }
}

/** Why a manifest is not deployed yet, for its tenant. */
function deployText(error: unknown): string {
  if (isOneOf([clusterErrors.unreachable], error)) return HOST_REASONS.engineAway.tenant;
  return error instanceof SvcError ? error.message : HOST_REASONS.engine.tenant;
}

function describeBad({ services }: LeaseHealth): string {
  const short = services.filter((service) => service.available < service.total);
  const texts = short.map(({ name, available, total, error }) => {
    const why = error === undefined ? "" : ` (${error})`;
    return `service ${name} has ${available} of ${total} replicas${why}`;
  });
  return texts.join("; ") || "the lease is unhealthy";
}

function minutes(milliseconds: number): string {
  const count = Math.max(1, Math.ceil(milliseconds / 60_000));
  return count === 1 ? "1 minute" : `${count} minutes`;
}
