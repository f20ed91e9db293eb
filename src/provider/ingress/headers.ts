import type { IncomingMessage } from "node:http";

/** RFC 9110 section 7.6.1: these belong to one connection and are not passed on. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What the proxy itself says about the client, and the wait for 100 that it already answered. */
const REPLACED = new Set([
  "expect",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
]);

/** Names and values in turn, as they came, without those of the connection. */
export function endToEnd(message: IncomingMessage): string[] {
  const named = new Set((message.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return filterRaw(message.rawHeaders, (name) => !HOP_BY_HOP.has(name) && !named.has(name));
}

/** Headers for the replica: those of the client, its address, and the transfer coding of the body. */
export function upstreamHeaders(request: IncomingMessage, proto: "http" | "https"): string[] {
  const headers = filterRaw(endToEnd(request), (name) => !REPLACED.has(name));
  const address = request.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  headers.push("X-Forwarded-For", address, "X-Real-IP", address, "X-Forwarded-Proto", proto);
  const { host } = request.headers;
  if (host !== undefined) headers.push("X-Forwarded-Host", host);
  if (request.headers["transfer-encoding"] !== undefined) headers.push("Transfer-Encoding", "chunked");
  return headers;
}

function filterRaw(raw: readonly string[], keep: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (keep(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
