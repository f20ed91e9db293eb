import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** RFC 9110 section 7.6.1: these belong to one connection and are not passed on. */
const HOP_BY_HOP = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/** A client may not declare these hop-by-hop: without them a body would be read as the next request. */
const NEVER_HOP_BY_HOP = new Set(["content-length", "host"]);

/**
 * Replaced by the proxy's own facts about the client, the wait for 100 that it already answered, and `Proxy`, which
 * programs behind CGI take for their own setting.
 */
const REPLACED = new Set(["expect", "forwarded", "proxy", "x-real-ip"]);

/** Fields that say where a message goes or how it is read: they may not come after it (RFC 9110 section 6.5.1). */
const NEVER_TRAILERS = new Set(["content-length", "content-encoding", "content-type", "host", "trailer"]);

/** Headers of a message as they were received; `rawHeaders` are names and values in turn. */
interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

interface ReceivedFrom extends Received {
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Names and values in turn, as received, without the connection's own. */
export function endToEnd(message: Received): string[] {
  const named = namedByConnection(message.headers.connection);
  // Trailers follow a body whose length is not announced.
  const isWhole = message.headers["content-length"] !== undefined;
  const isEndToEnd = (name: string) =>
    NEVER_HOP_BY_HOP.has(name) || !(HOP_BY_HOP.has(name) || named.has(name) || (isWhole && name === "trailer"));
  return filterPairs(message.rawHeaders, isEndToEnd);
}

/** Nearly all `Connection` headers name only headers that are hop-by-hop anyway. */
function namedByConnection(value: string | undefined): ReadonlySet<string> {
  if (value === undefined || COMMON_CONNECTION.has(value)) return NONE;
  return new Set(value.split(",").map((name) => name.trim().toLowerCase()));
}

const NONE: ReadonlySet<string> = new Set();
const COMMON_CONNECTION: ReadonlySet<string> = new Set(["close", "keep-alive", "Keep-Alive"]);

/** Headers for the replica: the client's own, its address, and the transfer coding of the body. */
export function upstreamHeaders(request: ReceivedFrom, proto: "http" | "https", isProxy = false): string[] {
  const headers = filterPairs(endToEnd(request), (name) => !isReplaced(name));
  const address = request.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  const { host, te } = request.headers;
  const said = isProxy ? saidByProxy(request) : new Map<string, string>();
  const before = said.get("x-forwarded-for");
  headers.push("X-Forwarded-For", before === undefined ? address : `${before}, ${address}`);
  headers.push("X-Real-IP", said.get("x-real-ip") ?? address);
  headers.push("X-Forwarded-Proto", said.get("x-forwarded-proto") ?? proto);
  const forwardedHost = said.get("x-forwarded-host") ?? host;
  if (forwardedHost !== undefined) headers.push("X-Forwarded-Host", forwardedHost);
  const port = said.get("x-forwarded-port");
  if (port !== undefined) headers.push("X-Forwarded-Port", port);
  // Some services send trailers only to those who say that they read them.
  if (typeof te === "string" && /\btrailers\b/i.test(te)) headers.push("TE", "trailers");
  if (request.headers["transfer-encoding"] !== undefined) headers.push("Transfer-Encoding", "chunked");
  return headers;
}

/** Trailers that may be passed on in either direction: none that would replace what the proxy checked or added. */
export function passedTrailers(raw: readonly string[]): string[] {
  return filterPairs(raw, (name) => !(HOP_BY_HOP.has(name) || NEVER_TRAILERS.has(name) || isReplaced(name)));
}

/** Headers of a proxy in front about its client: only in these spellings, several of one name as one list. */
const KEPT_OF_PROXIES = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
] as const;

function saidByProxy({ headers }: Pick<Received, "headers">): Map<string, string> {
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

/** Names and values in turn, of which the lower-case names are asked for. */
export function filterPairs(raw: readonly string[], keep: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const value = raw[at + 1] ?? "";
    if (keep(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

export function withoutHeader(raw: readonly string[], unwanted: string): string[] {
  return filterPairs(raw, (name) => name !== unwanted);
}

export function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? "", raw[at + 1] ?? ""]);
  return pairs;
}

/** Headers as HTTP/2 takes them: several of one name become a list (RFC 9110 section 5.3), except cookies of answers. */
export function combined(raw: readonly string[]): Record<string, string | string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairsOf(raw)) {
    const key = name.toLowerCase();
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  const entries = [...values].map(([name, all]) => [name, name === "set-cookie" ? all : all.join(", ")] as const);
  return Object.fromEntries(entries);
}

/** Headers as HTTP/2 gave them, names and values in turn, without pseudo-headers. */
export function rawOf(headers: OutgoingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (name.startsWith(":") || value === undefined) return [];
    return (Array.isArray(value) ? value : [String(value)]).flatMap((each) => [name, each]);
  });
}
