import type { IncomingMessage, ServerResponse } from "node:http";
import { Shares } from "../../../util/servers/index.ts";
import { gatewayErrors } from "../errors.ts";
import type { GatewayLimits } from "../limits.ts";
import type { GatewayClients } from "./clients.ts";

type BodyLimits = Pick<GatewayLimits, "body" | "bodiesPerNetwork">;

/**
 * Limits the incoming bodies of each network: a body is kept until it is complete, which a client can delay on every
 * connection. The announced length counts, from the head of a request to the end of its answer. The function takes room
 * for a request, and throws where its network has none left.
 */
export function limitBodies({ body, bodiesPerNetwork }: BodyLimits, clients: GatewayClients) {
  const shares = new Shares({ each: bodiesPerNetwork });
  return (request: IncomingMessage, response: ServerResponse): void => {
    const bytes = announced(request, body);
    if (bytes === 0) return;
    const leave = shares.take(clients.networkOf(request.socket), bytes);
    if (leave === undefined) throw gatewayErrors.tooMany("too much is being sent from your network at the moment");
    response.once("close", leave);
  };
}

/** Bytes that a body counts with: its length, or the most there may be if it has none. A longer body is refused unread and counts nothing. */
function announced({ headers }: IncomingMessage, most: number): number {
  if (headers["transfer-encoding"] !== undefined) return most;
  const length = Number(headers["content-length"] ?? 0);
  return length > most ? 0 : length;
}
