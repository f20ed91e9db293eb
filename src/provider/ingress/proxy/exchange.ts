import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

/** How long what is left of a refused request's body is read; milliseconds. */
const LINGER_MS = 500;

/** What a request says, in whichever version of HTTP it came. */
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

/** Where the answer goes. */
export interface ClientAnswer {
  /** Takes the answer's body after `begin`. */
  readonly body: Writable;
  readonly begun: boolean;
  /** Nobody waits for the answer any more. */
  readonly gone: boolean;
  begin(status: number, reason: string, headers: readonly string[]): void;
  /** A whole answer of the proxy's own, after which nothing more of the request is read. */
  page(status: number, headers: Readonly<Record<string, string>>, body: string): void;
  /** Ends it so that nobody mistakes what was sent for a complete answer. */
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
  readonly answer: ClientAnswer;
}

/** Whether the client's connection is encrypted, which services learn from a header. */
export function protoOf(socket: Socket): "http" | "https" {
  return "encrypted" in socket ? "https" : "http";
}

/** An exchange of HTTP/1. */
export function exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
  const length = Number(request.headers["content-length"] ?? 0);
  const hasBody = length > 0 || request.headers["transfer-encoding"] !== undefined;
  return { head: request, hasBody, body: request, answer: new Http1Answer(response, hasBody) };
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

  begin(status: number, reason: string, headers: readonly string[]): void {
    this.body.writeHead(status, reason, [...headers]);
  }

  page(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    // An unread body may follow: the connection cannot be used again.
    this.body.writeHead(status, { ...headers, connection: "close" });
    if (!this.#hasRequestBody || this.body.req.complete) this.body.end(body);
    else this.#linger(body);
  }

  /**
   * What is left of the request's body is read for a while and dropped: a client that is still sending when its connection
   * ends would lose the answer (RFC 9112 section 9.6).
   */
  #linger(body: string): void {
    const request = this.body.req;
    const end = () => {
      clearTimeout(timer);
      this.body.end();
    };
    const timer = setTimeout(end, LINGER_MS);
    this.body.write(body);
    request.once("end", end).once("close", end).resume();
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
