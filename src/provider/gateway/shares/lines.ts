import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:https";
import { type Reading, RequestLines } from "../../../util/index.ts";
import { gatherParts } from "../../ingress/index.ts";

/** Requests of one connection that may have come before their turn, with the one that is being answered. */
const WAITING_REQUESTS = 16;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers the requests of a connection one by one: hundreds may come in one piece, before anything of others is read. */
export function serveInTurns(server: Server, handler: Handler, reading: Reading): void {
  const lines = new RequestLines<IncomingMessage, ServerResponse>(
    async (request, response) => handler(request, response),
    WAITING_REQUESTS,
  );
  const worked = () => reading.worked();
  server.on("request", (request, response) => {
    worked();
    gatherParts(request, worked);
    lines.take(request, response);
  });
}
