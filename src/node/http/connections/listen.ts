import type { Server } from "node:http";
import type { Server as NetServer } from "node:net";
import { ACCEPT_QUEUE, answerMalformed, type ListenPlace, listenError } from "../../../util/servers/index.ts";
import type { Clients } from "../clients.ts";
import { HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from "../limits.ts";
import { limitConnections } from "./limit.ts";

/** Bounds the connections of a server and the time that a request may take to arrive, and answers what is not a request. */
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
