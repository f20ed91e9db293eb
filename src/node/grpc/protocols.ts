import type { Server } from "node:http";
import type { Http2Server, Http2Session, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { callerOf, type LimitedConnections, type Reading } from "../http/index.ts";
import { FIRST_CONNECTIONS, GREETING_MS, IDLE_MS, MAX_PARTS, MAX_TAKEN_BACK } from "./limits.ts";

/** The first bytes of every HTTP/2 connection; no HTTP/1 request begins with them. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

interface Protocols {
  readonly http1: Server;
  /** For nearly all connections, and for further ones of a client that has many in a flood. */
  readonly http2: Readonly<Record<"first" | "further", Http2Server>>;
  /** The connections of both. */
  readonly connections: Pick<LimitedConnections, "busy">;
  readonly reading: Pick<Reading, "worked" | "handOver" | "isFlooded">;
}

/**
 * Lets one port speak both versions of HTTP: gRPC needs HTTP/2, web pages use HTTP/1. The listener is the HTTP/1
 * server; connections that begin with HTTP/2 are handed over.
 */
export class TwoProtocols {
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Connections that have not shown their protocol yet. */
  readonly #greeting = new Set<Socket>();
  /** Connections by client. */
  readonly #counts = new Map<string, number>();
  readonly #parts = new WeakMap<Http2Session, { readonly turn: number; readonly count: number }>();
  readonly #connections: Protocols["connections"];
  readonly #reading: Protocols["reading"];

  constructor({ http1, http2, connections, reading }: Protocols) {
    this.#connections = connections;
    this.#reading = reading;
    // The listener of the server itself is the first one; others count the connections.
    const [own] = http1.listeners("connection");
    if (own !== undefined) http1.removeListener("connection", own as (socket: Socket) => void);
    http1.on("connection", (socket: Socket) => {
      this.#greeting.add(socket);
      socket.once("close", () => this.#greeting.delete(socket));
      greeting(socket, (isHttp2) => {
        this.#greeting.delete(socket);
        reading.worked();
        if (!isHttp2) own?.call(http1, socket);
        else this.#begin(this.#isFurther(socket) ? http2.further : http2.first, socket);
      });
    });
    // A broken client must not end the others.
    for (const server of Object.values(http2)) server.on("sessionError", () => {});
  }

  /** Whether its client has many connections already, while others have been waiting for a while. */
  #isFurther(socket: Socket): boolean {
    return this.#count(socket) > FIRST_CONNECTIONS && this.#reading.isFlooded;
  }

  /** How many connections of HTTP/2 the client of this one has, with it. */
  #count(socket: Socket): number {
    const { client } = callerOf(socket);
    const count = (this.#counts.get(client) ?? 0) + 1;
    this.#counts.set(client, count);
    socket.once("close", () => {
      const left = (this.#counts.get(client) ?? 1) - 1;
      if (left === 0) this.#counts.delete(client);
      else this.#counts.set(client, left);
    });
    return count;
  }

  #begin(http2: Http2Server, socket: Socket): void {
    // Only HTTP/1 goes on answering a client that has ended its side; a session would stay open until it has been idle for long.
    socket.allowHalfOpen = false;
    http2.once("session", (session) => this.#keep(session, socket));
    http2.emit("connection", socket);
    this.#reading.handOver(socket);
  }

  #keep(session: ServerHttp2Session, socket: Socket): void {
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.on("error", () => session.destroy());
    session.setTimeout(IDLE_MS, () => session.close());
    this.#watch(session);
    let complete = 0;
    let takenBack = 0;
    session.on("stream", (stream) => {
      this.#countParts(stream);
      takenBack = stream.destroyed ? takenBack + 1 : Math.max(0, takenBack - 1);
      if (takenBack > MAX_TAKEN_BACK) session.destroy();
      if (stream.destroyed) return;
      // Until its body is complete, a call keeps its connection from nobody else.
      stream.once("end", () => {
        complete += 1;
        if (complete === 1) this.#connections.busy(socket, true);
      });
      stream.once("close", () => {
        if (!stream.readableEnded) return;
        complete -= 1;
        if (complete === 0) this.#connections.busy(socket, false);
      });
    });
  }

  /** What Node.js tells of frames, one by one. */
  #watch(session: ServerHttp2Session): void {
    for (const frame of ["stream", "ping", "remoteSettings", "localSettings"])
      session.on(frame, () => void this.#reading.worked());
  }

  /** A connection may send bodies in parts of one byte; each takes as long to read as a large one. */
  #countParts(stream: ServerHttp2Stream): void {
    const { push } = stream;
    stream.push = (part, encoding) => {
      const { session } = stream;
      if (part !== null && session !== undefined && this.#partsOf(session) > MAX_PARTS) session.destroy();
      return push.call(stream, part, encoding);
    };
  }

  /** Parts of bodies that a session has sent in this turn. */
  #partsOf(session: Http2Session): number {
    const turn = this.#reading.worked();
    const before = this.#parts.get(session);
    const count = before?.turn === turn ? before.count + 1 : 1;
    this.#parts.set(session, { turn, count });
    return count;
  }

  /** Ends the connections that the server of HTTP/1 does not know of: it would wait for them. */
  close(): void {
    for (const socket of this.#greeting) socket.destroy();
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
