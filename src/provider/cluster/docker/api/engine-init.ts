import type { Logger } from "../../../../util/index.ts";
import { EngineFailure } from "./failure.ts";

/** Whether the engine has a process to put in front of programs. It says so only when it makes a container, or starts one. */
export class EngineInit {
  readonly #log: Logger;
  #isThere = true;

  constructor(log: Logger) {
    this.#log = log;
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  /** Called with the error of a container that was to have one; true where it is to be made anew without. */
  isLacking(error: unknown): boolean {
    if (!this.#isThere || !(error instanceof EngineFailure)) return false;
    if (!/init binary|docker-init|catatonit/i.test(error.message)) return false;
    this.#isThere = false;
    this.#log.warn("the engine has no init process for containers: install catatonit (Podman) or tini (Docker)");
    return true;
  }
}
