import type { WebSocket } from "ws";
import { SvcError } from "../../../util/index.ts";
import type { Grant } from "../access/authorizer.ts";
import { gatewayErrors, toFailure } from "../errors.ts";
import type { GatewayLimits } from "../limits.ts";

/** Why a websocket of the gateway closes (RFC 6455 section 7.4, private range from 4000). */
export const CLOSE = { done: 1000, policy: 1008, internal: 4000, leaseNotFound: 4001, unavailable: 4002 } as const;

/** Longest reason that a close frame carries, in bytes. */
const MAX_REASON = 123;

export interface StreamOptions {
  readonly grant: Grant;
  readonly limits: GatewayLimits;
  readonly now: () => number;
}

/**
 * An open websocket of a tenant. Pings keep it alive, it is authorised repeatedly, and a slow reader slows the writer.
 * `signal` is aborted when it ends, however that happens.
 */
export class GatewayStream {
  readonly socket: WebSocket;
  readonly #options: StreamOptions;
  readonly #abort = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #lastSign: number;
  #lastCheck: number;

  constructor(socket: WebSocket, options: StreamOptions) {
    const { limits, now } = options;
    this.socket = socket;
    this.#options = options;
    this.#lastSign = now();
    this.#lastCheck = now();
    // The answer to a ping comes after all that the client sent before it.
    for (const sign of ["pong", "message"]) {
      socket.on(sign, () => {
        this.#lastSign = now();
      });
    }
    socket.on("error", () => socket.terminate());
    socket.on("close", () => this.#closed());
    this.#timers.push(setInterval(() => this.#ping(), limits.ping));
    this.#timers.push(setInterval(() => void this.#recheck(), limits.recheck));
    const left = Math.max(0, options.grant.endsAt - now());
    // Times longer than a timer can hold are left to the next check.
    if (left < 2 ** 31) this.#timers.push(setTimeout(() => void this.#recheck(), left + 1));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves when there is room for more; rejects when the stream has ended. */
  async send(data: string | Uint8Array): Promise<void> {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) throw new Error("the stream has ended");
    await new Promise<void>((resolve, reject) => {
      socket.send(data, (error) => (error ? reject(error) : resolve()));
      if (socket.bufferedAmount <= this.#options.limits.sendBuffer) resolve();
    });
  }

  end(code: number, reason = ""): void {
    this.socket.close(code, cut(reason));
  }

  /** Ends with the code and text that fit the error. */
  fail(error: unknown): void {
    const { code, reason } = closeOf(error);
    this.end(code, reason);
  }

  #ping(): void {
    const { limits, now } = this.#options;
    // While nothing is read from the client, its answers are not seen either.
    if (this.socket.isPaused) this.#lastSign = now();
    if (now() - this.#lastSign > limits.ping + limits.pongWait) this.socket.terminate();
    else this.socket.ping();
  }

  async #recheck(): Promise<void> {
    const { grant, limits, now } = this.#options;
    try {
      await grant.recheck();
      this.#lastCheck = now();
    } catch (error) {
      const away = error instanceof SvcError && error.code === gatewayErrors.chainUnreachable.code;
      if (away && error.codespace === "gateway" && now() - this.#lastCheck < limits.recheckGrace) return;
      this.fail(error);
    }
  }

  #closed(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#abort.abort();
  }
}

const CODES: Readonly<Record<string, number>> = {
  lease_not_found: CLOSE.leaseNotFound,
  chain_unreachable: CLOSE.unavailable,
  cluster_unreachable: CLOSE.unavailable,
  cluster_refused: CLOSE.unavailable,
  not_deployed_yet: CLOSE.unavailable,
  no_running_replica: CLOSE.unavailable,
  service_not_found: CLOSE.unavailable,
  no_manifest: CLOSE.leaseNotFound,
};

function closeOf(error: unknown): { readonly code: number; readonly reason: string } {
  const { status, body } = toFailure(error);
  const refused = status === 401 || status === 403;
  return { code: refused ? CLOSE.policy : (CODES[body.code] ?? CLOSE.internal), reason: body.message };
}

function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= MAX_REASON
    ? reason
    : `${bytes
        .subarray(0, MAX_REASON - 6)
        .toString("utf8")
        .replace(/\uFFFD+$/, "")}...`;
}
