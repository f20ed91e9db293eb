import type { Logger } from "../../../../util/index.ts";
import type { Refused } from "./failure.ts";
import { EngineFailure } from "./failure.ts";

/** Whether the engine has a process to put in front of programs. It says so only when it makes a container, or starts one. */
export class EngineInit {
  readonly #log: Logger;
  readonly #now: () => number;
  #isThere = true;
  /** When it was found to lack one, milliseconds since the epoch. */
  #lackingSince = 0;

  constructor(log: Logger, now = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  /**
   * Called with the error of a container that was to have one; true where it is to be made anew without. Engines repeat words
   * of images and manifests, so only the trial's container shows that there is none.
   */
  isLacking(error: unknown, { createdAt, isTrial }: Refused): boolean {
    if (!(error instanceof EngineFailure) || !/init binary|docker-init|catatonit/i.test(error.message)) return false;
    if (!this.#isThere) return createdAt < this.#lackingSince;
    if (!isTrial) return false;
    this.#isThere = false;
    this.#lackingSince = this.#now();
    this.#log.warn("the engine has no init process for containers: install catatonit (Podman) or tini (Docker)");
    return true;
  }
}
