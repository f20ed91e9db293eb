import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { endAfterBody } from "../../../util/servers/index.ts";
import { pairsOf, withoutHeader } from "./headers.ts";

/** Head of a request, of any version of HTTP. */
export interface RequestHead {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  /** Names and values in turn, as received; none is a pseudo-header of HTTP/2. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  /** The client's connection. */
  readonly socket: Socket;
}

/** How an answer begins. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Nothing follows the headers; gRPC tells an error of a call in this way. */
  readonly isBare: boolean;
}

/** Where the answer goes. */
export interface ClientAnswer {
  /** Takes the answer's body after `begin`. */
  readonly body: Writable;
  readonly begun: boolean;
  /** The client no longer waits for the answer. */
  readonly gone: boolean;
  begin(head: AnswerHead): void;
  /** Fields that follow the body, names and values in turn; called before the body ends. */
  trail(trailers: readonly string[]): void;
  /** A whole answer of the proxy's own, after which nothing more of the request is read. */
  page(status: number, headers: Readonly<Record<string, string>>, body: string): void;
  /** Ends the answer so that the sent part cannot be mistaken for a complete one. */
  cut(): void;
  /** At most one call of each listener. */
  onGone(listener: () => void): void;
  offGone(listener: () => void): void;
}

/** One request with the place for its answer. */
export interface Exchange {
  readonly head: RequestHead;
  readonly hasBody: boolean;
  readonly body: Readable;
  /** Fields that followed the body, names and values in turn; known when it has ended. */
  readonly trailers: () => readonly string[];
  readonly answer: ClientAnswer;
}

/** Whether the client's connection is encrypted, which services learn from a header. */
export function protoOf(socket: Socket): "http" | "https" {
  return "encrypted" in socket ? "https" : "http";
}

/** Calls of gRPC need HTTP/2 up to the service; gRPC-Web, which begins with the same letters, does not. */
export function isGrpc({ "content-type": type }: IncomingHttpHeaders): boolean {
  return type !== undefined && /^application\/grpc(?:[+;]|$)/i.test(type);
}

const ABSOLUTE = /^https?:\/\/([^/?#@\s]+)(\/[^#\s]*|\?[^#\s]*)?$/i;

/**
 * The request with a path, also where it names the whole address (RFC 9112 section 3.2.2): then the host of the address
 * counts, and the Host header does not.
 */
export function originForm(request: IncomingMessage): RequestHead {
  const { method, url = "/", rawHeaders, headers, socket } = request;
  if (url.startsWith("/")) return request;
  const [, host, rest = ""] = ABSOLUTE.exec(url) ?? [];
  if (host === undefined) return request;
  const path = rest === "" && method === "OPTIONS" ? "*" : rest.startsWith("/") ? rest : `/${rest}`;
  const raw = rawHeaders.map((value, at) =>
    rawHeaders[at - 1]?.toLowerCase() === "host" && at % 2 === 1 ? host : value,
  );
  return { method, url: path, rawHeaders: raw, headers: { ...headers, host }, socket };
}

/** An exchange of HTTP/1. */
export function exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
  const length = Number(request.headers["content-length"] ?? 0);
  const hasBody = length > 0 || request.headers["transfer-encoding"] !== undefined;
  return {
    head: originForm(request),
    hasBody,
    body: request,
    trailers: () => request.rawTrailers,
    answer: new Http1Answer(response, hasBody),
  };
}

class Http1Answer implements ClientAnswer {
  readonly body: ServerResponse;
  readonly #hasRequestBody: boolean;

  constructor(response: ServerResponse, hasRequestBody: boolean) {
    this.body = response;
    this.#hasRequestBody = hasRequestBody;
  }

  get begun(): boolean {
    return this.body.headersSent;
  }

  get gone(): boolean {
    return this.body.destroyed;
  }

  begin({ status, reason, headers }: AnswerHead): void {
    const { method, httpVersion } = this.body.req;
    // Trailers follow a chunked body only, which these answers do not have.
    const isWhole = httpVersion === "1.0" || method === "HEAD" || status === 204 || status === 304;
    this.body.writeHead(status, reason, isWhole ? withoutHeader(headers, "trailer") : [...headers]);
  }

  trail(trailers: readonly string[]): void {
    if (trailers.length > 0) this.body.addTrailers(pairsOf(trailers));
  }

  page(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    // An unread body may follow: the connection cannot be used again.
    this.body.writeHead(status, { ...headers, connection: "close" });
    if (this.#hasRequestBody) endAfterBody(this.body, body);
    else this.body.end(body);
  }

  cut(): void {
    this.body.destroy();
  }

  onGone(listener: () => void): void {
    this.body.once("close", listener);
  }

  offGone(listener: () => void): void {
    this.body.off("close", listener);
  }
}
