import { type HandledSocket, type Reading, refuseLate } from "./fairness/index.ts";

/** What is used of a TLS server of Node.js, whose types browsers do not have. */
interface TlsServer {
  prependListener(event: "secureConnection", listener: (socket: object) => void): unknown;
  removeAllListeners(event: "tlsClientError"): unknown;
  on(event: "tlsClientError", listener: (error: TlsError, socket: TlsSocket) => void): unknown;
}

interface TlsError extends Error {
  readonly code?: string | undefined;
}

interface TlsSocket extends HandledSocket {
  destroy(): unknown;
}

/**
 * Ends connections whose handshake failed. Nothing is said to them: there is nobody yet who reads what is said, and Node would wait
 * forever to say it. A handshake that seems late because this process was busy, or because it waits for its turn to be read, is looked
 * at again once what has come meanwhile was read.
 */
export function endFailedHandshakes(server: TlsServer, reading: Pick<Reading, "isWaiting" | "turnsOf">): void {
  const done = new WeakSet<object>();
  server.prependListener("secureConnection", (socket) => done.add(socket));
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error, socket) => {
    const isOver = (): boolean => done.has(socket) || socket.destroyed;
    const refuse = (): void => void (isOver() || socket.destroy());
    const late = () => refuseLate({ socket, reading, isOver, refuse });
    if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") setImmediate(late);
    else refuse();
  });
}
