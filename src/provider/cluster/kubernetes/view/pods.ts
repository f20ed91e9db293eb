import type { ApiObject } from "../api/objects.ts";
import { CONTAINER, LABEL } from "../objects/index.ts";
import { milliQuantity, quantity } from "./quantity.ts";

interface RunState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: Ended;
}

interface Ended {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}

interface ContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly containerID?: string;
  readonly state?: RunState;
  readonly lastState?: RunState;
}

type Requests = Readonly<Record<string, unknown>>;

interface Container {
  readonly readinessProbe?: object;
  readonly resources?: { readonly requests?: Requests };
}

/** A pod of the API, as far as it is read. */
export interface ApiPod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly creationTimestamp?: string };
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly Container[];
    readonly overhead?: Requests;
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** How the program of a pod ended the last time. */
export interface Exit {
  readonly code: number;
  readonly reason: string;
  /** Its node's message about it. */
  readonly message?: string;
}

/** A pod of a lease, reduced to what the driver uses. */
export interface ObservedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly service: string;
  readonly config: string;
  /** Milliseconds since the epoch, by the clock of the cluster. */
  readonly createdAt: number;
  /** Place among the pods of its workload, where that gives places. */
  readonly ordinal: number | undefined;
  /** Whether it has been given a node. */
  readonly placed: boolean;
  readonly terminating: boolean;
  /** It has ended for good. */
  readonly ended: boolean;
  readonly ip: string | undefined;
  readonly ready: boolean;
  /** Whether a probe has checked readiness, rather than that the program merely runs. */
  readonly probed: boolean;
  readonly running: boolean;
  /** Names one run of the program. */
  readonly container: string;
  /** Starts after the first, by the cluster and by its tenant. */
  readonly restarts: number;
  /** Restarts in this pod. */
  readonly ownRestarts: number;
  readonly waiting: { readonly reason: string; readonly message: string } | undefined;
  readonly exit: Exit | undefined;
  /** Why it has no node, or was taken off it. */
  readonly trouble: string | undefined;
}

/** Characters of a message that are kept. */
const MAX_MESSAGE = 1_000;

export function observePod(pod: ApiPod): ObservedPod {
  const { metadata, spec, status } = pod;
  const main = status?.containerStatuses?.find(({ name }) => name === CONTAINER);
  const conditions = status?.conditions ?? [];
  const { [LABEL.service]: service = "", [LABEL.config]: config = "" } = metadata.labels ?? {};
  const asked = countOf(metadata.annotations?.[LABEL.restarts]);
  const ownRestarts = main?.restartCount ?? 0;
  const terminating = metadata.deletionTimestamp !== undefined;
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    uid: metadata.uid ?? "",
    service,
    config,
    createdAt: Date.parse(metadata.creationTimestamp ?? "") || 0,
    ordinal: ordinalOf(metadata),
    placed: spec?.nodeName !== undefined,
    terminating,
    ended: status?.phase === "Failed" || status?.phase === "Succeeded",
    ip: status?.podIP,
    ready: !terminating && conditions.some(({ type, status: is }) => type === "Ready" && is === "True"),
    probed: spec?.containers?.some(({ readinessProbe }) => readinessProbe !== undefined) ?? false,
    running: main?.state?.running !== undefined,
    container: main?.containerID ?? "",
    restarts: asked + ownRestarts,
    ownRestarts,
    waiting: waitingOf(main?.state),
    exit: exitOf(main?.state?.terminated ?? main?.lastState?.terminated),
    trouble: troubleOf(status),
  };
}

/** Resources that a pod takes from its node. */
export interface Claim {
  readonly node: string;
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly gpus: bigint;
}

/** Resources of another owner's pod; undefined for none. */
export function claimOf({ spec, status }: ApiPod): Claim | undefined {
  const node = spec?.nodeName;
  if (node === undefined || status?.phase === "Failed" || status?.phase === "Succeeded") return undefined;
  const requests = [...(spec?.containers ?? []).map(({ resources }) => resources?.requests), spec?.overhead];
  const sum = (read: (each: Requests) => bigint) =>
    requests.reduce((total, each) => total + (each === undefined ? 0n : read(each)), 0n);
  return {
    node,
    cpu: sum((each) => milliQuantity(each.cpu)),
    memory: sum((each) => quantity(each.memory)),
    storage: sum((each) => quantity(each["ephemeral-storage"])),
    gpus: sum((each) =>
      Object.entries(each).reduce((n, [key, text]) => n + (/\.com\/gpu$/.test(key) ? quantity(text) : 0n), 0n),
    ),
  };
}

function countOf(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

function ordinalOf({ labels }: ApiObject["metadata"]): number | undefined {
  const text = labels?.["apps.kubernetes.io/pod-index"];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function waitingOf(state: RunState | undefined): ObservedPod["waiting"] {
  if (state?.waiting === undefined) return undefined;
  const { reason = "", message = "" } = state.waiting;
  return { reason, message: message.slice(0, MAX_MESSAGE) };
}

function exitOf(ended: Ended | undefined): Exit | undefined {
  if (ended === undefined) return undefined;
  const { exitCode = 0, reason = "", message = "" } = ended;
  return { code: exitCode, reason, message: message.slice(0, MAX_MESSAGE) };
}

function troubleOf(status: ApiPod["status"]): string | undefined {
  if (status?.phase === "Failed") return status.message?.slice(0, MAX_MESSAGE) ?? status.reason;
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "False" ? scheduled.message?.slice(0, MAX_MESSAGE) : undefined;
}
