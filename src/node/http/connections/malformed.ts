import type { Server } from "node:http";
import type { Socket } from "node:net";
import { LINGER_MS } from "../limits.ts";

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** A connection of Node.js's server, with the response that is being written to it. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
}

/**
 * Answers bytes that are not a request, and goes on reading for a moment (RFC 9112 section 9.6): when a connection is closed while
 * the client still sends, as Node.js does by itself, the system drops the answer before the client has read it.
 */
export function answerMalformed(server: Server): void {
  const lingering = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException, socket: HttpSocket) => {
    // What follows the malformed bytes is malformed too.
    if (lingering.has(socket)) return;
    if (error.code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent === true)
      return void socket.destroy();
    lingering.add(socket);
    socket.end(`HTTP/1.1 ${STATUS[error.code ?? ""] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`);
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
  });
}
