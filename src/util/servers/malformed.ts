import { type HandledSocket, type Reading, refuseLate } from "./fairness/index.ts";

/** How long a connection is read after bytes that are not a request were answered. */
const LINGER_MS = 1_000;

const LATE = "ERR_HTTP_REQUEST_TIMEOUT";
const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  [LATE]: "408 Request Timeout",
};

/** What Node.js calls an error of a client. */
interface ClientError extends Error {
  readonly code?: string | undefined;
}

/** A connection of Node.js's server, with the response that is being written to it. */
export interface HttpSocket extends HandledSocket {
  readonly writable: boolean;
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
  end(text: string): unknown;
  destroy(): unknown;
}

/** What is used of a server of HTTP, whose types browsers do not have. */
interface HttpServer {
  on(event: "clientError", listener: (error: ClientError, socket: HttpSocket) => void): unknown;
}

/** How the connections of a server are read. */
export interface ReadInTurns {
  readonly reading: Pick<Reading, "isWaiting" | "turnsOf">;
  /** Another number whenever a request of a connection has come as a whole. */
  step(socket: object): number | undefined;
}

/**
 * Answers bytes that are not a request, and goes on reading for a moment (RFC 9112 section 9.6): when a connection is closed while
 * the client still sends, as Node.js does by itself, the system drops the answer before the client has read it.
 * With no such moment a connection takes no place of its client's any longer.
 */
export function answerMalformed(server: HttpServer, turns?: ReadInTurns, lingerMs: number = LINGER_MS): void {
  const lingering = new WeakSet<object>();
  server.on("clientError", (error, socket) => {
    // What follows the malformed bytes is malformed too.
    if (lingering.has(socket)) return;
    if (error.code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent === true) {
      socket.destroy();
      return;
    }
    onceRead(error, socket, turns, () => {
      lingering.add(socket);
      socket.end(`HTTP/1.1 ${STATUS[error.code ?? ""] ?? "400 Bad Request"}\r\nConnection: close\r\n\r\n`);
      const timer = setTimeout(() => socket.destroy(), lingerMs);
      socket.once("close", () => clearTimeout(timer));
    });
  });
}

/** Calls `refuse` at once, or for a request that is late once what its client has sent was read and did not complete it. */
export function onceRead(
  { code }: ClientError,
  socket: HttpSocket,
  turns: ReadInTurns | undefined,
  refuse: () => void,
): void {
  const before = turns?.step(socket);
  const isOver = (): boolean => !socket.writable || turns?.step(socket) !== before;
  if (code === LATE && turns !== undefined) refuseLate({ socket, reading: turns.reading, isOver, refuse });
  else refuse();
}
