import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from "node:http2";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { RouteTarget } from "../../cluster/index.ts";
import { type AnswerHead, isGrpc, type RequestHead } from "./exchange.ts";
import { gatherParts } from "./gather.ts";
import { combined, endToEnd, filterPairs, rawOf } from "./headers.ts";

/** Longest headers of an answer, in bytes, unless the deployment asks for more (`proxy_buffer_size`). */
const HEADER_BYTES = 16 << 10;
/** Megabytes that the library may hold for a connection of gRPC. */
const SESSION_MEMORY = 2;

/** RFC 9112 section 4. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that HTTP/2 says otherwise. */
const OF_HTTP1 = new Set(["host", "te", "transfer-encoding"]);

export function headerBytes({ proxyBufferSize = 0 }: RouteTarget["options"]): number {
  return Math.max(HEADER_BYTES, proxyBufferSize);
}

/** A request as a replica gets it. */
export interface ReplicaRequest {
  readonly head: RequestHead;
  readonly target: RouteTarget;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly hasBody: boolean;
}

/** The answer of a replica, in whichever version of HTTP it came. */
export interface ReplicaAnswer extends AnswerHead {
  readonly body: Readable & { setTimeout(milliseconds: number, callback: () => void): unknown };
  /** Whether all of the body came. */
  isComplete(): boolean;
  /** Names and values in turn; known when the body has ended. */
  trailers(): readonly string[];
  destroy(): void;
}

/** Events of a request. An answer or a failure is the last one. */
export interface CallEvents {
  connected(): void;
  /** An informational answer (RFC 9110 section 15.2), which may come before the answer. */
  information(): void;
  answer(answer: ReplicaAnswer): void;
  failed(): void;
}

/** A request on its way to a replica. */
export interface ReplicaCall {
  /** Takes the request's body. */
  readonly body: Writable;
  trail(trailers: readonly string[]): void;
  destroy(): void;
}

/** Connections to replicas: of HTTP/1, or of HTTP/2 with prior knowledge for gRPC. */
export class Replicas {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: 4_000 });
  /** Each connection of a client has its own to a replica, so that no client waits for the streams of another. */
  readonly #sessions = new WeakMap<Socket, Map<string, ClientHttp2Session>>();

  /** Sends the headers of a request. Throws if they cannot be sent. */
  call(address: string, request: ReplicaRequest, events: CallEvents): ReplicaCall {
    if (!isGrpc(request.head.headers)) return this.#callHttp1(address, request, events);
    return callHttp2(this.#session(address, request), request, events);
  }

  close(): void {
    this.#agent.destroy();
  }

  #callHttp1(address: string, { head, target, headers, hasBody }: ReplicaRequest, events: CallEvents): ReplicaCall {
    const { host, port } = placeOf(address);
    const upstream = httpRequest({
      host,
      port,
      method: head.method ?? "GET",
      path: head.url ?? "/",
      headers,
      setHost: false,
      maxHeaderSize: headerBytes(target.options),
      // An idle connection may close under a request; only what can be repeated is sent over one.
      agent: hasBody ? false : this.#agent,
    });
    upstream.on("error", events.failed);
    upstream.on("information", events.information);
    upstream.on("response", (answer) => events.answer(http1Answer(answer)));
    onConnected(upstream, events.connected);
    return {
      body: upstream,
      trail: (trailers) => upstream.addTrailers(combined(trailers)),
      destroy: () => void upstream.destroy(),
    };
  }

  #session(address: string, { head, target }: ReplicaRequest): ClientHttp2Session {
    const { socket } = head;
    const open = this.#sessions.get(socket) ?? this.#openFor(socket);
    const known = open.get(address);
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(`http://${address}`, {
      maxSessionMemory: SESSION_MEMORY,
      settings: { enablePush: false, maxHeaderListSize: headerBytes(target.options) },
    });
    session.on("error", () => session.destroy());
    open.set(address, session);
    return session;
  }

  #openFor(socket: Socket): Map<string, ClientHttp2Session> {
    const open = new Map<string, ClientHttp2Session>();
    this.#sessions.set(socket, open);
    socket.once("close", () => {
      for (const session of open.values()) session.destroy();
    });
    return open;
  }
}

export function placeOf(address: string): { readonly host: string; readonly port: string } {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: address.slice(colon + 1) };
}

function onConnected(upstream: ClientRequest, ready: () => void): void {
  upstream.once("socket", (socket) => {
    if (socket.connecting) socket.once("connect", ready);
    else ready();
  });
}

function http1Answer(answer: IncomingMessage): ReplicaAnswer {
  if (answer.headers["content-length"] === undefined) gatherParts(answer);
  const { statusCode = 502, statusMessage = "" } = answer;
  return {
    status: statusCode,
    // A reason that holds control characters is left out: clients ignore it (RFC 9110 section 15.1).
    reason: REASON.test(statusMessage) ? statusMessage : "",
    headers: endToEnd(answer),
    isBare: false,
    body: answer,
    isComplete: () => answer.complete,
    trailers: () => answer.rawTrailers,
    destroy: () => void answer.destroy(),
  };
}

function callHttp2(session: ClientHttp2Session, request: ReplicaRequest, events: CallEvents): ReplicaCall {
  const { method = "POST", url = "/", headers: received } = request.head;
  const headers = {
    ":method": method,
    ":path": url,
    ":authority": received.host ?? "",
    ":scheme": "http",
    ...combined(filterPairs(request.headers, (name) => !OF_HTTP1.has(name))),
    te: "trailers",
  };
  const stream = session.request(headers, { endStream: false, waitForTrailers: true });
  let trailers: readonly string[] = [];
  stream.on("wantTrailers", () => stream.sendTrailers(combined(trailers)));
  stream.on("headers", events.information);
  stream.on("response", (answer) => events.answer(http2Answer(stream, answer)));
  stream.on("error", events.failed);
  stream.once("close", events.failed);
  if (stream.pending) stream.once("ready", events.connected);
  else setImmediate(events.connected);
  return {
    body: stream,
    trail: (all) => {
      trailers = all;
    },
    destroy: () => stream.close(constants.NGHTTP2_CANCEL),
  };
}

function http2Answer(
  stream: ClientHttp2Stream,
  headers: IncomingHttpHeaders & IncomingHttpStatusHeader,
): ReplicaAnswer {
  let trailers: string[] = [];
  stream.on("trailers", (all) => {
    trailers = rawOf(all);
  });
  const isBare = stream.endAfterHeaders;
  if (!isBare) gatherParts(stream);
  return {
    status: headers[":status"] ?? 502,
    reason: "",
    headers: endToEnd({ rawHeaders: rawOf(headers), headers: {} }),
    isBare,
    body: stream,
    isComplete: () => stream.readableEnded && !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR,
    trailers: () => trailers,
    destroy: () => stream.close(constants.NGHTTP2_CANCEL),
  };
}
