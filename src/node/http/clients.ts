import type { Server } from "node:http";
import type { BlockList, Socket } from "node:net";
import { clientNetwork } from "../../util/index.ts";
import {
  answerMalformed,
  clientAddress,
  forwardedClient,
  isTrusted,
  MAX_WAITING_REQUESTS,
  parseNetworks,
  RateLimit,
  readInPortions,
  Shares,
} from "../../util/servers/index.ts";
import { ByteBudget } from "./byte-budget.ts";
import {
  BURST_SECONDS,
  CONNECTION_SHARES,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  MAX_SENT_BYTES,
  MAX_UNREAD_BYTES,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";

export interface ClientLimits {
  /** Addresses and networks of proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly string[];
  /** Requests per second of one client, over all servers of the node. */
  readonly requestsPerSecond: number;
}

/** The parts of a request that tell whose it is, in either version of HTTP. */
export interface ClientRequest {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: { readonly [name: string]: string | string[] | undefined };
}

const NO_LIMITS: ClientLimits = { trustedProxies: [], requestsPerSecond: Number.POSITIVE_INFINITY };

/** Limits the requests of each client; programs on the same machine are not limited. */
export class Clients {
  readonly #proxies: BlockList;
  /** Without proxies, which is the default, an address needs no look-up for each request. */
  readonly #hasProxies: boolean;
  readonly #rate: RateLimit;

  constructor({ trustedProxies, requestsPerSecond }: ClientLimits = NO_LIMITS) {
    this.#proxies = parseNetworks(trustedProxies);
    this.#hasProxies = trustedProxies.length > 0;
    this.#rate = new RateLimit(BURST_SECONDS * requestsPerSecond, requestsPerSecond);
  }

  /** The network that sent a request. */
  of({ socket, headers }: ClientRequest): string {
    const address = clientAddress(socket);
    if (!this.#hasProxies) return clientNetwork(address);
    const forwardedFor = headers["x-forwarded-for"];
    const hops = Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor;
    return clientNetwork(forwardedClient(address, hops, this.#proxies));
  }

  /** Whether connections of an address belong to several clients: a trusted proxy's, or programs on this machine. */
  isShared(address: string): boolean {
    return THIS_MACHINE.has(clientNetwork(address)) || isTrusted(address, this.#proxies);
  }

  /** Counts a request of a client; false when the client has sent too many. */
  admits(client: string): boolean {
    return THIS_MACHINE.has(client) || this.#rate.take(client, performance.now());
  }
}

/** Networks of programs on the same machine, which are not limited. */
const THIS_MACHINE: ReadonlySet<string> = new Set(["127.0.0.1", "::1"].map(clientNetwork));

/** Limits that all servers of a node share. */
export interface ClientBudget {
  /** Answers that wait to be read. */
  readonly unread: ByteBudget;
  /** Requests that come little by little, until they are answered. */
  readonly sent: ByteBudget;
  readonly clients: Clients;
}

export function clientBudget(limits?: ClientLimits): ClientBudget {
  return {
    unread: new ByteBudget(MAX_UNREAD_BYTES),
    sent: new ByteBudget(MAX_SENT_BYTES),
    clients: new Clients(limits),
  };
}

/**
 * Limits the connections of a server and the time that a request may take to arrive, and answers malformed requests.
 */
export function limitServer(server: Server, maxOpenConnections: number, clients: Clients): void {
  limitConnections(server, maxOpenConnections, clients);
  answerMalformed(server);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
}

/**
 * Limits the requests that a connection sends ahead; trusted proxies and programs on the same machine may send any number. The server has
 * to make `CountedRequest`s.
 */
export function limitReads(server: Server, clients: Clients): void {
  server.on("connection", (socket: Socket) => {
    if (!clients.isShared(clientAddress(socket))) readInPortions(socket, MAX_WAITING_REQUESTS);
  });
}

/**
 * Limits the connections of a server, and one client's share of them; a connection above a limit is closed at once.
 * Trusted proxies and programs on the same machine have no share limit.
 */
function limitConnections(server: Server, most: number, clients: Clients): void {
  const shares = new Shares({ each: Math.ceil(most / CONNECTION_SHARES) });
  server.maxConnections = most;
  server.on("connection", (socket: Socket) => {
    const address = clientAddress(socket);
    if (clients.isShared(address)) return;
    const leave = shares.take(clientNetwork(address));
    if (leave === undefined) socket.destroy();
    else socket.once("close", leave);
  });
}
