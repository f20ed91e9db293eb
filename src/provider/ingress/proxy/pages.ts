import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What the ingress itself answers, one sentence each. */
export const PAGES = {
  400: "The request needs exactly one Host header and a path.",
  404: "No deployment on this provider has this host name.",
  405: "The method TRACE is not passed on.",
  413: "The request body is larger than the deployment allows (http_options.max_body_size).",
  429: "Too many connections from this address are open; close some, and keep those that are idle for the next request.",
  502: "The service broke the connection off before it answered.",
  503: "The service has no replica that is ready; look at lease-status and lease-logs.",
  504: "The service did not answer in time (http_options.read_timeout).",
} as const;

/** The answer to a refused method names the allowed ones (RFC 9110 section 15.5.6). */
const ALLOWED = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

export type PageStatus = keyof typeof PAGES;

/**
 * Sends a page unless an answer is already under way; then the connection is cut, so that nobody mistakes it for
 * complete.
 */
export function sendPage(response: ServerResponse, status: PageStatus): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = `${status} ${PAGES[status]}\n`;
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    ...(status === 405 ? { allow: ALLOWED } : {}),
    // An unread body may follow: the connection cannot be used again.
    connection: "close",
  });
  response.end(body);
}

/** The same on the bare connection of an upgrade. */
export function writePage(socket: Socket, status: PageStatus): void {
  const body = `${status} ${PAGES[status]}\n`;
  const allow = status === 405 ? `Allow: ${ALLOWED}\r\n` : "";
  socket.end(
    `HTTP/1.1 ${status} ${status}\r\n${allow}Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
