import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { RouteTarget } from "../../cluster/index.ts";
import type { RequestHead } from "./exchange.ts";
import { CONNECT_TIMEOUT_MS, type Forwarder } from "./forward.ts";
import { gatherParts } from "./gather.ts";
import { endToEnd, pairsOf } from "./headers.ts";
import { type PageStatus, writePage } from "./pages.ts";
import { headerBytes, placeOf } from "./replica.ts";
import { RetryBudget } from "./retry.ts";

/** An upgraded connection that is silent for this long is closed. */
const IDLE_MS = 3_600_000;

/** A two-way byte stream: a connection, or a stream of one. */
type Carrier = Duplex & { setTimeout(milliseconds: number, callback: () => void): unknown };

/** A client's wish for a websocket, in whichever version of HTTP it came. */
export interface Tunnel {
  readonly head: RequestHead;
  readonly client: Carrier;
  /** Bytes that came after the request's headers. */
  readonly rest: Buffer;
  page(status: PageStatus): void;
  /** Tells the client that the upgrade was accepted; later bytes go through the carrier. */
  accept(answer: IncomingMessage): void;
  /** The replica answered without upgrading: that answer is passed on; its body follows. */
  refuse(answer: IncomingMessage): void;
}

/** An upgrade of a connection of HTTP/1. */
export function socketTunnel(head: RequestHead, socket: Socket, rest: Buffer): Tunnel {
  return {
    head,
    client: socket,
    rest,
    page: (status) => writePage(socket, status),
    accept: (answer) =>
      socket.write(headText(answer, ["Connection", "Upgrade", "Upgrade", answer.headers.upgrade ?? "websocket"])),
    refuse: (answer) => socket.write(headText(answer, ["Connection", "close"])),
  };
}

/** Carries an upgrade (websocket) to a replica and joins the two connections; tries the next until one accepts. */
export function forwardUpgrade(forwarder: Forwarder, target: RouteTarget, tunnel: Tunnel): void {
  const leave = forwarder.enter(target);
  if (leave === undefined) {
    tunnel.page(503);
    return;
  }
  tunnel.client.once("close", leave);
  const budget = new RetryBudget(target.options, { method: "GET", hasBody: false }, Date.now());
  tryNext({ forwarder, target, tunnel, budget, tried: new Set() });
}

/** An upgrade that looks for a replica which takes it. */
interface Search {
  readonly forwarder: Forwarder;
  readonly target: RouteTarget;
  readonly tunnel: Tunnel;
  readonly budget: RetryBudget;
  readonly tried: Set<string>;
}

function tryNext(search: Search): void {
  const { forwarder, target, tunnel, budget, tried } = search;
  const { head, client } = tunnel;
  const address = forwarder.nextBackend(target, tried);
  if (address === undefined) {
    tunnel.page(tried.size === 0 ? 503 : 502);
    return;
  }
  tried.add(address);
  const upstream = openUpstream(tunnel, address, { headers: forwarder.headers(head), target });
  if (upstream === undefined) {
    tunnel.page(400);
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
    if (client.destroyed) connection.destroy();
    else join(tunnel, { answer, connection, rest });
  });
  upstream.once("response", (answer) => {
    if (client.destroyed) return answer.destroy();
    tunnel.refuse(answer);
    answer.on("error", () => client.destroy());
    gatherParts(answer);
    answer.pipe(client);
  });
  upstream.once("error", () => {
    clearTimeout(timer);
    // The client has left: that says nothing about the replica.
    if (client.destroyed) return;
    if (!connected) forwarder.noteFailure(address);
    if (!connected && budget.mayRetry({ kind: "error", sent: false }, Date.now())) tryNext(search);
    else tunnel.page(502);
  });
  client.once("close", () => upstream.destroy());
  upstream.end();
}

/** Undefined if the request cannot be passed on. */
function openUpstream(
  { head }: Tunnel,
  address: string,
  { headers, target }: { readonly headers: readonly string[]; readonly target: RouteTarget },
): ClientRequest | undefined {
  try {
    return httpRequest({
      ...placeOf(address),
      method: head.method ?? "GET",
      path: head.url ?? "/",
      headers: [...headers, "Connection", "Upgrade", "Upgrade", "websocket"],
      setHost: false,
      maxHeaderSize: headerBytes(target.options),
      agent: false,
    });
  } catch {
    return undefined;
  }
}

interface Upgraded {
  readonly answer: IncomingMessage;
  readonly connection: Socket;
  readonly rest: Buffer;
}

function join(tunnel: Tunnel, upgraded: Upgraded): void {
  const { client } = tunnel;
  const { answer, connection, rest } = upgraded;
  tunnel.accept(answer);
  if (rest.length > 0) client.write(rest);
  if (tunnel.rest.length > 0) connection.write(tunnel.rest);
  for (const [one, other] of [
    [client, connection],
    [connection, client],
  ] as const) {
    one.setTimeout(IDLE_MS, () => one.destroy());
    one.on("error", () => one.destroy());
    one.once("close", () => other.destroy());
    one.pipe(other);
  }
}

function headText(answer: IncomingMessage, connection: readonly string[]): string {
  const headers = [...endToEnd(answer), ...connection];
  const lines = [`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ""}`];
  for (const [name, value] of pairsOf(headers)) lines.push(`${name}: ${value}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
