import type { Server } from "node:http";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { MAX_WAITING_REQUESTS, readInPortions } from "../../util/servers/index.ts";
import { CLOSE_MS, GREETING_MS, IDLE_MS, MAX_TAKEN_BACK } from "./limits.ts";

/** The first bytes of every HTTP/2 connection; no HTTP/1 request begins with them. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

interface Protocols {
  readonly http1: Server;
  readonly http2: Http2Server;
}

/**
 * Lets one port speak both versions of HTTP: gRPC needs HTTP/2, web pages use HTTP/1. The listener is the HTTP/1
 * server; connections that begin with HTTP/2 are handed over.
 */
export class TwoProtocols {
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Connections that have not shown their protocol yet. */
  readonly #greeting = new Set<Socket>();

  constructor({ http1, http2 }: Protocols) {
    // The listener of the server itself is the first one; others count the connections.
    const [own] = http1.listeners("connection");
    if (own !== undefined) http1.removeListener("connection", own as (socket: Socket) => void);
    http1.on("connection", (socket: Socket) => {
      this.#greeting.add(socket);
      socket.once("close", () => this.#greeting.delete(socket));
      greeting(socket, (isHttp2, bytes) => {
        this.#greeting.delete(socket);
        if (isHttp2) {
          // HTTP/2 reads the bytes itself, from the buffer in which they wait.
          socket.unshift(bytes);
          this.#begin(http2, socket);
          return;
        }
        own?.call(http1, socket);
        readInPortions(socket, MAX_WAITING_REQUESTS);
        socket.push(bytes);
        socket.resume();
      });
    });
    // A broken client must not end the others.
    http2.on("sessionError", () => {});
  }

  #begin(http2: Http2Server, socket: Socket): void {
    // Only HTTP/1 goes on answering a client that has ended its side; a session would stay open until it has been idle for long.
    socket.allowHalfOpen = false;
    http2.once("session", (session) => this.#keep(session, socket));
    http2.emit("connection", socket);
  }

  #keep(session: ServerHttp2Session, socket: Socket): void {
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.on("error", () => session.destroy());
    let calls = 0;
    let takenBack = 0;
    session.setTimeout(IDLE_MS, () => {
      session.close();
      // A client that does not close its side would keep its place.
      setTimeout(() => calls === 0 && socket.destroy(), CLOSE_MS).unref();
    });
    session.on("stream", (stream) => {
      takenBack = stream.destroyed ? takenBack + 1 : Math.max(0, takenBack - 1);
      if (takenBack > MAX_TAKEN_BACK) session.destroy();
      if (stream.destroyed) return;
      calls += 1;
      stream.once("close", () => (calls -= 1));
    });
  }

  /** Ends the connections that the server of HTTP/1 does not know of: it would wait for them. */
  close(): void {
    for (const socket of this.#greeting) socket.destroy();
    for (const session of this.#sessions) session.destroy();
  }
}

/** Reads the first bytes of a connection, which stays paused. */
function greeting(socket: Socket, told: (isHttp2: boolean, bytes: Buffer) => void): void {
  const tooLate = setTimeout(() => socket.destroy(), GREETING_MS);
  const fail = (): void => {
    socket.destroy();
  };
  socket.on("error", fail);
  socket.once("close", () => clearTimeout(tooLate));
  const look = (before: Buffer): void => {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      const bytes = Buffer.concat([before, chunk]);
      const begin = PREFACE.subarray(0, bytes.length);
      const isOpen = bytes.length < PREFACE.length && bytes.equals(begin);
      if (isOpen) {
        look(bytes);
        socket.resume();
        return;
      }
      clearTimeout(tooLate);
      socket.removeListener("error", fail);
      told(bytes.subarray(0, PREFACE.length).equals(PREFACE), bytes);
    });
  };
  look(Buffer.alloc(0));
}
