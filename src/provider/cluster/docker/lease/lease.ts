import { EventEmitter } from "node:events";
import { errorText, smallest } from "../../../../util/index.ts";
import type { LeaseHealth, LeaseSpec } from "../../contract/index.ts";
import { isNotFound, isUnreachable, startSentence } from "../api/failure.ts";
import type { DriverContext } from "../context.ts";
import { folderBytes } from "../host/folder-size.ts";
import type { LeaseRecord } from "../journal.ts";
import { LABEL, type Labels } from "../labels.ts";
import { damagedContainers, observeContainers, readinessOf } from "../replica/observe.ts";
import { planService } from "../replica/plan.ts";
import { Processes } from "../replica/processes.ts";
import { LeaseImages } from "./images.ts";
import { NodePorts } from "./node-ports.ts";
import { accountKill, applyRedirects, evict, removeContainer, removeSurroundings, replaceLost } from "./operations.ts";
import { withSpec } from "./pins.ts";
import { noteFullVolumes } from "./prepare.ts";
import { reconcileService } from "./service-pass.ts";
import { LeaseState } from "./state.ts";
import { leaseHealth, readyPort } from "./status.ts";

const RETRY_MS = { first: 500, max: 15_000 };
/** When the socket tables are read: soon after a start, then seldom. */
const PROBE_MS = { first: 20, max: 1_000, steady: 2_000 };

/**
 * One lease on the engine: a serialised reconcile loop. Every pass observes the containers and moves them a step nearer
 * to the journaled spec; events, timers and calls only poke the loop.
 */
export class Lease {
  readonly state: LeaseState;
  readonly #context: DriverContext;
  readonly #images: LeaseImages;
  readonly #ports: NodePorts;
  readonly #changes = new EventEmitter();
  /** Observed at least once by this process. */
  #seen = false;
  /** The last pass got no answer of the engine, whatever that says about others. */
  #unanswered = false;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #retry = RETRY_MS.first;
  #probe = PROBE_MS.first;
  #wakeTimer: NodeJS.Timeout | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  readonly #processes = new Processes();
  /** Containers in which the last pass found lost files, with the time when that was found first. */
  #damaged: ReadonlyMap<string, number> = new Map();
  /** Time to look again at processes that may be gone. */
  #lookAt: number | undefined;
  #redirected = false;
  #closed: Promise<void> | undefined;
  #settleClosed: (error?: Error) => void = () => {};

  constructor(context: DriverContext, record: LeaseRecord) {
    this.#context = context;
    this.state = new LeaseState(context, record);
    this.#images = new LeaseImages(this.state, () => this.poke());
    this.#ports = new NodePorts(this.state);
    this.#changes.setMaxListeners(0);
  }

  get spec(): LeaseSpec {
    return this.state.spec;
  }

  get closing(): boolean {
    return this.state.record.closing;
  }

  /** Images that it has or is about to have, by the engine's id or the digest of their configuration. */
  get images(): readonly string[] {
    return this.#images.inUse();
  }

  /** Durable when it resolves; the engine follows in the background. */
  async deploy(spec: LeaseSpec): Promise<void> {
    const isAnother = spec.generation !== this.spec.generation;
    await this.state.update((record) => withSpec(record, spec));
    if (isAnother) this.state.beginAnew();
    this.poke();
  }

  /** Removes the lease; resolves when nothing is left. A failure is retried in the background and thrown here. */
  async close(): Promise<void> {
    if (!this.closing) await this.state.update((record) => ({ ...record, closing: true }));
    this.#images.stop();
    if (this.#stopped) throw closedEarly();
    this.#closed ??= new Promise((resolve, reject) => {
      this.#settleClosed = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.poke();
    await this.#closed;
  }

  /** Stops the replicas of a service, one when the one before is ready again; the passes start them. */
  restart(service: string): void {
    this.state.restarts.add(service, this.state.units);
    this.poke();
  }

  /** Runs a pass soon; pokes during a pass make one more. */
  poke(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#loop();
  }

  /** Resolves when neither a pass nor a pull is under way. */
  async settled(): Promise<void> {
    await Promise.all([this.#running, this.#images.settled()]);
  }

  /** Stops watching; workloads keep running. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#wakeTimer);
    clearTimeout(this.#probeTimer);
    this.#ports.stop();
    this.#images.stop();
    this.#changes.emit("change");
    // Callers that still wait for a removal get an answer; the next start continues the removal.
    this.#settleClosed(closedEarly());
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Whether it was observed since the start. */
  get seen(): boolean {
    return this.#seen;
  }

  status(): LeaseHealth {
    const { health, services } = leaseHealth(
      this.state,
      this.#seen && !this.#unanswered && this.#context.health.reachable,
    );
    return {
      health,
      services: services.map((service) => this.#context.host.service(service)),
    };
  }

  backends(service: string, port: number): string[] {
    const units = this.state.units.filter((unit) => unit.service === service && unit.running);
    const ready = units.filter((unit) => this.state.historyOf(unit).ready);
    return ready.flatMap((unit) => readyPort(unit, `${port}/tcp`));
  }

  /** Calls back after every pass that changed something. */
  onChange(listener: () => void): () => void {
    this.#changes.on("change", listener);
    return () => this.#changes.off("change", listener);
  }

  /** The engine reported a signal from the host to a container. */
  noteKill(id: string): void {
    const unit = this.state.units.find((entry) => entry.id === id);
    if (unit !== undefined) accountKill(this.state, unit);
  }

  /** Measures writable layers and takes containers away that outgrew their limit. */
  async checkLayers(): Promise<void> {
    for (const service of this.spec.group.services) {
      const { layerLimit } = planService(service);
      for (const unit of this.state.units.filter((entry) => entry.service === service.name && entry.running)) {
        const { layerBytes = 0, imageVolumes } = await this.#context.api.inspect(unit.id, { size: true });
        const used = BigInt(layerBytes) + (await folderBytes(imageVolumes));
        if (used <= layerLimit) continue;
        await evict(this.state, unit, used, layerLimit);
        this.poke();
      }
    }
  }

  async #loop(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        clearTimeout(this.#wakeTimer);
        await this.#guardedPass();
      }
    } finally {
      this.#running = undefined;
    }
  }

  /** A pass may fail in any way; it is repeated with growing waits and never takes the others down. */
  async #guardedPass(): Promise<void> {
    const damaged = this.#damaged;
    this.#damaged = new Map();
    try {
      const wakeAt = this.closing ? await this.#teardown() : await this.#pass();
      this.#retry = RETRY_MS.first;
      this.#wakeAt(wakeAt);
    } catch (error) {
      this.#context.health.observe(error);
      this.#unanswered = isUnreachable(error);
      const text = errorText(error);
      if (!isUnreachable(error)) {
        this.#context.log.warn("lease could not be reconciled", { lease: this.state.namespace, err: text });
        this.#context.news.failed(this.spec.id, error);
        this.state.errors.set("", startSentence(error));
        await this.#replaceDamaged(damaged).catch((fault) => this.#context.health.observe(fault));
      }
      this.#wakeAt(Date.now() + this.#retry);
      this.#retry = Math.min(this.#retry * 2, RETRY_MS.max);
    }
  }

  /**
   * An engine that cannot describe one container of a lease may refuse everything about the lease. `before` is what the pass before
   * has found.
   */
  async #replaceDamaged(before: ReadonlyMap<string, number>): Promise<void> {
    const { api, volumes, settings } = this.#context;
    // A layer that is only not mounted is not lost.
    await volumes.mountLease(this.state.namespace);
    if ((await volumes.unavailable()) !== undefined) return;
    const now = Date.now();
    const found = await damagedContainers(api, this.#labels);
    this.#damaged = new Map(found.map(({ id }) => [id, before.get(id) ?? now]));
    for (const place of found) {
      if (now - (this.#damaged.get(place.id) ?? now) < settings.timing.damaged) continue;
      await replaceLost(this.state, place, "files of its container are lost");
    }
  }

  /** Labels of its containers. */
  get #labels(): Labels {
    return { [LABEL.home]: this.#context.naming.prefix, [LABEL.namespace]: this.state.namespace };
  }

  #wakeAt(time: number): void {
    if (this.#stopped) return;
    const wait = Math.max(10, Math.min(time - Date.now(), this.#context.settings.timing.resync));
    this.#wakeTimer = setTimeout(() => this.poke(), wait);
    this.#wakeTimer.unref();
  }

  /** Returns when to look again. */
  async #pass(): Promise<number> {
    const { state } = this;
    await this.#ensureNetwork();
    await this.#observe();
    const plans = state.spec.group.services.map(planService);
    if (!this.#redirected) await this.#restoreRedirects();
    const results = await Promise.all(plans.map((plan) => reconcileService(state, this.#images, plan)));
    const wanted = new Set(plans.map((plan) => plan.name));
    const strangers = state.units.filter((unit) => !wanted.has(unit.service));
    await Promise.all(strangers.map((unit) => removeContainer(state, unit)));
    state.errors.delete("");
    if (strangers.length > 0 || results.some((result) => result.changed)) {
      this.#again = true;
      await this.#observe();
    }
    await noteFullVolumes(state);
    await this.#ports.reconcile();
    this.#probe = PROBE_MS.first;
    this.#scheduleProbe();
    this.#changes.emit("change");
    const times = results.map((result) => result.wakeAt).filter((time) => time !== undefined);
    if (this.#lookAt !== undefined) times.push(this.#lookAt);
    return smallest(times, Date.now() + this.#context.settings.timing.resync);
  }

  async #ensureNetwork(): Promise<void> {
    const { state } = this;
    const { api, naming, firewall } = this.#context;
    const name = naming.network(state.namespace);
    state.network = await api.inspectNetwork(name).catch(async (error) => {
      if (!isNotFound(error)) throw error;
      await api.createNetwork(name, naming.bridge(state.namespace), naming.leaseLabels(state.spec));
      return api.inspectNetwork(name);
    });
    await firewall.allow(state.namespace, { bridge: naming.bridge(state.namespace), subnet: state.network.subnet });
  }

  async #observe(): Promise<void> {
    const { state } = this;
    const units = await observeContainers(this.#context.api, this.#labels);
    this.#context.health.answered();
    this.#unanswered = false;
    const present = units.filter((unit) => !state.leaving.has(unit.id));
    const { gone, lookAt } = await this.#processes.lost(present, Date.now());
    for (const unit of gone) {
      await replaceLost(state, unit, "its process is gone, although the engine reports it as running");
    }
    this.#lookAt = lookAt;
    state.units = present.filter((unit) => !gone.includes(unit));
    await this.#updateReadiness();
    // Containers from before this process are known by their redirected ports; a fault is reported at the end of the
    // pass.
    if (!this.#seen) await this.#ports.reconcile().catch(() => {});
    this.#seen = true;
    this.#context.moved(state.spec.id);
    state.prune();
  }

  /** Containers that were running before this process: set their port redirects again where they are missing. */
  async #restoreRedirects(): Promise<void> {
    for (const service of this.spec.group.services) {
      const plan = planService(service);
      for (const unit of this.state.units.filter((entry) => entry.service === service.name && entry.running)) {
        await applyRedirects(this.state, unit.id, plan);
      }
    }
    this.#redirected = true;
  }

  /** Tells whether anything changed. */
  async #updateReadiness(): Promise<boolean> {
    const { minRunning } = this.#context.settings.timing;
    let changed = false;
    for (const unit of this.state.units) {
      const history = this.state.historyOf(unit);
      const gone = await this.#processes.isGone(unit);
      const { ready, reason } = await readinessOf({ ...unit, running: unit.running && !gone }, minRunning);
      if (history.stopped || history.preparing) continue;
      if (ready !== history.ready) changed = true;
      history.ready = ready;
      history.reason = reason;
      if (ready) history.error = undefined;
    }
    return changed;
  }

  #scheduleProbe(): void {
    clearTimeout(this.#probeTimer);
    if (this.#stopped || !this.state.units.some((unit) => unit.running)) return;
    const waiting = this.state.units.some((unit) => unit.running && !this.state.historyOf(unit).ready);
    const wait = waiting ? this.#probe : PROBE_MS.steady;
    this.#probe = Math.min(this.#probe * 1.5, PROBE_MS.max);
    this.#probeTimer = setTimeout(() => void this.#probeOnce(), wait);
    this.#probeTimer.unref();
  }

  async #probeOnce(): Promise<void> {
    if (!(await this.#updateReadiness())) return this.#scheduleProbe();
    // Ready replicas get requests at once, before the pass that follows.
    this.#context.moved(this.spec.id);
    this.poke();
  }

  /** Removes everything, in an order that can be resumed after a crash at any point: the journal last. */
  async #teardown(): Promise<number> {
    const { state } = this;
    await this.#ports.remove();
    await this.#observe();
    await Promise.all(state.units.map((unit) => removeContainer(state, unit)));
    await removeSurroundings(this.#context, state.namespace);
    await state.retire();
    this.#settleClosed();
    this.stop();
    return Number.POSITIVE_INFINITY;
  }
}

function closedEarly(): Error {
  return new Error("the driver was closed while the lease was being removed");
}
