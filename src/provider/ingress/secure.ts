import type { Server as NetServer } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Logger } from "../../util/index.ts";
import { ClientCounts, type ClientRules } from "./clients.ts";
import type { Decide, Decision } from "./decide.ts";
import { Http2Session, type StreamRequest, streamExchange, streamTunnel } from "./http2/index.ts";
import type { Forwarder } from "./proxy/forward.ts";
import { serveHttp1, watchHandedConnections } from "./proxy/http1.ts";
import { sendPage, sendRedirect, sendText } from "./proxy/pages.ts";
import { forwardUpgrade } from "./proxy/upgrade.ts";
import type { Certificates } from "./tls/certificates.ts";
import { TlsFront } from "./tls/front.ts";

/** How often the folders of certificates are checked, in milliseconds. */
const LOOK_MS = 2_000;

export interface SecureOptions {
  readonly certificates: Certificates;
  readonly clients: ClientRules;
  /** Connections of each address, those without TLS included. */
  readonly counts: ClientCounts;
  readonly maxConnections: number;
  readonly forwarder: Forwarder;
  readonly decide: Decide;
  readonly isDraining: () => boolean;
  readonly log: Logger;
}

/** The ingress over TLS: HTTP/2 or HTTP/1.1, as the client chooses. */
export class SecureIngress {
  readonly #options: SecureOptions;
  readonly #front: TlsFront;
  readonly #sessions = new Set<Http2Session>();
  /** Requests that an address has open over HTTP/2: as many as it could have over connections of HTTP/1. */
  readonly #requests: ClientCounts;
  #openRequests = 0;
  readonly #looking: NodeJS.Timeout;
  readonly #endHttp1: () => void;
  #problems: readonly string[] = [];

  constructor(options: SecureOptions) {
    this.#options = options;
    this.#requests = new ClientCounts(options.clients);
    const http1 = serveHttp1({ ...options, isTooMany: () => false });
    this.#endHttp1 = watchHandedConnections(http1);
    this.#front = new TlsFront({
      ...options,
      serve: (socket) => {
        if (socket.alpnProtocol === "h2") this.#serveHttp2(socket);
        else http1.emit("connection", socket);
      },
    });
    this.#front.listener.maxConnections = options.maxConnections;
    this.look();
    this.#looking = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** What listens. */
  get listener(): NetServer {
    return this.#front.listener;
  }

  /** Asks clients to open new connections. */
  drain(): void {
    for (const open of this.#sessions) open.drain();
  }

  /** Cuts all connections. */
  close(): void {
    clearInterval(this.#looking);
    this.#front.close();
    this.#endHttp1();
  }

  #serveHttp2(socket: TLSSocket): void {
    const session = new Http2Session(socket, {
      room: () => this.#room(socket),
      serve: (request) => this.#answer(request),
    });
    this.#sessions.add(session);
    socket.once("close", () => this.#sessions.delete(session));
    if (this.#options.isDraining()) session.drain();
  }

  #room(socket: TLSSocket): (() => void) | undefined {
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
    else forwardUpgrade(forwarder, decision.target, streamTunnel(request));
  }

  /** Loads certificates that have changed. A fault of one is logged once. */
  look(): void {
    const { certificates, log } = this.#options;
    const { changed, problems } = certificates.look();
    for (const problem of problems)
      if (!this.#problems.includes(problem)) log.error("certificate not used", { err: problem });
    this.#problems = problems;
    if (changed) log.info("certificates for host names", { names: certificates.names.length });
  }
}
