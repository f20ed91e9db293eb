import { errorText, isOneOf, SvcError } from "../../../../util/index.ts";
import { HOST_REASONS, type HostReason } from "../../../reasons.ts";
import { clusterErrors } from "../../contract/index.ts";

export type FailureKind = "unreachable" | "notFound" | "refused";

/** A failed engine call: `unreachable` proves nothing about workloads, `notFound` that the object is not there. */
export class EngineFailure extends Error {
  readonly kind: FailureKind;
  /** The engine's words at full length. */
  readonly detail: string;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "EngineFailure";
    this.kind = kind;
    this.detail = cause === undefined ? message : errorText(cause);
  }

  /** The same for callers outside the driver: the words of the engine are only in the cause. */
  toSvcError(): SvcError {
    if (this.kind === "unreachable") return clusterErrors.unreachable(undefined, { cause: this });
    return clusterErrors.refused(startSentence(this), { cause: this });
  }
}

/** Classifies an error of an engine call. One with a status code came from the engine, any other did not. */
export function engineFailure(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error;
  const status = statusOf(error);
  const text = cleanText(errorText(error));
  if (status === undefined) return new EngineFailure("unreachable", text, error);
  return new EngineFailure(isGone(status, text) ? "notFound" : "refused", text, error);
}

/** Docker keeps a container's name for a moment after it began to remove it. */
function isGone(status: number, text: string): boolean {
  return status === 404 || (status === 409 && /dead or marked for removal/.test(text));
}

export function isNotFound(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "notFound";
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "unreachable";
}

/** For `catch`: a missing object is fine. */
export function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** Errors for callers outside the driver. */
export function publicError(error: unknown): unknown {
  return error instanceof EngineFailure ? error.toSvcError() : error;
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return undefined;
  return typeof error.statusCode === "number" ? error.statusCode : undefined;
}

const MAX_TEXT = 1_000;

/** Drops the client library's `(HTTP code 500) unexpected -` and keeps one bounded line. */
function cleanText(raw: string): string {
  const text = raw
    .replace(/^\(HTTP code \d+\)[^-]*-\s*/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  // The cause is at the end.
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT / 4)} ... ${text.slice((-MAX_TEXT * 3) / 4)}`;
}

/** The container that an engine did not start. */
export interface Refused {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** It belongs to the provider's own trial: nothing in it comes from a tenant. */
  readonly isTrial: boolean;
}

/** Cause of a failed start: a fault of the host, or of the tenant's configuration. */
export type StartReason = HostReason | "program";

/** Words of engines, runtimes (runc, crun, containerd) and the kernel by the reason that they tell; the first match counts. */
const WORDS: readonly (readonly [StartReason, RegExp])[] = [
  // These repeat words of the image, which must not look like a fault of the host.
  ["program", /invalid signal|image EXPOSE|env fields from image|unable to find user|no matching entries in/i],
  ["program", /rootfs at \S+: not a directory/i],
  ["limits", /rlimit/i],
  ["seccomp", /seccomp/i],
  ["apparmor", /apparmor/i],
  ["hook", /\bhooks?\b/i],
  ["space", /no space left on device|disk quota exceeded/i],
  ["architecture", /exec format error|does not match the (?:specified|detected) (?:host )?platform/i],
  ["cgroup", /cgroup|\bcpu\.(?:max|cfs_)|memory\.(?:max|limit_in_bytes)|pids\.max/i],
  // Podman ends each text about an absent file with "OCI runtime attempted to invoke a command that was not found".
  ["runtime", /\bruntime\b(?! attempted)[^:]*(?:not found|not installed|no such)|unknown runtime/i],
  ["timeout", /timed? ?out|timeout|deadline exceeded/i],
  ["program", /executable file|not found in \$PATH|exec:? .*(?:no such file|permission denied|is a directory)/i],
  [
    "network",
    /netavark|aardvark|\bcni\b|network|iptables|nftables|\bveth|bridge|address already in use|port is already allocated/i,
  ],
  ["mount", /mount/i],
];

/** The reason that a text of an engine tells. Unknown words tell nothing but that the engine refuses. */
export function reasonInText(text: string): StartReason {
  return WORDS.find(([, pattern]) => pattern.test(text))?.[0] ?? "engine";
}

/** The reason that a failed start of a container tells. */
export function startReason(error: unknown): StartReason {
  const failure = failureIn(error);
  if (failure?.kind === "unreachable") return /timed? ?out|timeout/i.test(failure.message) ? "timeout" : "engineAway";
  if (isOneOf([clusterErrors.firewall], error)) return "firewall";
  return reasonInText(engineWords(error));
}

/** The same, for starts without a tenant's configuration. */
export function hostReason(error: unknown): HostReason {
  const reason = startReason(error);
  return reason === "program" ? "engine" : reason;
}

/**
 * Words of kernel and engines about an object whose files are gone, or were not on the disk yet when the host lost power. A disk
 * that cannot be read now may be read later.
 */
const LOST =
  /no such file or directory|not a directory|executable file not found|(?:container|layer) not known|readlink [^:]+: invalid argument|RWLayer of container \S+ is unexpectedly nil/i;
/** The absent file is a program or a socket of the engine itself. */
const ENGINES_OWN =
  /\bdial\b|\bfork\/exec\b|exec: "(?:\/\S*\/)?(?:runc|crun|runsc|kata-runtime|conmon|containerd-shim[\w-]*|fuse-overlayfs)"/i;

/** Whether the engine refused a call because files of its object are lost. */
export function hasLostFiles(error: unknown): boolean {
  if (!(error instanceof EngineFailure) || error.kind !== "refused") return false;
  const words = engineWords(error);
  return LOST.test(words) && !ENGINES_OWN.test(words);
}

/** The words of the engine at full length, for the operator. */
export function engineWords(error: unknown): string {
  const failure = failureIn(error);
  if (failure === undefined) return errorText(error);
  return failure.detail.includes(failure.message) ? failure.message : `${failure.message} ${failure.detail}`;
}

/** Errors for callers outside the driver have the engine's error as their cause. */
function failureIn(error: unknown): EngineFailure | undefined {
  let cause = error;
  while (cause instanceof Error && !(cause instanceof EngineFailure)) cause = cause.cause;
  return cause instanceof EngineFailure ? cause : undefined;
}

/** Whether an error is a refusal in the driver's own words, which concerns one lease. */
export function isOwnRefusal(error: unknown): error is SvcError {
  return error instanceof SvcError && failureIn(error) === undefined && !isOneOf([clusterErrors.firewall], error);
}

/** A sentence for tenants about a failed start: the driver's own, or one for the engine's reason. */
export function startSentence(error: unknown): string {
  if (isOwnRefusal(error)) return error.message;
  const reason = startReason(error);
  if (reason !== "program") return HOST_REASONS[reason].tenant;
  return "no such file, or it may not be executed: check command, args and image";
}
