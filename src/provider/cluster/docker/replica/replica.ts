import { type BackoffPolicy, endedText, outOfMemoryText, restartDelay } from "../../shared/index.ts";
import type { ContainerState } from "../api/answers.ts";

/** Exit code of a program that got KILL. */
export const KILL_EXIT = 137;
/** How long after an end the engine may still report a signal. */
const LATE_KILL_MS = 10_000;

/** Memory about one replica in one configuration, over all its containers. */
export class ReplicaHistory {
  readonly #policy: BackoffPolicy;
  #failures = 0;
  #accounted = "";
  #nextStart = 0;
  #atOnce = false;

  /** When this process first had to do with it, milliseconds since the epoch. */
  readonly since = Date.now();
  /** Starts after the first one. */
  restarts = 0;
  /** Last fault, for the tenant; cleared when the replica becomes ready. */
  error: string | undefined;
  /** The driver stopped it itself. */
  stopped = false;
  /** Starts in a row that failed for a reason in the container itself. */
  failedStarts = 0;
  /** It may be running, but its start is not complete: redirected ports are missing. */
  preparing = false;
  /** The tenant asked for its next start. */
  requested = false;
  /** It received a signal from outside the container. */
  killed = false;
  /** Time of an end that was put down to the memory limit although the engine did not say so. */
  guessedAt: number | undefined;
  ready = false;
  reason: string | undefined;

  constructor(policy: BackoffPolicy) {
    this.#policy = policy;
  }

  /** Notes a signal from outside; true if the last end was reported with another reason and must be reported again. */
  noteKill(now: number): boolean {
    const isLate = this.guessedAt !== undefined && now - this.guessedAt < LATE_KILL_MS;
    this.guessedAt = undefined;
    if (!isLate) this.killed = true;
    return isLate;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Time of the next start, milliseconds since the epoch. */
  get nextStart(): number {
    return this.#nextStart;
  }

  /** Notes that the driver stops it itself. */
  stop(): void {
    this.stopped = true;
    this.#atOnce = true;
  }

  /** Whether it may be started now: at once after a stop of the driver's own, otherwise, and where that failed, after a pause. */
  mayStart(now: number): boolean {
    return this.#atOnce || now >= this.#nextStart;
  }

  /** Whether this end of the container has not been reported yet. */
  isNewExit(state: ContainerState): boolean {
    return !state.running && state.status !== "created" && state.finishedAt !== this.#accounted;
  }

  /** Counts an end; returns the wait in milliseconds before the next start. */
  countExit(state: ContainerState, now: number): number {
    this.#accounted = state.finishedAt;
    const ran = Date.parse(state.finishedAt) - state.startedAt;
    if (ran >= this.#policy.resetAfter) this.#failures = 0;
    return this.countFailure(now);
  }

  /** Counts a start that did not succeed. */
  countFailure(now: number): number {
    this.#failures++;
    this.#atOnce = false;
    const delay = restartDelay(this.#failures, this.#policy);
    this.#nextStart = now + delay;
    return delay;
  }
}

/** The reason code and the sentence for an end that the driver did not cause. */
export function explainExit(
  state: ContainerState,
  memory: bigint,
  killed: boolean,
): { readonly reason: string; readonly text: string; readonly isGuess?: true } {
  const { exitCode } = state;
  if (killed && !state.oomKilled) return { reason: "Killed", text: killedText(exitCode) };
  if (state.oomKilled) return { reason: "OOMKilled", text: outOfMemoryText(memory, exitCode) };
  // Engines do not always tell the cause. 137 is KILL, which the first process of a container gets from the memory
  // limit, or from the host with its event still to come.
  if (exitCode === KILL_EXIT)
    return { reason: "OOMKilled", text: outOfMemoryText(memory, exitCode, true), isGuess: true };
  return { reason: exitCode === 0 ? "Completed" : "Error", text: endedText(exitCode) };
}

export function killedText(exitCode: number): string {
  return `killed on the host (exit code ${exitCode})`;
}
