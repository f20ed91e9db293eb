import type { Server } from "node:http";
import type { Socket } from "node:net";
import { LATE_LOOK_MS, LINGER_MS } from "../limits.ts";

const LATE = "ERR_HTTP_REQUEST_TIMEOUT";
const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  [LATE]: "408 Request Timeout",
};

/** A connection of Node.js's server, with the response that is being written to it. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
}

/** What is known of the turns of a server's connections. */
interface Turns {
  /** Whether a connection is not read until its turn. */
  isWaiting(socket: Socket): boolean;
  /** Another number whenever a complete request of a connection has come. */
  step(socket: Socket): number | undefined;
}

/**
 * Answers bytes that are not a request, and goes on reading for a moment (RFC 9112 section 9.6): when a connection is closed while
 * the client still sends, as Node.js does by itself, the system drops the answer before the client has read it.
 */
export function answerMalformed(server: Server, turns?: Turns): void {
  const lingering = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException, socket: HttpSocket) => {
    // What follows the malformed bytes is malformed too.
    if (lingering.has(socket)) return;
    if (error.code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent === true)
      return void socket.destroy();
    const answer = (): void => {
      lingering.add(socket);
      socket.end(`HTTP/1.1 ${STATUS[error.code ?? ""] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`);
      const timer = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once("close", () => clearTimeout(timer));
    };
    if (error.code === LATE && turns?.isWaiting(socket) === true) answerAfterTurn(socket, turns, answer);
    else answer();
  });
}

/** What a connection has sent while others were read is not late: its client did its part. Answers once its turn has brought nothing. */
function answerAfterTurn(socket: Socket, turns: Turns, answer: () => void): void {
  const before = turns.step(socket);
  const isOver = (): boolean => !socket.writable || turns.step(socket) !== before;
  const look = (): void => {
    if (isOver()) return;
    if (turns.isWaiting(socket)) setTimeout(look, LATE_LOOK_MS).unref();
    // Its turn may have begun just now.
    else setImmediate(() => isOver() || answer());
  };
  setTimeout(look, LATE_LOOK_MS).unref();
}
