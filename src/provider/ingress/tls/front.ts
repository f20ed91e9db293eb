import { createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import { createServer, type TLSSocket, type Server as TlsServer } from "node:tls";
import { endFailedHandshakes, FRESH_TLS_BYTES, type Reading } from "../../../util/index.ts";
import { normalHost } from "../../hostnames/index.ts";
import type { ClientCounts, ClientRules } from "../clients.ts";
import type { Certificates } from "./certificates.ts";
import { HandshakeGate } from "./handshakes.ts";
import { PROTOCOLS, TLS_OPTIONS } from "./options.ts";

const HANDSHAKE_MS = 10_000;

export interface FrontOptions {
  readonly certificates: Certificates;
  readonly clients: ClientRules;
  readonly counts: ClientCounts;
  /** Handshakes, too, take their turns by client. */
  readonly reading: Reading;
  /** Receives connections after their handshakes; `servername` and `alpnProtocol` are those of the client. */
  readonly serve: (socket: TLSSocket) => void;
  /** A handshake that takes longer is broken off; milliseconds, ten seconds unless given. */
  readonly handshakeMs?: number;
}

/**
 * Listens for TLS: connections wait for their handshakes, get the certificate of the name that they ask for, and are
 * handed on. A client that asks for no name, or for one without a certificate, gets none.
 */
export class TlsFront {
  /** What listens; the process that takes over gets it. */
  readonly listener: NetServer;
  readonly #tls: TlsServer;
  readonly #handshakes: HandshakeGate;
  readonly #reading: Reading;
  readonly #sockets = new Set<Socket>();

  constructor({ certificates, clients, counts, reading, serve, handshakeMs = HANDSHAKE_MS }: FrontOptions) {
    this.#reading = reading;
    this.#handshakes = new HandshakeGate(clients);
    this.#tls = createServer({
      ...TLS_OPTIONS,
      ALPNProtocols: [...PROTOCOLS],
      handshakeTimeout: handshakeMs,
      SNICallback: (name, done) => {
        reading.worked();
        done(null, certificates.context(normalHost(name) ?? ""));
      },
    });
    this.#tls.on("secureConnection", (socket) => {
      reading.worked();
      // A connection that breaks must end alone, whoever holds it at that moment.
      socket.on("error", () => socket.destroy());
      serve(socket);
    });
    endFailedHandshakes(this.#tls, reading);
    // Not read before its turn: bytes that have been read would be missing in the handshake.
    this.listener = createNetServer({ pauseOnConnect: true }, (socket) => this.#take(socket, counts));
  }

  /** Cuts all connections. */
  close(): void {
    this.#handshakes.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(socket: Socket, counts: ClientCounts): void {
    socket.on("error", () => socket.destroy());
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    if (counts.enter(socket) !== "served") {
      socket.destroy();
      return;
    }
    this.#reading.add(socket, FRESH_TLS_BYTES);
    this.#handshakes.enter(socket, () => this.#tls.emit("connection", socket));
  }
}
