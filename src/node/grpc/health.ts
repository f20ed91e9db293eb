import { Code, ConnectError } from "@connectrpc/connect";
import type { ChainSource } from "../../engine/index.ts";
import { HealthCheckResponse_ServingStatus as Status } from "../../wire/gen/grpc/health/v1/health_pb.js";
import { MAX_WATCHERS } from "./limits.ts";

/** Whether the node is healthy: it is from its first block on. */
export class HealthChecks {
  readonly #chain: ChainSource;
  readonly #services: ReadonlySet<string>;
  #watchers = 0;

  /** Names of the services that are served. */
  constructor(chain: ChainSource, services: Iterable<string>) {
    this.#chain = chain;
    this.#services = new Set(["", ...services]);
  }

  async check(service: string): Promise<{ status: Status }> {
    if (this.#services.has(service)) return { status: await this.#status() };
    throw new ConnectError(`there is no service ${JSON.stringify(service.slice(0, 200))}`, Code.NotFound);
  }

  /** Sends the state at once, and again after the first block; then waits until the client disconnects. */
  async *watch(service: string, signal: AbortSignal): AsyncGenerator<{ status: Status }> {
    if (this.#watchers >= MAX_WATCHERS)
      throw new ConnectError(`${MAX_WATCHERS} clients are already watching`, Code.ResourceExhausted);
    this.#watchers += 1;
    try {
      const first = this.#services.has(service) ? await this.#status() : Status.SERVICE_UNKNOWN;
      yield { status: first };
      if (first === Status.NOT_SERVING) {
        await this.#nextBlock(signal);
        yield { status: Status.SERVING };
      }
      await aborted(signal);
    } finally {
      this.#watchers -= 1;
    }
  }

  async #status(): Promise<Status> {
    return (await this.#chain.status()).latest === undefined ? Status.NOT_SERVING : Status.SERVING;
  }

  async #nextBlock(signal: AbortSignal): Promise<void> {
    let stop = (): void => {};
    const block = new Promise<void>((resolve) => {
      stop = this.#chain.events.listen(() => resolve());
    });
    await Promise.race([block, aborted(signal)]);
    stop();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
