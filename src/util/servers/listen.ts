import { createServer, type Server } from "node:net";
import { errorText, SvcError } from "../errors.ts";

/** The address of a server, and the command-line option that changes it. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  readonly option: string;
}

/**
 * Connections that may wait to be accepted, where the system allows as many. If a connection finds the queue full, its
 * client waits for seconds, or holds a connection that this end does not know: a thousand connections at once from one
 * client must not fill it.
 */
export const ACCEPT_QUEUE = 4_096;

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses the port",
  EACCES: "ports below 1024 are the administrator's",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "this machine does not know the name",
};

/** Why a server cannot listen, and what to do about it. */
export function listenError(error: unknown, { host, port, option }: ListenPlace): SvcError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const hint =
    code === "EADDRINUSE" ? `stop it, or choose another port with ${option}` : `choose another with ${option}`;
  return new SvcError("server", 1, `cannot listen on ${host}:${port}: ${REASONS[code] ?? errorText(error)}`, {
    hint,
    cause: error,
  });
}

/** Begins to listen; returns the address. Throws one sentence if it cannot. */
export function listenAt(server: Server, place: ListenPlace): Promise<{ host: string; port: number }> {
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

/** Listens on a port for a moment. Throws one sentence if it cannot be had. */
export async function tryPort(place: ListenPlace): Promise<void> {
  const server = createServer();
  await listenAt(server, place);
  await new Promise((resolve) => server.close(resolve));
}

/** Whether a port can be had. */
export function isFree(place: ListenPlace): Promise<boolean> {
  return tryPort(place).then(
    () => true,
    () => false,
  );
}

/** Stops listening, and ends all connections. */
export async function closeServer(server: Server & { closeAllConnections(): void }): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

/** An address as written in a URL; "everywhere" becomes this machine. */
export function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
