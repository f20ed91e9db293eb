import type { ClusterEvent } from "../../contract/index.ts";
import type { ApiObject } from "../api/objects.ts";
import type { DriverContext } from "../context.ts";
import type { Lease } from "../lease/lease.ts";
import { imageError } from "../lease/reasons/images.ts";
import { evictedText, placingText } from "../lease/reasons/placing.ts";
import { exitText, memoryOf } from "../lease/status.ts";
import { KIND } from "../objects/index.ts";
import { Followed } from "../view/followed.ts";
import { hindranceOf, hindranceText } from "../view/hindrances.ts";
import type { ObservedPod } from "../view/pods.ts";
import type { PodChange } from "../view/view.ts";

interface ApiEvent extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly involvedObject?: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
}

/** Events that repeat the pods' own reports; these are logged from the pod's state instead. */
const OWN_WORDS = ["Scheduled", "BackOff"];
/** Characters of a note. */
const MAX_NOTE = 1_000;
/** Events of pods that are not known yet. */
const MAX_WAITING = 1_000;

/** Writes what happens to the pods of leases into their event logs. */
export class PodEvents {
  readonly #context: DriverContext;
  readonly #leaseOf: (namespace: string) => Lease | undefined;
  readonly #followed: Followed<ApiEvent>;
  /** Number of reports of each event that the cluster still has. */
  #told = new Map<string, number>();
  /** Pods whose image was looked for. */
  readonly #pulled = new Set<string>();
  /** How often the program of a pod has ended, as far as it was logged. */
  readonly #ends = new Map<string, number>();
  #waiting: ApiEvent[] = [];

  constructor(context: DriverContext, leaseOf: (namespace: string) => Lease | undefined) {
    this.#context = context;
    this.#leaseOf = leaseOf;
    const selection = { fields: "involvedObject.kind=Pod" };
    this.#followed = new Followed<ApiEvent>(
      context,
      { resource: KIND.event, selection },
      {
        all: (events) => this.#all(events),
        set: (event) => this.#take(event),
        removed: ({ metadata }) => this.#told.delete(metadata.uid ?? ""),
      },
    );
  }

  stop(): Promise<void> {
    return this.#followed.stop();
  }

  /** A pod's own report. */
  moved(lease: Lease, { before, now }: PodChange): void {
    if (now === undefined) {
      this.#pulled.delete(before?.uid ?? "");
      this.#ends.delete(before?.uid ?? "");
      return;
    }
    const ends = endsOf(now);
    // Earlier events of a new pod are not reported.
    const told = before === undefined ? ends : (this.#ends.get(now.uid) ?? 0);
    this.#ends.set(now.uid, ends);
    if (ends > told && !now.terminating && now.exit !== undefined) {
      const service = lease.spec.group.services.find(({ name }) => name === now.service);
      this.#ended(lease, now, exitText(now.exit, service === undefined ? 0n : memoryOf(service)));
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) this.#take(event);
  }

  #ended(lease: Lease, pod: ObservedPod, text: string): void {
    const replica = lease.nameOf(pod.service, pod);
    const event = { type: "Warning", service: pod.service, replica } as const;
    lease.event({ ...event, reason: "Failed", note: `${replica}: ${text}` });
    // One that its node ended for good does not; another takes its place.
    if (!pod.ended) lease.event({ ...event, reason: "BackOff", note: `${replica} restarts, later each time` });
  }

  /** After a restart of the daemon the log already has the events up to its last one. */
  #all(events: readonly ApiEvent[]): void {
    const before = this.#told;
    const isFirst = before.size === 0;
    this.#told = new Map();
    const sorted = [...events].sort((a, b) => timeOf(a) - timeOf(b) || versionOf(a) - versionOf(b));
    for (const event of sorted) {
      const uid = event.metadata.uid ?? "";
      const known = before.get(uid);
      if (known !== undefined) this.#told.set(uid, known);
      if (isFirst && this.#isOld(event)) this.#told.set(uid, event.count ?? 1);
      else this.#take(event);
    }
  }

  #isOld(event: ApiEvent): boolean {
    const last = this.#context.events.list(event.metadata.namespace ?? "").at(-1);
    return last !== undefined && timeOf(event) <= Date.parse(last.time);
  }

  #take(event: ApiEvent): void {
    const { metadata, involvedObject, count = 1 } = event;
    const { uid = "", namespace = "" } = metadata;
    const lease = this.#leaseOf(namespace);
    if (lease === undefined || OWN_WORDS.includes(event.reason ?? "") || this.#told.get(uid) === count) return;
    const pod = this.#context.view.pods(namespace).find((each) => each.name === involvedObject?.name);
    if (pod === undefined) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(event);
      return;
    }
    this.#told.set(uid, count);
    this.#context.view.told(pod.uid, event.reason ?? "", event.message ?? "");
    const told = clusterEvent(event, lease, pod);
    if (event.reason === "Pulled" && !this.#pulled.has(pod.uid)) {
      this.#context.events.add(namespace, { ...told, reason: "Pulling", note: "the image is looked for on the node" });
    }
    if (event.reason === "Pulling" || event.reason === "Pulled") this.#pulled.add(pod.uid);
    this.#context.events.add(namespace, told);
  }
}

/** How often the program of a pod has ended. */
function endsOf({ running, exit, ownRestarts }: ObservedPod): number {
  return !running && exit !== undefined ? ownRestarts + 1 : ownRestarts;
}

function clusterEvent(event: ApiEvent, lease: Lease, pod: ObservedPod): ClusterEvent {
  return {
    type: event.type === "Warning" ? "Warning" : "Normal",
    reason: event.reason ?? "",
    note: lease.context.host.hide(noteOf(event)).slice(0, MAX_NOTE),
    object: { kind: "Pod", namespace: pod.namespace, name: lease.nameOf(pod.service, pod) },
    service: pod.service,
    time: new Date(timeOf(event)).toISOString(),
  };
}

function timeOf({ lastTimestamp, eventTime }: ApiEvent): number {
  return Date.parse(lastTimestamp ?? eventTime ?? "") || 0;
}

function versionOf({ metadata }: ApiEvent): number {
  return Number(metadata.resourceVersion ?? 0);
}

/** The cluster's reasons for ending a pod; it also names other owners' pods that take its place. */
const ENDED = ["Evicted", "Preempted", "Preempting"];
/** Nodes that do not get an image tell where they looked for it. */
const NO_IMAGE = /^Failed to (?:pull|inspect) image |^Error: (?:Err)?(?:Invalid)?Image\w+/;

/** An event of the cluster about a pod. */
interface Said {
  readonly reason?: string;
  readonly message?: string;
}

/** Messages about nodes and their surroundings use the words of the status. */
export function noteOf({ reason = "", message = "" }: Said): string {
  if (reason === "FailedScheduling") return placingText(message);
  if (ENDED.includes(reason)) return evictedText(message);
  if (reason === "Failed" && NO_IMAGE.test(message)) return imageError(message);
  const hindrance = hindranceOf(reason, message);
  return hindrance === undefined ? message : hindranceText(hindrance);
}
