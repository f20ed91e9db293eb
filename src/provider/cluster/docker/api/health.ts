import type { Logger } from "../../../../util/index.ts";
import { isUnreachable } from "./failure.ts";

/** Whether the engine answered last time. While it does not, nothing is known about any workload. */
export class EngineHealth {
  readonly #log: Logger;
  #reachable = false;
  #kind = "docker";

  constructor(log: Logger) {
    this.#log = log;
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  /** `podman` or `docker`. */
  get kind(): string {
    return this.#kind;
  }

  up(kind: string): void {
    this.#kind = kind;
    if (!this.#reachable) this.#log.info("container engine answers", { engine: kind });
    this.#reachable = true;
  }

  /** A call was answered. */
  answered(): void {
    this.up(this.#kind);
  }

  down(reason: string): void {
    if (this.#reachable)
      this.#log.warn("container engine does not answer, health of leases is unknown", { err: reason });
    this.#reachable = false;
  }

  /** Takes note of a failed call. */
  observe(error: unknown): void {
    if (isUnreachable(error)) this.down(error instanceof Error ? error.message : "");
  }
}
