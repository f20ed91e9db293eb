import type { ManifestService } from "../../../../sdl/index.ts";
import {
  type LeaseHealth,
  type LeaseSpec,
  leaseNamespace,
  type ReplicaStatus,
  replicaName,
  type ServiceStatus,
} from "../../contract/index.ts";
import { endedText, outOfMemoryText } from "../../shared/index.ts";
import type { DriverContext } from "../context.ts";
import { podConfig, workloadName } from "../objects/index.ts";
import type { Exit, ObservedPod } from "../view/pods.ts";
import { imageError } from "./reasons/images.ts";
import { evictedText, placingText } from "./reasons/placing.ts";
import { hasNotStarted, reasonText, startText } from "./reasons/starts.ts";
import { waitError } from "./reasons/waiting.ts";

/** Known facts about a lease. */
interface Known {
  readonly context: DriverContext;
  readonly spec: LeaseSpec;
  podsOf(service: string): readonly ObservedPod[];
  /** The pods of a service that are its replicas, by their number. */
  slots(service: string): ReadonlyMap<number, ObservedPod>;
  nameOf(service: string, pod: ObservedPod): string;
  /** Why it could not be brought up to date. */
  errorOf(service: string): string | undefined;
  /** Why a replica waits before it starts again. */
  restOf(service: string): string | undefined;
}

/** For a version whose replicas did not become ready in the cluster's time limit, without a better reason. */
const STALLED =
  "its new replicas did not become ready within ten minutes: see its log, then send another manifest or ask the provider";
/** Reasons to wait that a container reports while it starts normally. */
const WAITS_WELL = ["", "ContainerCreating", "PodInitializing"];

/** Health of a lease from the cluster's last reports; `known` is false while the cluster does not answer. */
export function leaseHealth(lease: Known, known: boolean): LeaseHealth {
  const services = lease.spec.group.services.map((service) => serviceStatus(lease, service));
  if (!known) return { health: "unknown", services };
  const ok = services.every(({ available, total }) => available >= total);
  return { health: ok ? "ok" : "bad", services };
}

function serviceStatus(lease: Known, service: ManifestService): ServiceStatus {
  const { view, objects } = lease.context;
  const pods = lease.podsOf(service.name).filter(({ terminating }) => !terminating);
  const slots = lease.slots(service.name);
  const config = podConfig(lease.spec, service, objects);
  const replicas = Array.from({ length: service.count }, (_, index) => replicaStatus(lease, service, index, slots));
  const updated = pods.filter((pod) => pod.config === config && view.isReady(pod)).length;
  // Clusters keep pods that nodes have ended for good, long after others have taken their places.
  const telling = updated < service.count ? pods : pods.filter(({ ended }) => !ended);
  const refused = refusalOf(lease, service, slots.size < service.count);
  const error =
    lease.errorOf(service.name) ??
    lease.restOf(service.name) ??
    podsError(lease, service, telling) ??
    (refused === undefined ? undefined : `the cluster does not create a replica: ${refused}`) ??
    (view.isStalled(leaseNamespace(lease.spec.id), workloadName(service.name)) ? STALLED : undefined);
  return {
    name: service.name,
    total: service.count,
    available: replicas.filter(({ ready }) => ready).length,
    generation: lease.spec.generation,
    updated: Math.min(updated, service.count),
    replicas,
    ...(error === undefined ? {} : { error }),
  };
}

/** Why the cluster makes no pods. Its messages about a workload with volumes count only while pods are missing. */
function refusalOf({ context, spec }: Known, { name }: ManifestService, isShort: boolean): string | undefined {
  const [namespace, workload] = [leaseNamespace(spec.id), workloadName(name)];
  return context.view.trouble(namespace, workload) ?? (isShort ? context.view.refusal(namespace, workload) : undefined);
}

function replicaStatus(
  lease: Known,
  service: ManifestService,
  index: number,
  slots: ReadonlyMap<number, ObservedPod>,
): ReplicaStatus {
  const name = replicaName(service.name, index);
  const pod = slots.get(index);
  if (pod === undefined) return missingStatus(name, index, lease.restOf(service.name));
  const ready = lease.context.view.isReady(pod);
  const reason = faultOf(lease, service, name, pod);
  return {
    name,
    index,
    ready,
    restarts: pod.restarts,
    state: stateOf(pod, ready),
    ...(ready || reason === undefined ? {} : { reason }),
  };
}

/** Status of a replica without a pod, which waits if other replicas of its service ended too often. */
function missingStatus(name: string, index: number, reason: string | undefined): ReplicaStatus {
  const common = { name, index, ready: false, restarts: 0 };
  return reason === undefined ? { ...common, state: "pending" } : { ...common, state: "backoff", reason };
}

function stateOf(pod: ObservedPod, ready: boolean): string {
  if (pod.running) return ready ? "running" : "starting";
  if (pod.waiting !== undefined && WAITS_WELL.includes(pod.waiting.reason)) return "starting";
  return pod.waiting === undefined && pod.exit === undefined ? "pending" : "backoff";
}

/** The most telling fault of the pods, replacements first. */
function podsError(lease: Known, service: ManifestService, pods: readonly ObservedPod[]): string | undefined {
  const youngest = [...pods].sort((a, b) => b.createdAt - a.createdAt);
  for (const pod of youngest) {
    if (lease.context.view.isReady(pod)) continue;
    const error = faultOf(lease, service, lease.nameOf(service.name, pod), pod);
    if (error !== undefined) return error;
  }
  return undefined;
}

function faultOf({ context }: Known, service: ManifestService, name: string, pod: ObservedPod): string | undefined {
  const fault = waitError(context.view, service, pod) ?? podFault(pod, memoryOf(service));
  return fault === undefined ? undefined : `${name}: ${fault}`;
}

type PodState = Pick<ObservedPod, "waiting" | "exit" | "trouble" | "ended" | "running" | "probed" | "ready">;

/**
 * Tells the tenant why a pod is not ready; undefined if nothing is wrong. A restarted pod is ready for the cluster
 * before it has proven stable, so its last end still counts.
 */
export function podFault(
  { waiting, exit, trouble, ended, running, probed, ready }: PodState,
  memory: bigint,
): string | undefined {
  const root = rootError(waiting?.message ?? "");
  if (root !== undefined) return root;
  if (waiting !== undefined && /Image/.test(waiting.reason)) return imageError(`${waiting.reason}: ${waiting.message}`);
  if (trouble !== undefined) return ended ? evictedText(trouble) : placingText(trouble);
  if (exit !== undefined) return exitText(exit, memory);
  if (waiting !== undefined && !WAITS_WELL.includes(waiting.reason)) return reasonText(waiting);
  if (running && probed && !ready) return "nothing accepts connections on its port yet";
  return undefined;
}

/** A node's error about an image that runs as root where that is not allowed, in words for its tenant. */
function rootError(message: string): string | undefined {
  if (/image will run as root/.test(message)) {
    return "the image runs as root, which this provider does not allow: name another user in the image (USER 1000)";
  }
  const [, user] = /image has non-numeric user \(([^)]{0,100})\)/.exec(message) ?? [];
  if (user === undefined) return undefined;
  return `the image names its user "${user}" by a word, which may be root: name the user by a number in the image (USER 1000)`;
}

export function exitText({ code, reason, message = "" }: Exit, memory: bigint): string {
  if (hasNotStarted(reason)) return startText(message);
  return reason === "OOMKilled" ? outOfMemoryText(memory, code) : endedText(code);
}

/** Bytes of memory that a replica may use. */
export function memoryOf({ resources }: ManifestService): bigint {
  return BigInt(resources.memory.size.val);
}
