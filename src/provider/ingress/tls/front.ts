import { createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import { createServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import { clientNetwork } from "../../../util/index.ts";
import { clientAddress, endFailedHandshakes, isTrusted, RateLimit } from "../../../util/servers/index.ts";
import { normalHost } from "../../hostnames/index.ts";
import type { ClientCounts, ClientRules } from "../clients.ts";
import type { Certificates } from "./certificates.ts";
import { PROTOCOLS, TLS_OPTIONS } from "./options.ts";

const HANDSHAKE_MS = 10_000;
/** Handshakes of one network; each costs one to two milliseconds of the thread that serves everybody. */
export const HANDSHAKES = { burst: 100, perSecond: 20 } as const;

export interface FrontOptions {
  readonly certificates: Certificates;
  readonly clients: ClientRules;
  readonly counts: ClientCounts;
  /** Receives connections after their handshakes; `servername` and `alpnProtocol` are those of the client. */
  readonly serve: (socket: TLSSocket) => void;
  /** A handshake that takes longer is broken off; milliseconds, ten seconds unless given. */
  readonly handshakeMs?: number;
}

/**
 * Listens for TLS and hands connections on after their handshakes. A client that asks for no name, or for one without a
 * certificate, gets none. Connections above the limits of their network are closed before the handshake.
 */
export class TlsFront {
  /** What listens; the process that takes over gets it. */
  readonly listener: NetServer;
  readonly #tls: TlsServer;
  readonly #options: FrontOptions;
  readonly #handshakes = new RateLimit(HANDSHAKES.burst, HANDSHAKES.perSecond);
  readonly #sockets = new Set<Socket>();

  constructor(options: FrontOptions) {
    const { certificates, serve, handshakeMs = HANDSHAKE_MS } = options;
    this.#options = options;
    this.#tls = createServer({
      ...TLS_OPTIONS,
      ALPNProtocols: [...PROTOCOLS],
      handshakeTimeout: handshakeMs,
      SNICallback: (name, done) => done(null, certificates.context(normalHost(name) ?? "")),
    });
    this.#tls.on("secureConnection", (socket) => {
      // A connection that breaks must end alone, whoever holds it at that moment.
      socket.on("error", () => socket.destroy());
      serve(socket);
    });
    endFailedHandshakes(this.#tls);
    this.listener = createNetServer((socket) => this.#take(socket));
  }

  /** Cuts all connections. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const isServed = this.#options.counts.enter(socket) === "served" && this.#mayShakeHands(socket);
    if (isServed) this.#tls.emit("connection", socket);
    else socket.destroy();
  }

  #mayShakeHands(socket: Socket): boolean {
    const address = clientAddress(socket);
    const isProxy = isTrusted(address, this.#options.clients.trustedProxies);
    return isProxy || this.#handshakes.take(clientNetwork(address), performance.now());
  }
}
