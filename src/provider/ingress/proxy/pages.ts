import type { Socket } from "node:net";
import type { ClientAnswer } from "./exchange.ts";

/** The ingress's own answers, one sentence each. */
export const PAGES = {
  400: "The request needs exactly one Host header, a path, and no transfer coding but chunked.",
  404: "No deployment on this provider has this host name.",
  405: "The method TRACE is not passed on.",
  413: "The request body is larger than the deployment allows (http_options.max_body_size).",
  421: "This connection was made for another host name; connect again for this one.",
  429: "Too many connections from this address are open; close some, and keep those that are idle for the next request.",
  431: "The headers of the request are longer than 16 KiB.",
  502: "The service broke the connection off before it answered.",
  503: "The service has no replica that is ready, or 1024 requests and websockets open, or the provider is still starting; look at lease-status and lease-logs.",
  504: "The service did not answer in time (http_options.read_timeout).",
} as const;

/** The answer to a refused method names the allowed ones (RFC 9110 section 15.5.6). */
const ALLOWED = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

export type PageStatus = keyof typeof PAGES;

/**
 * Sends a page unless an answer is already under way; then the exchange is cut, so that it cannot be mistaken for
 * complete.
 */
export function sendPage(answer: ClientAnswer, status: PageStatus): void {
  if (answer.begun) {
    answer.cut();
    return;
  }
  const body = `${status} ${PAGES[status]}\n`;
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    ...(status === 405 ? { allow: ALLOWED } : {}),
  };
  answer.page(status, headers, body);
}

/** Sends a text of the proxy's own. */
export function sendText(answer: ClientAnswer, text: string): void {
  const length = String(Buffer.byteLength(text));
  answer.page(
    200,
    { "content-type": "application/octet-stream", "content-length": length, "cache-control": "no-store" },
    text,
  );
}

/** Sends the client to the same address over TLS; the method stays. */
export function sendRedirect(answer: ClientAnswer, location: string): void {
  answer.page(308, { location, "content-length": "0" }, "");
}

/** The same on the bare connection of an upgrade. */
export function writePage(socket: Socket, status: PageStatus): void {
  const body = `${status} ${PAGES[status]}\n`;
  const allow = status === 405 ? `Allow: ${ALLOWED}\r\n` : "";
  socket.end(
    `HTTP/1.1 ${status} ${status}\r\n${allow}Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** A redirect on the bare connection of an upgrade. */
export function writeRedirect(socket: Socket, location: string): void {
  socket.end(`HTTP/1.1 308 308\r\nLocation: ${location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}
