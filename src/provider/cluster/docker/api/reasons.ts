import { errorText, isOneOf } from "../../../../util/index.ts";
import { HOST_REASONS, type HostReason } from "../../../reasons.ts";
import { clusterErrors } from "../../contract/index.ts";
import { EngineFailure } from "./failure.ts";

/** Why a container did not start: a fault of the host, or of what the tenant wrote. */
export type StartReason = HostReason | "program";

/** Words of engines, runtimes (runc, crun, containerd) and the kernel by the reason that they tell; the first match counts. */
const WORDS: readonly (readonly [StartReason, RegExp])[] = [
  ["limits", /rlimit/i],
  ["seccomp", /seccomp/i],
  ["apparmor", /apparmor/i],
  ["hook", /\bhooks?\b/i],
  ["space", /no space left on device|disk quota exceeded/i],
  ["architecture", /exec format error|does not match the (?:specified|detected) (?:host )?platform/i],
  ["cgroup", /cgroup|\bcpu\.(?:max|cfs_)|memory\.(?:max|limit_in_bytes)|pids\.max/i],
  ["runtime", /(?:oci |container )?runtime\b[^:]*(?:not found|not installed|no such)|unknown runtime/i],
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

/** The same, where nothing depends on what a tenant wrote. */
export function hostReason(error: unknown): HostReason {
  const reason = startReason(error);
  return reason === "program" ? "engine" : reason;
}

/** The words of the engine at full length, for the operator. */
export function engineWords(error: unknown): string {
  const failure = failureIn(error);
  if (failure === undefined) return errorText(error);
  return failure.detail === failure.message ? failure.message : `${failure.message} ${failure.detail}`;
}

/** Errors for callers outside the driver have that of the engine as their cause. */
function failureIn(error: unknown): EngineFailure | undefined {
  let cause = error;
  while (cause instanceof Error && !(cause instanceof EngineFailure)) cause = cause.cause;
  return cause instanceof EngineFailure ? cause : undefined;
}

/** Sentence about a failed start that tenants may read. */
export function startSentence(reason: StartReason): string {
  if (reason !== "program") return HOST_REASONS[reason].tenant;
  return "the image has no such program, or it may not be executed: check command, args and image";
}
