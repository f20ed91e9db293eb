/** How long a connection is read after bytes that are not a request were answered. */
const LINGER_MS = 1_000;

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** An error of a client as Node.js reports it. */
interface ClientError extends Error {
  readonly code?: string | undefined;
}

/** A connection of Node.js's server. */
export interface HttpSocket {
  readonly writable: boolean;
  once(event: "close", listener: () => void): unknown;
  end(text: string): unknown;
  destroy(): unknown;
}

interface Response {
  readonly headersSent: boolean;
  readonly writableFinished: boolean;
}

/** The part of an HTTP server that is used; the browser build lacks Node's types. */
interface HttpServer {
  on(event: "request", listener: (request: { readonly socket: object }, response: Response) => void): unknown;
  on(event: "clientError", listener: (error: ClientError, socket: HttpSocket) => void): unknown;
}

/**
 * Answers bytes that are not a request, and goes on reading for a moment (RFC 9112 section 9.6): when a connection is closed while
 * the client still sends, as Node.js does by itself, the system drops the answer before the client has read it.
 * With `lingerMs` 0 the connection is closed at once.
 */
export function answerMalformed(server: HttpServer, lingerMs: number = LINGER_MS): void {
  const lingering = new WeakSet<object>();
  // A connection may have several: requests may be sent ahead.
  const responses = new WeakMap<object, Response[]>();
  server.on("request", ({ socket }, response) => {
    const open = (responses.get(socket) ?? []).filter(({ writableFinished }) => !writableFinished);
    responses.set(socket, [...open, response]);
  });
  server.on("clientError", (error, socket) => {
    // Bytes that follow the malformed ones are malformed too.
    if (lingering.has(socket)) return;
    const isAnswering = (responses.get(socket) ?? []).some((each) => each.headersSent && !each.writableFinished);
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering) {
      socket.destroy();
      return;
    }
    lingering.add(socket);
    socket.end(`HTTP/1.1 ${STATUS[error.code ?? ""] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`);
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  });
}

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
