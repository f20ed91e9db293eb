import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { RouteTarget } from "../../cluster/index.ts";
import type { Forwarder } from "./forward.ts";
import { endToEnd } from "./headers.ts";
import { writePage } from "./pages.ts";

/** An upgraded connection that is silent for this long is closed. */
const IDLE_MS = 3_600_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** An upgrade request with the bytes after its headers. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

/** Carries an upgrade (websocket) to a replica and joins the two connections; tries the next until one accepts. */
export function forwardUpgrade(forwarder: Forwarder, target: RouteTarget, input: UpgradeRequest): void {
  tryNext(forwarder, target, input, new Set());
}

function tryNext(forwarder: Forwarder, target: RouteTarget, input: UpgradeRequest, tried: Set<string>): void {
  const { request, socket } = input;
  const address = forwarder.nextBackend(target, tried);
  if (address === undefined) {
    writePage(socket, tried.size === 0 ? 503 : 502);
    return;
  }
  tried.add(address);
  const upstream = openUpstream(request, address, forwarder.headers(request));
  if (upstream === undefined) {
    writePage(socket, 400);
    return;
  }
  let connected = false;
  const timer = setTimeout(() => upstream.destroy(new Error("timeout")), CONNECT_TIMEOUT_MS);
  upstream.once("socket", (connection) =>
    connection.once("connect", () => {
      connected = true;
      clearTimeout(timer);
      upstream.setTimeout(target.options.readTimeout, () => upstream.destroy(new Error("timeout")));
    }),
  );
  upstream.once("upgrade", (answer, connection, rest) => {
    upstream.setTimeout(0);
    if (isWebsocket(request)) return join(input, { answer, connection, rest });
    connection.destroy();
    writePage(socket, 502);
  });
  upstream.once("response", (answer) => refuse(socket, answer));
  upstream.once("error", () => {
    clearTimeout(timer);
    // The client has left: that says nothing about the replica.
    if (socket.destroyed) return;
    if (connected) {
      writePage(socket, 502);
    } else {
      forwarder.noteFailure(address);
      tryNext(forwarder, target, input, tried);
    }
  });
  socket.once("close", () => upstream.destroy());
  upstream.end();
}

/** Undefined if the request cannot be passed on. */
function openUpstream(
  request: IncomingMessage,
  address: string,
  headers: readonly string[],
): ClientRequest | undefined {
  const colon = address.lastIndexOf(":");
  const upgrade = isWebsocket(request) ? ["Connection", "Upgrade", "Upgrade", "websocket"] : [];
  try {
    return httpRequest({
      host: address.slice(0, colon),
      port: address.slice(colon + 1),
      method: request.method ?? "GET",
      path: request.url ?? "/",
      headers: [...headers, ...upgrade],
      setHost: false,
      agent: false,
    });
  } catch {
    return undefined;
  }
}

/** Over another protocol (h2c) a client could send unseen what the proxy replaces; such upgrades are not passed on. */
function isWebsocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

interface Upgraded {
  readonly answer: IncomingMessage;
  readonly connection: Socket;
  readonly rest: Buffer;
}

function join(input: UpgradeRequest, upgraded: Upgraded): void {
  const { socket, head } = input;
  const { answer, connection, rest } = upgraded;
  socket.write(headText(answer, ["Connection", "Upgrade", "Upgrade", answer.headers.upgrade ?? "websocket"]));
  if (rest.length > 0) socket.write(rest);
  if (head.length > 0) connection.write(head);
  for (const [one, other] of [
    [socket, connection],
    [connection, socket],
  ] as const) {
    one.setTimeout(IDLE_MS, () => one.destroy());
    one.on("error", () => one.destroy());
    one.once("close", () => other.destroy());
    one.pipe(other);
  }
}

/** The replica answered without upgrading: that answer is passed on and ends the connection. */
function refuse(socket: Socket, answer: IncomingMessage): void {
  socket.write(headText(answer, ["Connection", "close"]));
  answer.on("error", () => socket.destroy());
  answer.pipe(socket);
}

function headText(answer: IncomingMessage, connection: readonly string[]): string {
  const headers = [...endToEnd(answer), ...connection];
  const lines = [`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ""}`];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
