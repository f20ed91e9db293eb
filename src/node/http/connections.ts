import type { Server } from "node:http";
import type { Socket } from "node:net";
import { clientNetwork } from "../../util/index.ts";
import { answerMalformed, clientAddress, Shares } from "../../util/servers/index.ts";
import type { Clients } from "./clients.ts";
import { CONNECTION_SHARES, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from "./limits.ts";

/**
 * Limits the connections of a server and the time that a request may take to arrive, and answers malformed requests.
 */
export function limitServer(server: Server, maxOpenConnections: number, clients: Clients): void {
  limitConnections(server, maxOpenConnections, clients);
  answerMalformed(server);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
}

/** An address as written in a URL; "everywhere" becomes this machine. */
export function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Limits the connections of a server, and one client's share of them; a connection above a limit is closed at once.
 * Trusted proxies and programs on the same machine have no share limit.
 */
function limitConnections(server: Server, most: number, clients: Clients): void {
  const shares = new Shares({ each: Math.ceil(most / CONNECTION_SHARES) });
  server.maxConnections = most;
  server.on("connection", (socket: Socket) => {
    const address = clientAddress(socket);
    if (clients.isShared(address)) return;
    const leave = shares.take(clientNetwork(address));
    if (leave === undefined) socket.destroy();
    else socket.once("close", leave);
  });
}
