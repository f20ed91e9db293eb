import type { Server as HttpServer } from "node:http";
import { createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import { clientNetwork } from "../../util/index.ts";
import { clientAddress, endFailedHandshakes, isTrusted, RateLimit } from "../../util/servers/index.ts";
import { normalHost } from "../hostnames/index.ts";
import { ClientCounts, type ClientRules, TOLD_WITHIN_MS } from "./clients.ts";
import { askedName, type Decide, type Decision } from "./decide.ts";
import { type BrowserGateway, passToGateway } from "./gateway.ts";
import { Http2Session, type StreamRequest, streamExchange, streamTunnel } from "./http2/index.ts";
import type { Forwarder } from "./proxy/forward.ts";
import { LIMITS, serveHttp1, watchHandedConnections } from "./proxy/http1.ts";
import { sendPage, sendRedirect, sendText } from "./proxy/pages.ts";
import { forwardUpgrade } from "./proxy/upgrade.ts";
import { type Certificates, PROTOCOLS, TLS_OPTIONS } from "./tls/certificates.ts";

const HANDSHAKE_MS = 10_000;
/** Handshakes of one network; each costs one to two milliseconds of the shared thread. */
export const HANDSHAKES = { burst: 100, perSecond: 20 } as const;
/** A client that begins with these bytes speaks HTTP/2 without having asked (RFC 9113 section 3.3). */
const PREFACE = "PRI";

export interface EntryOptions {
  readonly clients: ClientRules;
  /** Connections of each address, those at other entries included. */
  readonly counts: ClientCounts;
  readonly maxConnections: number;
  readonly forwarder: Forwarder;
  readonly decide: Decide;
  readonly isDraining: () => boolean;
  /** Clients come over TLS. */
  readonly certificates?: Certificates;
  /** Where connections that ask for its name go. */
  readonly gateway?: BrowserGateway;
  /** A handshake that takes longer is broken off; milliseconds, ten seconds unless given. */
  readonly handshakeMs?: number;
}

/**
 * A port where tenants' visitors come in, over TLS or without, and speak HTTP/2 or HTTP/1.1 as they choose. Over TLS a client that
 * asks for no name, or for one without a certificate, gets no connection.
 */
export class Entry {
  /** The listening server; the process that takes over gets it. */
  readonly listener: NetServer;
  readonly #options: EntryOptions;
  readonly #http1: HttpServer;
  readonly #endHttp1: () => void;
  readonly #tls: TlsServer | undefined;
  readonly #handshakes = new RateLimit(HANDSHAKES.burst, HANDSHAKES.perSecond);
  readonly #sockets = new Set<Socket>();
  /** Connections that are only to be told that there are too many. */
  readonly #refused = new WeakSet<Socket>();
  readonly #sessions = new Set<Http2Session>();
  /** Requests that an address has open over HTTP/2: as many as it could have over connections of HTTP/1. */
  readonly #requests: ClientCounts;
  #openRequests = 0;

  constructor(options: EntryOptions) {
    const { certificates, maxConnections, clients } = options;
    this.#options = options;
    this.#requests = new ClientCounts(clients);
    this.#http1 = serveHttp1({ ...options, isTooMany: (socket) => this.#refused.has(socket) });
    this.#endHttp1 = watchHandedConnections(this.#http1);
    if (certificates !== undefined) this.#tls = this.#makeTls(certificates);
    this.listener = createNetServer((socket) => this.#take(socket));
    this.listener.maxConnections = maxConnections;
  }

  /** Asks clients to open new connections. */
  drain(): void {
    for (const open of this.#sessions) open.drain();
  }

  /** Cuts all connections, and resolves when the port is free. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.listener.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
      this.#endHttp1();
    });
  }

  #makeTls(certificates: Certificates): TlsServer {
    const tls = createTlsServer({
      ...TLS_OPTIONS,
      ALPNCallback: (hello) => this.#protocol(hello),
      handshakeTimeout: this.#options.handshakeMs ?? HANDSHAKE_MS,
      SNICallback: (name, done) => done(null, certificates.context(normalHost(name) ?? "")),
    });
    tls.on("secureConnection", (socket) => {
      // A broken connection must end alone, wherever it is.
      socket.on("error", () => socket.destroy());
      const { gateway } = this.#options;
      if (gateway !== undefined && this.#isForGateway(socket)) passToGateway(socket, gateway);
      else if (socket.alpnProtocol === "h2") this.#serveHttp2(socket);
      else this.#http1.emit("connection", socket);
    });
    endFailedHandshakes(tls);
    return tls;
  }

  /** The chosen one of the protocols that a client offers; the gateway speaks HTTP/1.1 only. */
  #protocol(hello: { readonly servername: string; readonly protocols: readonly string[] }): string | undefined {
    const spoken = this.#isForGateway(hello) ? PROTOCOLS.slice(1) : PROTOCOLS;
    return spoken.find((each) => hello.protocols.includes(each));
  }

  /** By the name that the client asks for in TLS. */
  #isForGateway(client: object): boolean {
    const { gateway } = this.#options;
    return gateway !== undefined && askedName(client) === gateway.host;
  }

  #take(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const verdict = this.#options.counts.enter(socket);
    if (this.#tls !== undefined) {
      if (verdict === "served" && this.#mayShakeHands(socket)) this.#tls.emit("connection", socket);
      else socket.destroy();
    } else if (verdict === "cut") {
      socket.destroy();
    } else {
      this.#takePlain(socket, verdict === "told");
    }
  }

  #mayShakeHands(socket: Socket): boolean {
    const address = clientAddress(socket);
    const isProxy = isTrusted(address, this.#options.clients.trustedProxies);
    return isProxy || this.#handshakes.take(clientNetwork(address), performance.now());
  }

  /** The first bytes say which protocol the client speaks. */
  #takePlain(socket: Socket, isTooMany: boolean): void {
    const expire = () => socket.destroy();
    socket.setTimeout(isTooMany ? TOLD_WITHIN_MS : LIMITS.headersTimeout);
    socket.once("timeout", expire);
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.off("timeout", expire);
      const isHttp2 = first.toString("latin1", 0, PREFACE.length) === PREFACE;
      if (isHttp2) {
        socket.unshift(first);
        return isTooMany ? socket.destroy() : this.#serveHttp2(socket);
      }
      if (isTooMany) this.#refused.add(socket);
      this.#http1.emit("connection", socket);
      socket.push(first);
      if (isTooMany) socket.setTimeout(TOLD_WITHIN_MS, expire);
      socket.resume();
    });
  }

  #serveHttp2(socket: Socket | TLSSocket): void {
    const session = new Http2Session(socket, {
      room: () => this.#room(socket),
      serve: (request) => this.#answer(request),
    });
    this.#sessions.add(session);
    socket.once("close", () => this.#sessions.delete(session));
    if (this.#options.isDraining()) session.drain();
  }

  #room(socket: Socket): (() => void) | undefined {
    if (this.#openRequests >= this.#options.maxConnections) return undefined;
    const leave = this.#requests.open(socket);
    if (leave === undefined) return undefined;
    this.#openRequests++;
    return () => {
      this.#openRequests--;
      leave();
    };
  }

  #answer(request: StreamRequest): void {
    const { forwarder, decide } = this.#options;
    const exchange = streamExchange(request.stream, request.head);
    const { answer } = exchange;
    // Besides websockets nothing is connected through.
    const refused = request.head.method === "CONNECT" && request.protocol !== "websocket";
    const decision: Decision = refused ? { page: 400 } : decide(request.head);
    if ("page" in decision) sendPage(answer, decision.page);
    else if ("location" in decision) sendRedirect(answer, decision.location);
    else if ("text" in decision) sendText(answer, decision.text);
    else if (request.protocol === undefined) void forwarder.forward(exchange, decision.target);
    else forwardUpgrade(forwarder, decision.target, streamTunnel(request.stream, request.head));
  }
}
