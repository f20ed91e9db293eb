import type { HttpOptions } from "../../../sdl/index.ts";

/** How an attempt ended without an answer for the client, or with one that may be tried elsewhere. */
export type Outcome =
  | { readonly kind: "error" | "timeout"; readonly sent: boolean }
  | { readonly kind: "status"; readonly status: number };

export interface RequestNature {
  readonly method: string;
  readonly hasBody: boolean;
}

const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);
const DEFAULT_CASES = ["error", "timeout"];

/** Tries and time allowed for one request, by the expose's `next_*` options; zero means no limit. */
export class RetryBudget {
  readonly #options: HttpOptions;
  readonly #nature: RequestNature;
  readonly #started: number;
  #tries = 0;

  constructor(options: HttpOptions, nature: RequestNature, now: number) {
    this.#options = options;
    this.#nature = nature;
    this.#started = now;
  }

  /** Counts the try that ended; returns whether another replica may be tried. */
  mayRetry(outcome: Outcome, now: number): boolean {
    this.#tries++;
    const { nextTries, nextTimeout } = this.#options;
    const cases = this.#options.nextCases ?? DEFAULT_CASES;
    if (cases.includes("off") || !cases.includes(caseOf(outcome))) return false;
    if (nextTries > 0 && this.#tries >= nextTries) return false;
    if (nextTimeout > 0 && now - this.#started >= nextTimeout) return false;
    return isSafe(outcome, this.#nature);
  }
}

function caseOf(outcome: Outcome): string {
  return outcome.kind === "status" ? String(outcome.status) : outcome.kind;
}

/** Safe to retry: nothing was sent yet, or the request is idempotent and its body, if any, was not consumed. */
export function isSafe(outcome: Outcome, nature: RequestNature): boolean {
  if (outcome.kind !== "status" && !outcome.sent) return true;
  return IDEMPOTENT.has(nature.method) && !nature.hasBody;
}

/** A replica that did not take a connection is asked last for this long. */
const AVOID_MS = 2_000;

/** Chooses replicas in turn and avoids recently failed ones. */
export class Balancer {
  readonly #failed = new Map<string, number>();
  #turn = -1;

  /** The next address that was not tried yet, or undefined. A request's first try moves the turn on. */
  next(addresses: readonly string[], tried: ReadonlySet<string>, now: number): string | undefined {
    if (tried.size === 0) this.#turn++;
    const start = this.#turn % Math.max(addresses.length, 1);
    const rotated = [...addresses.slice(start), ...addresses.slice(0, start)];
    const left = rotated.filter((address) => !tried.has(address));
    return left.find((address) => now - (this.#failed.get(address) ?? -AVOID_MS) >= AVOID_MS) ?? left[0];
  }

  noteFailure(address: string, now: number): void {
    if (this.#failed.size > 1_000) this.#failed.clear();
    this.#failed.set(address, now);
  }
}
