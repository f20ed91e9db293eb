import type { Server, TLSSocket } from "node:tls";

/**
 * Ends connections whose handshake failed. Nothing is said to them: there is nobody yet who reads what is said, and Node would wait
 * for ever to say it. A handshake that seems late because this process was busy is looked at again once what has come meanwhile
 * was read.
 */
export function endFailedHandshakes(server: Server): void {
  const done = new WeakSet<TLSSocket>();
  server.prependListener("secureConnection", (socket) => done.add(socket));
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    const end = () => void (done.has(socket) || socket.destroy());
    if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") setImmediate(end);
    else end();
  });
}
