import type { Server } from "node:http";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { GREETING_MS, IDLE_MS } from "./limits.ts";

/** The first bytes of every HTTP/2 connection; no HTTP/1 request begins with them. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

/**
 * Lets one port speak both versions of HTTP: gRPC needs HTTP/2, web pages use HTTP/1. The listener is the HTTP/1
 * server; connections that begin with HTTP/2 are handed over.
 */
export class TwoProtocols {
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(http1: Server, http2: Http2Server) {
    const [own] = http1.listeners("connection");
    http1.removeAllListeners("connection");
    http1.on("connection", (socket: Socket) => {
      greeting(socket, (isHttp2) => {
        if (isHttp2) http2.emit("connection", socket);
        else own?.call(http1, socket);
      });
    });
    http2.on("session", (session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
      session.on("error", () => session.destroy());
      session.setTimeout(IDLE_MS, () => session.close());
    });
    // A broken client must not end the others.
    http2.on("sessionError", () => {});
  }

  /** Ends the connections of HTTP/2. */
  close(): void {
    for (const session of this.#sessions) session.destroy();
  }
}

/** Looks at the first bytes of a connection and puts them back. */
function greeting(socket: Socket, told: (isHttp2: boolean) => void): void {
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
      socket.unshift(bytes);
      const isHttp2 = bytes.subarray(0, PREFACE.length).equals(PREFACE);
      told(isHttp2);
      // HTTP/2 reads the bytes itself, from the buffer in which they wait.
      if (!isHttp2) socket.resume();
    });
  };
  look(Buffer.alloc(0));
}
