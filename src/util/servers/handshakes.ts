/** The parts of a TLS server of Node.js that are used; the browser build lacks Node's types. */
interface TlsServer {
  removeAllListeners(event: "tlsClientError"): unknown;
  on(event: "tlsClientError", listener: (error: Error, socket: { destroy(): unknown }) => void): unknown;
}

/**
 * Ends connections whose handshake failed or took too long. No answer is sent: the client cannot read one yet, and Node.js would
 * wait forever to send it.
 */
export function endFailedHandshakes(server: TlsServer): void {
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (_error, socket) => void socket.destroy());
}
