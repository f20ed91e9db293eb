import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { answerMalformed, CountedRequest, RequestLines, readInPortions } from "../../../util/servers/index.ts";
import type { Decide } from "../decide.ts";
import { exchangeOf, originForm } from "./exchange.ts";
import type { Forwarder } from "./forward.ts";
import { gatherClientParts } from "./gather.ts";
import { pairsOf, withoutHeader } from "./headers.ts";
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
  const server = createServer({ ...LIMITS, IncomingMessage: CountedRequest }, (request, response) => {
    if (request.headers["transfer-encoding"] !== undefined) gatherClientParts(request);
    lines.take(request, response);
  });
  server.maxRequestsPerSocket = LIMITS.maxRequestsPerSocket;
  server.timeout = LIMITS.idle;
  answerMalformed(server, 0);
  server.on("connection", (socket: Socket) => readInPortions(socket, WAITING_REQUESTS));
  server.on("upgrade", (request, socket, head) => {
    // Node.js releases the connection here: without a listener, a client that disconnects would end the process.
    socket.on("error", () => socket.destroy());
    // Answers to earlier requests would come in the middle of the other protocol.
    if (!(socket instanceof Socket) || lines.isAnswering(socket)) return socket.destroy();
    if (!isWebsocket(request)) return readAgain(server, { request, socket, rest: head });
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

/** Only websockets are joined: over another protocol (h2c) a client could send unseen what the proxy replaces. */
function isWebsocket({ method, headers }: IncomingMessage): boolean {
  const hasBody = Number(headers["content-length"] ?? 0) > 0 || headers["transfer-encoding"] !== undefined;
  return method === "GET" && !hasBody && headers.upgrade?.toLowerCase() === "websocket";
}

interface Unwanted {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that came after the headers. */
  readonly rest: Buffer;
}

/**
 * Ignores the wish for an upgrade (RFC 9110 section 7.8). Node.js has stopped reading requests here, so the server reads this one
 * again, with its body; the connection ends with the answer.
 */
function readAgain(server: Server, { request, socket, rest }: Unwanted): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const headers = [...withoutHeader(rawHeaders, "upgrade"), "Connection", "close"];
  const lines = [`${method} ${url} HTTP/${httpVersion}`, ...pairsOf(headers).map((pair) => pair.join(": "))];
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), rest]));
  server.emit("connection", socket);
}

/** Lets a server that does not listen itself watch for slow requests; returns a function that ends the watch. */
export function watchHandedConnections(server: Server): () => void {
  // Node.js begins to look when the server listens, and stops when it closes.
  server.emit("listening");
  return () => void server.close();
}
