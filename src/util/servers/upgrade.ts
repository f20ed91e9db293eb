import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Takes over a connection that asks to become a websocket. */
export type TakeWebsocket = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Answers requests and takes websockets, whichever server has their connections. */
export interface Handler {
  answer(request: IncomingMessage, response: ServerResponse): void;
  readonly websocket?: TakeWebsocket;
}

/** Headers of the wish for another protocol. */
const WISH = new Set(["connection", "upgrade", "http2-settings"]);

export interface UpgradeOptions {
  readonly websocket: TakeWebsocket;
  /** Whether a websocket is taken or refused at a URL, and not answered like any other request; everywhere unless given. */
  readonly hasWebsocket?: (url: string) => boolean;
  /** Whether an earlier request of a connection has no whole answer yet. */
  readonly isAnswering: (socket: Duplex) => boolean;
}

/**
 * Hands websockets over, and answers a request for another protocol, such as HTTP/2, in this one. Returns the function that ends the
 * connections which the server no longer knows: it would wait for them when it closes.
 */
export function takeUpgrades(server: Server, options: UpgradeOptions): () => void {
  const { websocket, isAnswering, hasWebsocket = () => true } = options;
  const open = new Set<Duplex>();
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node.js releases the connection here: without a listener, a client that disconnects would end the process.
    socket.on("error", () => socket.destroy());
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    // The answer that is under way holds the connection.
    if (isAnswering(socket)) socket.destroy();
    else if (isWebsocket(request) && hasWebsocket(request.url ?? "/")) websocket(request, socket, head);
    else answerPlainly(server, { request, socket, head });
  });
  return () => {
    for (const socket of open) socket.destroy();
  };
}

function isWebsocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** Refuses a websocket. */
export function refuseUpgrade(socket: Duplex, status: "403 Forbidden" | "404 Not Found"): void {
  // Its client might never close it, and the server would wait for it at its end.
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

/** Gives the server the same request without the wish, as the last of its connection. */
function answerPlainly(
  server: Server,
  { request, socket, head }: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
): void {
  const { method, url, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/1.1`, "Connection: close"];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (!WISH.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1] ?? ""}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
