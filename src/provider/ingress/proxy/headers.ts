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

/** A client may not call these a matter of one connection: without them a body would be taken for the next request. */
const NEVER_HOP_BY_HOP = new Set(["content-length", "host"]);

/**
 * What the proxy itself says about the client, the wait for 100 that it already answered, and `Proxy`, which programs
 * behind CGI take for their own setting.
 */
const REPLACED = new Set(["expect", "forwarded", "proxy", "x-real-ip"]);

/** Names and values in turn, as they came, without those of the connection. */
export function endToEnd(message: IncomingMessage): string[] {
  const named = new Set((message.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  const isEndToEnd = (name: string) => NEVER_HOP_BY_HOP.has(name) || !(HOP_BY_HOP.has(name) || named.has(name));
  return filterRaw(message.rawHeaders, isEndToEnd);
}

/** Headers for the replica: those of the client, its address, and the transfer coding of the body. */
export function upstreamHeaders(request: IncomingMessage, proto: "http" | "https"): string[] {
  const headers = filterRaw(endToEnd(request), (name) => !isReplaced(name));
  const address = request.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  headers.push("X-Forwarded-For", address, "X-Real-IP", address, "X-Forwarded-Proto", proto);
  const { host } = request.headers;
  if (host !== undefined) headers.push("X-Forwarded-Host", host);
  if (request.headers["transfer-encoding"] !== undefined) headers.push("Transfer-Encoding", "chunked");
  return headers;
}

/** Many programs treat an underscore as a dash, as in their variables. */
function isReplaced(name: string): boolean {
  const spelled = name.replaceAll("_", "-");
  return REPLACED.has(spelled) || spelled.startsWith("x-forwarded-");
}

function filterRaw(raw: readonly string[], keep: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (keep(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
