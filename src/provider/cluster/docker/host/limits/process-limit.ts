import { readFileSync } from "node:fs";
import type { Logger } from "../../../../../util/index.ts";
import type { Refused } from "../../api/failure.ts";

const MOST = 1 << 22;
/** Bit of the capability with which limits may be raised. */
const SYS_RESOURCE = 24n;

/**
 * The limit on processes of a user. The kernel counts the processes of all containers whose users have the same id, so
 * a limit as low as one container's would let one tenant keep another's programs from starting. Each container has its
 * own limit besides; this one is as high as this process may set it.
 */
export function processesOfUser(limits = "/proc/self/limits"): number {
  return hardLimit("Max processes", limits);
}

/**
 * Timers and signals that may wait, counted in the same way. Containers have no limit of their own for them but their memory: this
 * one is so high that a tenant comes to the end of that first.
 */
export function signalsOfUser(folder = "/proc/self"): number {
  const [, capabilities = "0"] = /^CapEff:\s+([0-9a-f]+)/m.exec(readFileSync(`${folder}/status`, "utf8")) ?? [];
  if (((BigInt(`0x${capabilities}`) >> SYS_RESOURCE) & 1n) === 1n) return MOST;
  return hardLimit("Max pending signals", `${folder}/limits`);
}

function hardLimit(name: string, limits: string): number {
  const row = readFileSync(limits, "utf8")
    .split("\n")
    .find((each) => each.startsWith(name));
  const [, hard = ""] = row?.slice(name.length).trim().split(/\s+/) ?? [];
  return /^\d+$/.test(hard) ? Math.min(Number(hard), MOST) : MOST;
}

/** Fewer of anything would keep programs of an ordinary kind from working. */
const LEAST = 256;

/** Maximum of each for one user, over all containers; open files are per process. */
type ProcessLimits = Readonly<Record<"openFiles" | "processes" | "signals", number>>;

interface Ulimit {
  readonly Name: string;
  readonly Soft: number;
  readonly Hard: number;
}

/** Name of a limit in the words of a runtime: by its number (runc), or by its name (crun). */
const NUMBERS: ReadonlyMap<string, string> = new Map([
  ["6", "nproc"],
  ["7", "nofile"],
  ["11", "sigpending"],
]);
const REFUSED = /rlimit(?: type (\d+)|s?[ `'"]+rlimit_(\w+)[`'"]?)(?: \([^)]*\))?: operation not permitted/i;

/**
 * The limits of processes that containers get. An engine without CAP_SYS_RESOURCE cannot set a limit above its own: a limit
 * that it refuses is halved until it is accepted, and stays so for all containers.
 */
export class ContainerLimits {
  readonly #values: Map<string, number>;
  readonly #log: Logger;
  readonly #now: () => number;
  /** Times of the last change by limit, milliseconds since the epoch. */
  readonly #lowered = new Map<string, number>();

  constructor({ openFiles, processes, signals }: ProcessLimits, log: Logger, now = Date.now) {
    this.#values = new Map([
      ["nofile", openFiles],
      ["nproc", processes],
      ["sigpending", signals],
    ]);
    this.#log = log;
    this.#now = now;
  }

  /** In the form of the engine's API. */
  get ulimits(): Ulimit[] {
    return [...this.#values].map(([Name, value]) => ({ Name, Soft: value, Hard: value }));
  }

  /**
   * Handles the engine's error about a container that did not start; true if the container should be created again,
   * with lower limits. Engines repeat words of images and manifests, so only the trial's container lowers a limit.
   */
  refused(text: string, { createdAt, isTrial }: Refused): boolean {
    const [, number = "", name = ""] = REFUSED.exec(text) ?? [];
    const limit = NUMBERS.get(number) ?? name.toLowerCase();
    const before = this.#values.get(limit);
    if (before === undefined) return false;
    // Containers from before the last change prove nothing about the limit of now.
    if (createdAt < (this.#lowered.get(limit) ?? 0)) return true;
    if (!isTrial || before <= LEAST) return false;
    const value = Math.max(LEAST, Math.floor(before / 2));
    this.#values.set(limit, value);
    this.#lowered.set(limit, this.#now());
    this.#log.warn("the container engine cannot give a limit to containers: they get a lower one", {
      limit,
      from: before,
      to: value,
    });
    return true;
  }
}
