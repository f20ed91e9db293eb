import { errorText, type Logger } from "../../../../util/index.ts";
import { isUnreachable } from "./failure.ts";

/** How long the engine has for an answer when one of its calls had none; milliseconds. */
const DOUBT_MS = 10_000;

/** Whether the engine answered last time. While it does not, nothing is known about any workload. */
export class EngineHealth {
  readonly #log: Logger;
  readonly #ping: () => Promise<unknown>;
  #asked: Promise<void> | undefined;
  #reachable = false;
  #kind = "docker";

  constructor(log: Logger, ping: () => Promise<unknown>) {
    this.#log = log;
    this.#ping = ping;
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

  /**
   * Takes note of a failed call. An engine may hang with one container and answer for all others, so it is asked before
   * nothing is known of any lease.
   */
  observe(error: unknown): void {
    if (!isUnreachable(error)) return;
    this.#asked ??= this.#ask(errorText(error)).finally(() => {
      this.#asked = undefined;
    });
  }

  async #ask(reason: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), DOUBT_MS);
      timer.unref();
    });
    const answer = this.#ping().then(
      () => true,
      () => false,
    );
    if (!(await Promise.race([answer, late]))) this.down(reason);
    clearTimeout(timer);
  }
}
