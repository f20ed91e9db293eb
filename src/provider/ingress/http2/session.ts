import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import { Allowance } from "../allowance.ts";
import type { RequestHead } from "../proxy/exchange.ts";
import { gatherClientParts } from "../proxy/gather.ts";
import { sendPage } from "../proxy/pages.ts";
import { readHead, StreamAnswer } from "./exchange.ts";
import { HTTP2, SESSION_OPTIONS } from "./limits.ts";

/** One request of a connection. */
export interface StreamRequest {
  readonly stream: ServerHttp2Stream;
  readonly head: RequestHead;
  /** Of an extended CONNECT (RFC 8441), such as `websocket`. */
  readonly protocol: string | undefined;
}

export interface SessionOptions {
  /** Room for one more request; undefined if there is none, else what gives it back. */
  readonly room: () => (() => void) | undefined;
  readonly serve: (request: StreamRequest) => void;
}

/** One connection of HTTP/2, with limits of its own on top of those of the library. */
export class Http2Session {
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #options: SessionOptions;
  readonly #nuisances = new Allowance(HTTP2.nuisances, performance.now());
  #requests = 0;
  #open = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(socket: TLSSocket, options: SessionOptions) {
    this.#socket = socket;
    this.#options = options;
    const session = performServerHandshake(socket, SESSION_OPTIONS);
    this.#session = session;
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) =>
      this.#take(stream, headers, raw),
    );
    session.on("ping", () => this.#noteNuisance());
    session.on("remoteSettings", () => this.#noteNuisance());
    session.on("error", () => this.#end());
    session.once("close", () => {
      clearTimeout(this.#idle);
      socket.destroy();
    });
    this.#wait(HTTP2.firstRequest);
  }

  /** Takes no new requests; those that are open get their answers. */
  drain(): void {
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    stream.on("error", () => {});
    if (!stream.endAfterHeaders) gatherClientParts(stream);
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

  /** Counts requests that are open, and those that ended otherwise than by their answer. */
  #watch(stream: ServerHttp2Stream): void {
    this.#open++;
    clearTimeout(this.#idle);
    stream.once("close", () => {
      this.#open--;
      if (this.#open === 0) this.#wait(HTTP2.idleConnection);
      if (wasTakenBack(stream)) this.#noteNuisance();
    });
  }

  #limitTime({ stream, protocol }: StreamRequest): void {
    stream.setTimeout(HTTP2.idleRequest, () => stream.close(constants.NGHTTP2_CANCEL));
    // A websocket has no end.
    if (protocol !== undefined) return;
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

  #noteNuisance(): void {
    if (this.#session.destroyed || this.#nuisances.take(performance.now())) return;
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

/** A client that has not yet read what it may send is not cut off by the library. */
function isLong(raw: readonly string[]): boolean {
  return raw.reduce((sum, text) => sum + text.length, 0) > HTTP2.headerBytes;
}
