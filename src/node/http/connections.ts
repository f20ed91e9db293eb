import type { Server } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import { clientNetwork } from "../../util/index.ts";
import {
  ACCEPT_QUEUE,
  answerMalformed,
  clientAddress,
  type ListenPlace,
  listenError,
} from "../../util/servers/index.ts";
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

/** Begins to listen; returns the address. Throws one sentence when the port is in use. */
export function listenAt(server: NetServer, place: ListenPlace): Promise<{ host: string; port: number }> {
  const { host, port } = place;
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, place)));
    server.listen({ host, port, backlog: ACCEPT_QUEUE }, () => {
      // A connection that could not be accepted, for example for lack of descriptors, must not end the others.
      server.on("error", () => {});
      const address = server.address();
      resolve({ host, port: typeof address === "object" && address !== null ? address.port : port });
    });
  });
}

/** Ends all connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
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
  const open = new Map<string, number>();
  const share = Math.ceil(most / CONNECTION_SHARES);
  server.maxConnections = most;
  server.on("connection", (socket: Socket) => {
    const address = clientAddress(socket);
    if (clients.isShared(address)) return;
    const client = clientNetwork(address);
    const count = (open.get(client) ?? 0) + 1;
    if (count > share) {
      socket.destroy();
      return;
    }
    open.set(client, count);
    socket.once("close", () => {
      const left = (open.get(client) ?? 0) - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
}
