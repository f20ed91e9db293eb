import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerSessionOptions,
} from "node:http2";
import type { Socket } from "node:net";
import { RateLimit } from "../../../util/servers/index.ts";
import { isGrpc, type RequestHead } from "../proxy/exchange.ts";
import { gatherClientParts, gatherParts } from "../proxy/gather.ts";
import { sendPage } from "../proxy/pages.ts";
import { readHead, StreamAnswer } from "./exchange.ts";

/** HTTP/2 as one client gets it; milliseconds and bytes. */
export const HTTP2 = {
  /** Concurrent requests of one connection; an address's requests are limited like its connections. */
  streams: 100,
  /** Requests over one connection, as over one of HTTP/1; then the client connects again. */
  requests: 1_000,
  headerBytes: 16 << 10,
  headerPairs: 128,
  /** A new connection has this long for its first request. */
  firstRequest: 10_000,
  /** Without a request a connection is kept this long, whatever else the client sends. */
  idleConnection: 60_000,
  /** A request whose body takes longer is broken off. */
  request: 300_000,
  /** No byte of a request in either direction. */
  idleRequest: 75_000,
  /**
   * Frames that make work and request nothing: cancelled requests, pings and settings. A reader who leaves a page
   * cancels all its requests.
   */
  nuisances: { burst: 200, perSecond: 10 },
} as const;

/** Megabytes that the library may hold for a connection, besides bodies that wait for a replica. */
const SESSION_MEMORY = 2;
/** Frames against the protocol, and requests over the limit, after which the library ends a connection. */
const MAX_FAULTS = 100;

/** A ping after so many bytes is no nuisance. */
const MEASURED_BYTES = 1 << 10;

/** `enableConnectProtocol`: websockets over streams (RFC 8441). */
export const SESSION_OPTIONS: ServerSessionOptions = {
  maxSessionMemory: SESSION_MEMORY,
  maxSessionInvalidFrames: MAX_FAULTS,
  maxSessionRejectedStreams: MAX_FAULTS,
  maxHeaderListPairs: HTTP2.headerPairs,
  maxOutstandingPings: 1,
  maxSettings: 16,
  settings: {
    enablePush: false,
    maxConcurrentStreams: HTTP2.streams,
    maxHeaderListSize: HTTP2.headerBytes,
    enableConnectProtocol: true,
  },
};

/** One request of a connection. */
export interface StreamRequest {
  readonly stream: ServerHttp2Stream;
  readonly head: RequestHead;
  /** Protocol of an extended CONNECT (RFC 8441), such as `websocket`. */
  readonly protocol: string | undefined;
}

export interface SessionOptions {
  /** Room for one more request; undefined if there is none, else what gives it back. */
  readonly room: () => (() => void) | undefined;
  readonly serve: (request: StreamRequest) => void;
}

/** One connection of HTTP/2, with additional limits besides the library's. */
export class Http2Session {
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #options: SessionOptions;
  readonly #nuisances = new RateLimit(HTTP2.nuisances.burst, HTTP2.nuisances.perSecond);
  #requests = 0;
  /** Bytes that had been sent to the client at its last ping. */
  #writtenAtPing = 0;
  #open = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(socket: Socket, options: SessionOptions) {
    this.#socket = socket;
    this.#options = options;
    const session = performServerHandshake(socket, SESSION_OPTIONS);
    this.#session = session;
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) =>
      this.#take(stream, headers, raw),
    );
    session.on("ping", () => this.#notePing());
    session.on("remoteSettings", () => this.#noteNuisance());
    session.on("error", () => this.#end());
    session.once("close", () => {
      clearTimeout(this.#idle);
      socket.destroy();
    });
    this.#wait(HTTP2.firstRequest);
  }

  /** Takes no new requests; open ones get their answers. */
  drain(): void {
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    stream.on("error", () => {});
    // Messages of a call of gRPC are parts, and small ones may be many.
    if (!stream.endAfterHeaders) (isGrpc(headers) ? gatherParts : gatherClientParts)(stream);
    this.#watch(stream);
    if (this.#session.destroyed || stream.destroyed || stream.closed) return;
    this.#requests++;
    if (this.#requests >= HTTP2.requests) this.drain();
    const leave = this.#options.room();
    if (leave === undefined) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    stream.once("close", leave);
    const head = readHead(raw, headers, this.#socket);
    if (head === undefined || isLong(raw)) {
      sendPage(new StreamAnswer(stream), head === undefined ? 400 : 431);
      return;
    }
    const protocol = headers[":protocol"];
    const request = { stream, head, protocol: typeof protocol === "string" ? protocol : undefined };
    this.#limitTime(request);
    this.#options.serve(request);
  }

  /** Counts open requests, and requests that ended without their answer. */
  #watch(stream: ServerHttp2Stream): void {
    this.#open++;
    clearTimeout(this.#idle);
    stream.once("close", () => {
      this.#open--;
      if (this.#open === 0) this.#wait(HTTP2.idleConnection);
      if (wasTakenBack(stream)) this.#noteNuisance();
    });
  }

  #limitTime({ stream, head, protocol }: StreamRequest): void {
    stream.setTimeout(HTTP2.idleRequest, () => stream.close(constants.NGHTTP2_CANCEL));
    // Websockets and calls of gRPC may last.
    if (protocol !== undefined || isGrpc(head.headers)) return;
    const whole = setTimeout(() => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_CANCEL);
    }, HTTP2.request);
    stream.once("close", () => clearTimeout(whole));
    stream.once("end", () => clearTimeout(whole));
  }

  #wait(milliseconds: number): void {
    clearTimeout(this.#idle);
    if (this.#session.destroyed) return;
    this.#idle = setTimeout(() => {
      this.drain();
      // If the client does not end the connection, the server does.
      this.#idle = setTimeout(() => this.#end(), HTTP2.firstRequest);
    }, milliseconds);
  }

  /** Clients of gRPC measure their line with a ping for each piece that they get. */
  #notePing(): void {
    const { bytesWritten } = this.#socket;
    const isMeasure = bytesWritten - this.#writtenAtPing >= MEASURED_BYTES;
    this.#writtenAtPing = bytesWritten;
    if (!isMeasure) this.#noteNuisance();
  }

  #noteNuisance(): void {
    if (this.#session.destroyed || this.#nuisances.take("", performance.now())) return;
    this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    this.#end();
  }

  #end(): void {
    this.#session.destroy();
    this.#socket.destroy();
  }
}

/** Whether it ended otherwise than by its answer. Node.js ends the answer's side of such a stream as if it were whole. */
function wasTakenBack({ rstCode, aborted, headersSent }: ServerHttp2Stream): boolean {
  return rstCode !== constants.NGHTTP2_NO_ERROR || aborted || !headersSent;
}

/** The library never cuts off a client that has not yet read the limits on its sending. */
function isLong(raw: readonly string[]): boolean {
  return raw.reduce((sum, text) => sum + text.length, 0) > HTTP2.headerBytes;
}
