import type { IncomingMessage, ServerResponse } from "node:http";
import type { GatewayClients } from "../clients.ts";
import { gatewayErrors } from "../errors.ts";
import type { GatewayLimits } from "../limits.ts";

type BodyLimits = Pick<GatewayLimits, "body" | "bodiesPerNetwork">;

/**
 * Room for incoming bodies: each is kept until it is complete, which a client can delay on every connection. The
 * announced length counts, from the head of a request to the end of its answer.
 */
export class BodyRoom {
  readonly #limits: BodyLimits;
  readonly #clients: GatewayClients;
  readonly #taken = new Map<string, number>();

  constructor(limits: BodyLimits, clients: GatewayClients) {
    this.#limits = limits;
    this.#clients = clients;
  }

  /** Takes room for the body of a request; throws where its network has none left. */
  enter(request: IncomingMessage, response: ServerResponse): void {
    const bytes = this.#announced(request);
    if (bytes === 0) return;
    const network = this.#clients.networkOf(request.socket);
    const taken = (this.#taken.get(network) ?? 0) + bytes;
    if (taken > this.#limits.bodiesPerNetwork) {
      throw gatewayErrors.tooMany("too much is being sent from your network at the moment");
    }
    this.#taken.set(network, taken);
    response.once("close", () => this.#leave(network, bytes));
  }

  /** One that is too long is refused before any of it is read; one of unknown length may be as long as any. */
  #announced({ headers }: IncomingMessage): number {
    const { body } = this.#limits;
    if (headers["transfer-encoding"] !== undefined) return body;
    const length = Number(headers["content-length"] ?? 0);
    return length > body ? 0 : length;
  }

  #leave(network: string, bytes: number): void {
    const left = (this.#taken.get(network) ?? bytes) - bytes;
    if (left === 0) this.#taken.delete(network);
    else this.#taken.set(network, left);
  }
}
