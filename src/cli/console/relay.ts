import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { errorText } from "../../util/index.ts";
import { endAfterBody, type Handler, refuseUpgrade } from "../../util/servers/index.ts";
import { CONNECT_TIMEOUT_MS } from "./limits.ts";

/** The server that answers in the end. */
export interface Upstream {
  /** Origin and the path before that of a request. */
  readonly url: URL;
  /** A connection to it; one to the address of the URL unless given. */
  readonly connection?: Duplex;
}

export interface RelayLimits {
  readonly bodyBytes: number;
  readonly answerBytes: number;
  readonly timeoutMs: number;
}

/** Headers of a request that are passed on; cookies, and whatever names this origin, stay here. */
const ASKED = ["accept", "authorization", "content-type"];
/** Headers of an answer that are passed on. */
const ANSWERED = ["content-type", "retry-after", "x-server-time"];
const HANDSHAKE = ["sec-websocket-key", "sec-websocket-protocol", "sec-websocket-version"];
const SHAKEN = ["sec-websocket-accept", "sec-websocket-protocol"];
/** Types that pages read. A browser runs or shows nothing else that a stranger answers on this origin. */
const PLAIN_TYPE = /^(?:application\/json|text\/plain)(?:;[^,]*)?$/i;
/** A stranger's answer is no page of this origin, however it is opened. */
const HARMLESS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
};

/** Passes requests on to one server, which answers in JSON or plain text. */
export function relayTo(url: URL, limits: RelayLimits): Handler {
  return {
    answer: (request, response) => {
      relay(request, response, { upstream: { url }, limits }).catch(() => response.destroy());
    },
    websocket: (request, socket, head) => relayWebsocket({ request, socket, head }, { url }),
  };
}

/** Passes a request on, and its answer back. Redirects are answers with another type: they are not followed. */
export async function relay(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, limits }: { readonly upstream: Upstream; readonly limits: RelayLimits },
): Promise<void> {
  const sent = open(upstream, request, picked(request.headers, ASKED));
  const late = setTimeout(() => sent.destroy(new Error("no answer in time")), limits.timeoutMs);
  const end = (): void => {
    clearTimeout(late);
    sent.destroy();
  };
  response.once("close", end);
  const fail = (reason: string): void => {
    if (response.headersSent) response.destroy();
    else sendSentence(response, 502, `no answer from ${upstream.url.origin}: ${reason}`);
  };
  sent.once("response", (answer) => {
    const { statusCode = 0 } = answer;
    if (isAnswer(statusCode)) passAnswer(answer, response, limits.answerBytes);
    else fail(`status ${statusCode} is none of an answer`);
  });
  sent.once("upgrade", (_, socket) => {
    socket.destroy();
    fail("it changes to another protocol");
  });
  sent.on("error", (error) => fail(errorText(error)));
  const body = await bodyOf(request, limits.bodyBytes);
  if (body === "too large") return sendTooLarge(response, limits.bodyBytes);
  if (body.length > 0) sent.setHeader("Content-Length", body.length);
  sent.end(body);
}

/** Statuses that end an exchange. Node.js throws for some of the others. */
function isAnswer(status: number): boolean {
  return status >= 200 && status <= 599;
}

/** The whole body of a request. A body that breaks off never ends: the response closes. */
export function bodyOf(request: IncomingMessage, limit: number): Promise<Buffer | "too large"> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on("data", (part: Buffer) => {
      size += part.length;
      if (size > limit) resolve("too large");
      else parts.push(part);
    });
    request.once("end", () => resolve(Buffer.concat(parts)));
  });
}

export function sendTooLarge(response: ServerResponse, limit: number): void {
  const text = JSON.stringify({ code: "console", message: `the body is larger than ${limit} bytes` });
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) };
  response.writeHead(413, { ...headers, Connection: "close", ...HARMLESS });
  endAfterBody(response, text);
}

function passAnswer(answer: IncomingMessage, response: ServerResponse, limit: number): void {
  const status = answer.statusCode ?? 502;
  const headers = picked(answer.headers, ANSWERED);
  if (!PLAIN_TYPE.test(String(headers["content-type"] ?? ""))) headers["content-type"] = "application/octet-stream";
  response.writeHead(status, { ...headers, ...HARMLESS });
  let size = 0;
  answer.on("data", (part: Buffer) => {
    size += part.length;
    // Its reader sees an answer that broke off.
    if (size > limit) response.destroy();
  });
  answer.on("error", () => response.destroy());
  answer.pipe(response);
}

/** A connection that asks to become a websocket. */
export interface Handshake {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Passes a websocket on: the bytes of both sides unchanged, once the server has agreed. */
export function relayWebsocket({ request, socket, head }: Handshake, upstream: Upstream): void {
  const headers = { ...picked(request.headers, HANDSHAKE), connection: "Upgrade", upgrade: "websocket" };
  const sent = open(upstream, request, headers);
  const late = setTimeout(() => sent.destroy(new Error("no answer in time")), CONNECT_TIMEOUT_MS);
  socket.once("close", () => {
    clearTimeout(late);
    sent.destroy();
  });
  sent.once("upgrade", (answer, other, otherHead) => {
    clearTimeout(late);
    const lines = Object.entries(picked(answer.headers, SHAKEN)).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
    socket.write(`${start}${lines.join("")}\r\n`);
    socket.write(otherHead);
    other.write(head);
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      from.once("close", () => to.destroy()).on("error", () => to.destroy());
      from.pipe(to);
    }
  });
  sent.once("response", (answer) => {
    answer.destroy();
    endWith(socket, answer.statusCode ?? 502);
  });
  sent.on("error", () => endWith(socket, 502));
  sent.end();
}

/** Refuses a websocket with the status of the server; browsers show pages no more than that it failed. */
function endWith(socket: Duplex, status: number): void {
  if (status === 403 || status === 404) refuseUpgrade(socket, status === 403 ? "403 Forbidden" : "404 Not Found");
  else
    socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function open({ url, connection }: Upstream, request: IncomingMessage, headers: OutgoingHttpHeaders): ClientRequest {
  const own = url.pathname.replace(/\/$/, "");
  const path = request.url === "/" && own !== "" ? own : `${own}${request.url ?? "/"}`;
  const send = url.protocol === "https:" && connection === undefined ? httpsRequest : httpRequest;
  return send({
    protocol: connection === undefined ? url.protocol : "http:",
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port,
    path,
    method: request.method ?? "GET",
    headers: { ...headers, host: url.host, connection: headers.connection ?? "close" },
    // An agent would make a connection of its own.
    ...(connection === undefined ? { agent: false } : { createConnection: () => connection }),
  });
}

function picked(headers: IncomingMessage["headers"], names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

/** A refusal or a failure, in the form of the gateway's own. */
export function sendSentence(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { code: "console", message });
}

export function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "Content-Type": "application/json", ...HARMLESS });
  response.end(JSON.stringify(value));
}
