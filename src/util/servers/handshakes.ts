/** What is used of a TLS server of Node.js, whose types browsers do not have. */
interface TlsServer {
  prependListener(event: "secureConnection", listener: (socket: object) => void): unknown;
  removeAllListeners(event: "tlsClientError"): unknown;
  on(event: "tlsClientError", listener: (error: TlsError, socket: TlsSocket) => void): unknown;
}

interface TlsError extends Error {
  readonly code?: string | undefined;
}

interface TlsSocket {
  destroy(): unknown;
}

/**
 * Ends connections whose handshake failed. Nothing is said to them: there is nobody yet who reads what is said, and Node would wait
 * forever to say it. A handshake that seems late because this process was busy is looked at again once what has come meanwhile
 * was read.
 */
export function endFailedHandshakes(server: TlsServer): void {
  const done = new WeakSet<object>();
  server.prependListener("secureConnection", (socket) => done.add(socket));
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error, socket) => {
    const end = () => void (done.has(socket) || socket.destroy());
    if (error.code === "ERR_TLS_HANDSHAKE_TIMEOUT") setImmediate(end);
    else end();
  });
}
