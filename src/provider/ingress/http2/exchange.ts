import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { AnswerHead, ClientAnswer, Exchange, RequestHead } from "../proxy/exchange.ts";
import { combined, endToEnd, rawOf, withoutHeader } from "../proxy/headers.ts";
import { type PageStatus, sendPage } from "../proxy/pages.ts";
import type { Tunnel } from "../proxy/upgrade.ts";

/** How long after an answer its client may go on with the request; without that time it could lose trailers. Milliseconds. */
const LINGER_MS = 500;

/** Headers that are rewritten. */
const REBUILT = new Set(["host", "cookie"]);

/**
 * The request as HTTP/1 would say it (RFC 9113 section 8.3): the authority becomes the one Host header, and cookies,
 * which may come in pieces, become one. Undefined if authority and Host differ, or neither is there.
 */
export function readHead(
  raw: readonly string[],
  headers: IncomingHttpHeaders,
  socket: Socket,
): RequestHead | undefined {
  const hosts = new Set(valuesOf(raw, ":authority", "host"));
  const [host] = hosts;
  if (host === undefined || hosts.size > 1) return undefined;
  const rest: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (!name.startsWith(":") && !REBUILT.has(name)) rest.push(name, value);
  }
  const cookies = valuesOf(raw, "cookie");
  const own = cookies.length === 0 ? ["host", host] : ["host", host, "cookie", cookies.join("; ")];
  const ordinary = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  return {
    method: headers[":method"],
    url: headers[":path"],
    rawHeaders: [...own, ...rest],
    headers: { ...Object.fromEntries(ordinary), host },
    socket,
  };
}

function valuesOf(raw: readonly string[], ...names: readonly string[]): string[] {
  return raw.filter((_, at) => at % 2 === 1 && names.includes(raw[at - 1] ?? ""));
}

/** One stream with the place for its answer. */
export function streamExchange(stream: ServerHttp2Stream, head: RequestHead): Exchange {
  let trailers: readonly string[] = [];
  stream.on("trailers", (all) => {
    trailers = rawOf(all);
  });
  const answer = new StreamAnswer(stream);
  return { head, hasBody: !stream.endAfterHeaders, body: stream, trailers: () => trailers, answer };
}

export class StreamAnswer implements ClientAnswer {
  readonly body: ServerHttp2Stream;
  #trailers: readonly string[] = [];

  constructor(stream: ServerHttp2Stream) {
    this.body = stream;
  }

  get begun(): boolean {
    return this.body.headersSent;
  }

  get gone(): boolean {
    return this.body.closed || this.body.destroyed || this.body.aborted;
  }

  /** There is no reason in HTTP/2. */
  begin({ status, headers, isBare }: AnswerHead): void {
    if (this.gone) return;
    this.body.once("wantTrailers", () => this.body.sendTrailers(combined(this.#trailers)));
    this.body.respond({ ":status": status, ...combined(headers) }, { endStream: isBare, waitForTrailers: !isBare });
    this.#endAfterAnswer(LINGER_MS);
  }

  trail(trailers: readonly string[]): void {
    this.#trailers = trailers;
  }

  page(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    if (this.gone) return;
    this.body.respond({ ":status": status, ...headers });
    this.#endAfterAnswer(0);
    this.body.end(body);
  }

  cut(): void {
    this.body.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** A client that takes a request back is noticed before the end of its body would look like a whole one. */
  onGone(listener: () => void): void {
    this.body.on("aborted", listener).on("close", listener);
  }

  offGone(listener: () => void): void {
    this.body.off("aborted", listener).off("close", listener);
  }

  /** The rest of the request's body is not needed (RFC 9113 section 8.1). */
  #endAfterAnswer(lingerMs: number): void {
    const end = () => {
      if (!this.body.readableEnded) this.body.close(constants.NGHTTP2_NO_ERROR);
    };
    this.body.once("finish", () => {
      if (lingerMs === 0) return end();
      const timer = setTimeout(end, lingerMs);
      this.body.once("close", () => clearTimeout(timer));
    });
  }
}

/** A websocket over a stream (RFC 8441), which is an upgrade for the replica. */
export function streamTunnel(stream: ServerHttp2Stream, head: RequestHead): Tunnel {
  const answer = new StreamAnswer(stream);
  return {
    head: upgradeHead(head),
    client: stream,
    rest: Buffer.alloc(0),
    page: (status: PageStatus) => sendPage(answer, status),
    // The accept key says that the replica took the upgrade; over a stream the status does.
    accept: (upgraded: IncomingMessage) =>
      begin(answer, 200, withoutHeader(endToEnd(upgraded), "sec-websocket-accept")),
    refuse: (refusal: IncomingMessage) => begin(answer, refusal.statusCode ?? 502, endToEnd(refusal)),
  };
}

/** Headers of a replica that HTTP/2 cannot carry end this stream alone. */
function begin(answer: StreamAnswer, status: number, headers: readonly string[]): void {
  try {
    answer.begin({ status, reason: "", headers, isBare: false });
  } catch {
    answer.cut();
  }
}

/** RFC 6455 section 4.1 asks for a key, which streams do not have. */
function upgradeHead(head: RequestHead): RequestHead {
  const key = randomBytes(16).toString("base64");
  const rawHeaders = [...withoutHeader(head.rawHeaders, "sec-websocket-key"), "Sec-WebSocket-Key", key];
  return { ...head, method: "GET", rawHeaders };
}
