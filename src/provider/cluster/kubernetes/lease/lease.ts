import { EventEmitter } from "node:events";
import { errorText, Mutex } from "../../../../util/index.ts";
import { formatLeaseId } from "../../../../wire/index.ts";
import {
  type ClusterEvent,
  clusterErrors,
  isHttpExpose,
  type LeaseHealth,
  type LeaseSpec,
  leaseNamespace,
  replicaName,
} from "../../contract/index.ts";
import type { LeasedIps } from "../addresses/addresses.ts";
import { ApiFailure } from "../api/failure.ts";
import type { DriverContext } from "../context.ts";
import { KIND, leaseObjects } from "../objects/index.ts";
import type { ObservedPod } from "../view/pods.ts";
import { Slots } from "../view/slots.ts";
import type { PodChange } from "../view/view.ts";
import { Applied } from "./applied.ts";
import { Manifest, shown } from "./manifest.ts";
import { Quarrel } from "./quarrel.ts";
import { evictedText } from "./reasons/placing.ts";
import { type LeaseRecord, recordObject } from "./record.ts";
import { Rests } from "./rests.ts";
import { ensureNamespace } from "./space.ts";
import { leaseHealth } from "./status.ts";

/**
 * One lease on the cluster. The record in its namespace has the wanted state; passes apply the changes and delete
 * unwanted objects. The cluster does the rest, even while no daemon runs.
 */
export class Lease {
  readonly context: DriverContext;
  readonly namespace: string;
  readonly #addresses: LeasedIps;
  readonly #applied: Applied;
  readonly #turn = new Mutex();
  readonly #slots = new Map<string, Slots>();
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #saves = new Mutex();
  readonly #manifest: Manifest;
  #record: LeaseRecord;
  closing = false;
  #suspended = false;
  #stopped = false;
  #running = false;
  #again = false;
  #idle: Promise<void> = Promise.resolve();
  #retry: number;
  #timer: NodeJS.Timeout | undefined;
  readonly #quarrel: Quarrel;
  readonly #rests: Rests;
  /** Why a pass failed, by service; the empty name concerns all services. */
  #errors = new Map<string, string>();

  constructor(context: DriverContext, addresses: LeasedIps, record: LeaseRecord) {
    this.context = context;
    this.#addresses = addresses;
    this.#record = record;
    this.namespace = leaseNamespace(record.spec.id);
    this.#applied = new Applied(context, this.namespace);
    this.#retry = context.timing.retry;
    this.#quarrel = new Quarrel(context.timing, () => this.poke());
    this.#rests = new Rests(context.timing.backoff);
    this.#manifest = new Manifest(context, this);
  }

  get spec(): LeaseSpec {
    return this.#record.spec;
  }

  /** Durable when it resolves; the objects follow in the background. */
  deploy(spec: LeaseSpec): Promise<void> {
    return this.#save(() => {
      const { spec: now } = this.#record;
      if (spec.generation < now.generation && spec.version !== now.version) {
        throw clusterErrors.staleGeneration(`generation ${spec.generation} after ${now.generation}`);
      }
      // A repeatedly ending program may be fixed.
      if (spec.version !== now.version) this.#rests.clear();
      return { ...this.#record, spec };
    });
  }

  /** Has the pods of a service replaced, one after the other. */
  restart(service: string): Promise<void> {
    return this.#save(() => {
      const { restarts } = this.#record;
      this.#rests.forget(service);
      return { ...this.#record, restarts: { ...restarts, [service]: (restarts[service] ?? 0) + 1 } };
    });
  }

  #save(next: () => LeaseRecord): Promise<void> {
    return this.#saves.run(async () => {
      this.#checkOpen();
      const record = next();
      await ensureNamespace(this.context, record.spec);
      const { resource, object } = recordObject(record, this.context.provider);
      await this.context.api.apply(resource, object);
      this.#checkOpen();
      this.#record = record;
      this.#applied.forgetFailures();
      this.poke();
    });
  }

  /** A record written after the last pass would never take effect. */
  #checkOpen(): void {
    if (this.#stopped) throw clusterErrors.closing(formatLeaseId(this.spec.id));
  }

  /** Removes the replicas and keeps everything else; resolves when the last has ended. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    this.poke();
    // A cluster keeps pods that nodes have ended.
    while (this.context.view.pods(this.namespace).some(({ ended }) => !ended)) await this.#change();
    this.stop();
  }

  /** Runs a pass soon; pokes during a pass make one more. */
  poke(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (!this.#running) this.#idle = this.#loop();
  }

  /** Runs the task while no pass is under way. */
  between<T>(task: () => Promise<T>): Promise<T> {
    return this.#turn.run(task);
  }

  /** An object of it is another; `version` tells whether it is as this process applied it. */
  touched(object: string, version: unknown): void {
    if (version !== undefined && this.#applied.isOwn(object, version)) return;
    this.#applied.doubt();
    if (this.#stopped) return;
    const waitMs = this.#quarrel.answer();
    if (waitMs === 0) return;
    const lease = formatLeaseId(this.spec.id);
    this.context.log.warn("somebody keeps changing what a lease has on the cluster", { lease, object, waitMs });
  }

  /** It is being removed: no pass puts anything back. */
  async close(): Promise<void> {
    this.closing = true;
    await this.stop();
  }

  /** Ends the passes; workloads keep running. Resolves when no call is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#quarrel.end();
    this.#changes.emit("change");
    // The record is not written anew after its namespace is gone.
    await this.#saves.run(async () => {});
    await this.#idle;
    await this.#manifest.stop();
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  status(): LeaseHealth {
    const addresses = this.#addresses.status(this.spec, (service) => this.errorOf(service));
    const known = leaseHealth(this, this.context.view.fresh);
    const health = { ...known, services: known.services.map((service) => this.context.host.service(service)) };
    return addresses.length === 0 ? health : { ...health, addresses };
  }

  errorOf(service: string): string | undefined {
    return this.#errors.get("") ?? this.#errors.get(service);
  }

  /** Why a replica of the service waits before it starts again; undefined where none does. */
  restOf(service: string): string | undefined {
    return this.#rests.reason(service, Date.now());
  }

  podsOf(service: string): ObservedPod[] {
    return this.context.view.pods(this.namespace).filter((pod) => pod.service === service);
  }

  /** The pods of a service that are its replicas, by their number. */
  slots(service: string): ReadonlyMap<number, ObservedPod> {
    const count = this.spec.group.services.find(({ name }) => name === service)?.count ?? 0;
    const slots = this.#slots.get(service) ?? new Slots();
    this.#slots.set(service, slots);
    return slots.assign(this.podsOf(service), count);
  }

  /** Name of the replica that a pod is, or is to replace. */
  nameOf(service: string, pod: ObservedPod): string {
    const slots = [...this.slots(service)];
    const own = slots.find(([, { uid }]) => uid === pod.uid);
    const other = slots.find(([, each]) => each.config !== pod.config);
    return replicaName(service, (own ?? other)?.[0] ?? 0);
  }

  /** Addresses of the pods that can take requests for a container port. */
  backends(service: string, port: number): string[] {
    return this.readyPods(service, port).flatMap(({ ip }) =>
      ip === undefined ? [] : [ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`],
    );
  }

  /** The pods that can take requests for a container port. */
  readyPods(service: string, port: number): ObservedPod[] {
    const found = this.spec.group.services.find(({ name }) => name === service);
    if (!found?.expose.some((expose) => expose.port === port && expose.proto === "TCP" && isHttpExpose(expose)))
      return [];
    return [...this.slots(service).values()].filter((pod) => this.context.view.isReady(pod));
  }

  /** Calls back when pods changed, and at the end. */
  onChange(listener: () => void): () => void {
    this.#changes.on("change", listener);
    return () => this.#changes.off("change", listener);
  }

  /** The view has something new about a pod. */
  moved({ before, now }: PodChange): void {
    // An end from before this process says nothing about the present, and deleted pods end, too.
    if (before?.ended === false && now?.ended === true && !now.terminating) this.#ended(now);
    this.#changes.emit("change");
    this.#manifest.moved();
  }

  /** A node ended a pod for good. The cluster replaces it at once, so repeatedly ending pods have to wait. */
  #ended(pod: ObservedPod): void {
    const { service, ordinal } = pod;
    const count = this.spec.group.services.find(({ name }) => name === service)?.count;
    if (count === undefined) return;
    const replica = ordinal === undefined ? this.nameOf(service, pod) : replicaName(service, ordinal);
    const text = `${replica}: ${evictedText(pod.trouble ?? "")}`;
    const waitMs = this.#rests.add({ service, count, ordinal, text }, Date.now());
    if (waitMs > 0) {
      const note = `${replica} starts again in ${Math.round(waitMs / 1_000)} s`;
      this.event({ type: "Warning", reason: "BackOff", note, service, replica });
    }
    this.poke();
  }

  event(input: Pick<ClusterEvent, "type" | "reason" | "note" | "service"> & { readonly replica: string }): void {
    const { replica: name, ...event } = { ...input, note: this.context.host.hide(input.note) };
    const object = { kind: "Pod", namespace: this.namespace, name };
    this.context.events.add(this.namespace, { ...event, object, time: new Date().toISOString() });
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const forget = this.onChange(() => {
        forget();
        resolve();
      });
    });
  }

  async #loop(): Promise<void> {
    this.#running = true;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        clearTimeout(this.#timer);
        await this.context.passes.run(() => this.#turn.run(() => this.#guardedPass()));
      }
    } finally {
      this.#running = false;
    }
  }

  /** A pass may fail in any way; it is repeated with growing waits and never takes the others down. */
  async #guardedPass(): Promise<void> {
    if (this.#stopped) return;
    try {
      const failures = await this.#pass();
      this.#errors = failures;
      if (failures.size > 0) return this.#later();
      this.#retry = this.context.timing.retry;
      this.#whenRested();
    } catch (error) {
      const isAway = error instanceof ApiFailure && error.kind === "unreachable";
      if (!isAway) {
        const err = errorText(error);
        this.context.log.warn("lease could not be brought up to date", { lease: formatLeaseId(this.spec.id), err });
        this.#errors = new Map([["", err]]);
      }
      this.#later();
    }
  }

  async #pass(): Promise<Map<string, string>> {
    const { spec, restarts } = this.#record;
    await ensureNamespace(this.context, spec);
    const record = recordObject(this.#record, this.context.provider);
    const replicas = this.#replicas();
    const run = { restarts, suspended: this.#suspended, replicas, held: this.#addresses.held(spec.id) };
    const objects = [record, ...leaseObjects(spec, this.context.objects, run)];
    this.#manifest.moved();
    const failures = await this.#applied.bring(objects, (each) => this.#addresses.obstacle(each));
    if (failures.size === 0) await this.#applied.prune(objects);
    await buryPods(this.context, this.namespace);
    return failures;
  }

  #replicas(): Record<string, number> {
    const now = Date.now();
    const { services } = this.spec.group;
    return Object.fromEntries(services.map(({ name, count }) => [name, this.#rests.replicas(name, count, now)]));
  }

  /** The next pass gives a service the replicas that have waited. */
  #whenRested(): void {
    const now = Date.now();
    const next = this.#rests.next(now);
    if (next === undefined || this.#stopped) return;
    this.#timer = setTimeout(() => this.poke(), next - now + 1);
    this.#timer.unref();
  }

  #later(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.poke(), this.#retry);
    this.#timer.unref();
    this.#retry = Math.min(this.#retry * 2, this.context.timing.maxRetry);
  }
}

/** Ended pods kept per service, for finding the reason. */
const KEPT = 3;

/** Deletes pods that nodes have ended, except the last few of each service: a cluster keeps thousands of them. */
async function buryPods(context: DriverContext, namespace: string): Promise<void> {
  const ended = context.view.pods(namespace).filter((pod) => pod.ended && !pod.terminating);
  const services = new Set(ended.map(({ service }) => service));
  const old = [...services].flatMap((name) => olderOnes(ended.filter(({ service }) => service === name)));
  if (old.length === 0) return;
  await shown(context, "ended pods of a lease are not removed", async () => {
    for (const { name, uid } of old) await context.api.delete(KIND.pod, { namespace, name }, { uid });
  });
}

function olderOnes(pods: readonly ObservedPod[]): ObservedPod[] {
  return [...pods].sort((a, b) => b.createdAt - a.createdAt).slice(KEPT);
}
