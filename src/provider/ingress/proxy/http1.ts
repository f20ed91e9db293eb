import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { answerMalformed, RequestLines } from "../../../util/servers/index.ts";
import type { Decide } from "../decide.ts";
import { exchangeOf, originForm } from "./exchange.ts";
import type { Forwarder } from "./forward.ts";
import { gatherClientParts } from "./gather.ts";
import { sendPage, sendRedirect, sendText, writePage, writeRedirect } from "./pages.ts";
import { forwardUpgrade, socketTunnel } from "./upgrade.ts";

/** Clients that are slow on purpose are cut off here; milliseconds and bytes. */
export const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 << 10,
  maxRequestsPerSocket: 1_000,
  /** No byte in either direction; longer than any read timeout a deployment can ask for. */
  idle: 75_000,
} as const;

/** Pipelined requests per connection, including the one being answered. */
const WAITING_REQUESTS = 16;

export interface Http1Options {
  readonly decide: Decide;
  readonly forwarder: Forwarder;
  /** Whether the connection is only to be told that there are too many. */
  readonly isTooMany: (socket: Socket) => boolean;
  readonly isDraining: () => boolean;
}

/** Answers requests of HTTP/1 on the server's connections: its own, or handed over (`connection`). */
export function serveHttp1({ decide, forwarder, isTooMany, isDraining }: Http1Options): Server {
  const lines = new RequestLines<IncomingMessage, ServerResponse>(async (request, response) => {
    if (isDraining()) response.shouldKeepAlive = false;
    const exchange = exchangeOf(request, response);
    if (isTooMany(request.socket)) return sendPage(exchange.answer, 429);
    const decision = decide(exchange.head);
    if ("page" in decision) return sendPage(exchange.answer, decision.page);
    if ("location" in decision) return sendRedirect(exchange.answer, decision.location);
    if ("text" in decision) return sendText(exchange.answer, decision.text);
    return forwarder.forward(exchange, decision.target);
  }, WAITING_REQUESTS);
  const server = createServer(LIMITS, (request, response) => {
    if (request.headers["transfer-encoding"] !== undefined) gatherClientParts(request);
    lines.take(request, response);
  });
  server.maxRequestsPerSocket = LIMITS.maxRequestsPerSocket;
  server.timeout = LIMITS.idle;
  answerMalformed(server, 0);
  server.on("upgrade", (request, socket, head) => {
    // Node.js releases the connection here: without a listener, a client that disconnects would end the process.
    socket.on("error", () => socket.destroy());
    if (!(socket instanceof Socket)) return socket.destroy();
    if (isTooMany(socket)) return writePage(socket, 429);
    const wanted = originForm(request);
    const decision = decide(wanted);
    if ("page" in decision) return writePage(socket, decision.page);
    if ("location" in decision) return writeRedirect(socket, decision.location);
    if ("text" in decision) return writePage(socket, 400);
    forwardUpgrade(forwarder, decision.target, socketTunnel(wanted, socket, head));
  });
  return server;
}

/** Lets a server that does not listen itself watch for slow requests; returns a function that ends the watch. */
export function watchHandedConnections(server: Server): () => void {
  // Node.js begins to look when the server listens, and stops when it closes.
  server.emit("listening");
  return () => void server.close();
}
