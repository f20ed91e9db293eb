import type { RequestHead } from "./exchange.ts";

/** RFC 9110 section 7.6.1: these belong to one connection and are not passed on. */
const HOP_BY_HOP = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A client may not declare these hop-by-hop: without them a body would be read as the next request. */
const NEVER_HOP_BY_HOP = new Set(["content-length", "host"]);

/**
 * What the proxy itself says about the client, the wait for 100 that it already answered, and `Proxy`, which programs
 * behind CGI take for their own setting.
 */
const REPLACED = new Set(["expect", "forwarded", "proxy", "x-real-ip"]);

/** Names and values in turn, as received, without those of the connection. */
export function endToEnd(message: Pick<RequestHead, "headers" | "rawHeaders">): string[] {
  const named = namedByConnection(message.headers.connection);
  const isEndToEnd = (name: string) => NEVER_HOP_BY_HOP.has(name) || !(HOP_BY_HOP.has(name) || named.has(name));
  return filterRaw(message.rawHeaders, isEndToEnd);
}

/** Nearly all `Connection` headers name only headers that are hop-by-hop anyway. */
function namedByConnection(value: string | undefined): ReadonlySet<string> {
  if (value === undefined || COMMON_CONNECTION.has(value)) return NONE;
  return new Set(value.split(",").map((name) => name.trim().toLowerCase()));
}

const NONE: ReadonlySet<string> = new Set();
const COMMON_CONNECTION: ReadonlySet<string> = new Set(["close", "keep-alive", "Keep-Alive"]);

/** Headers for the replica: those of the client, its address, and the transfer coding of the body. */
export function upstreamHeaders(request: RequestHead, proto: "http" | "https", isProxy = false): string[] {
  const headers = filterRaw(endToEnd(request), (name) => !isReplaced(name));
  const address = request.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  const { host } = request.headers;
  const said = isProxy ? saidByProxy(request) : new Map<string, string>();
  const before = said.get("x-forwarded-for");
  headers.push("X-Forwarded-For", before === undefined ? address : `${before}, ${address}`);
  headers.push("X-Real-IP", said.get("x-real-ip") ?? address);
  headers.push("X-Forwarded-Proto", said.get("x-forwarded-proto") ?? proto);
  const forwardedHost = said.get("x-forwarded-host") ?? host;
  if (forwardedHost !== undefined) headers.push("X-Forwarded-Host", forwardedHost);
  const port = said.get("x-forwarded-port");
  if (port !== undefined) headers.push("X-Forwarded-Port", port);
  if (request.headers["transfer-encoding"] !== undefined) headers.push("Transfer-Encoding", "chunked");
  return headers;
}

/** What a proxy in front says about its client: only in these spellings, several of one name as one list. */
const KEPT_OF_PROXIES = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
] as const;

function saidByProxy({ headers }: Pick<RequestHead, "headers">): Map<string, string> {
  return new Map(
    KEPT_OF_PROXIES.flatMap((name) => {
      const value = headers[name];
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? value.join(", ") : value]];
    }),
  );
}

/** Many programs treat an underscore as a dash, as in their variables. */
function isReplaced(name: string): boolean {
  const spelled = name.includes("_") ? name.replaceAll("_", "-") : name;
  return REPLACED.has(spelled) || spelled.startsWith("x-forwarded-");
}

function filterRaw(raw: readonly string[], keep: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const value = raw[at + 1] ?? "";
    if (keep(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
