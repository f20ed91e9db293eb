import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { isIP } from "node:net";

export interface GuardOptions {
  /**
   * Origins of web pages that may read answers; one `*` in each matches any text. Empty = only pages served here.
   */
  readonly corsOrigins: readonly string[];
  /** Names besides `localhost` and IP addresses under which requests over loopback are answered. */
  readonly hosts: readonly string[];
  /** Command-line flags that allow more origins and hosts. */
  readonly flags: { readonly origins: string; readonly hosts: string };
}

export interface Visitor {
  readonly headers: Pick<IncomingHttpHeaders, "host" | "origin">;
  /** The request came over the loopback interface. */
  readonly isLocal: boolean;
}

/**
 * Keeps web pages from talking to a node on the visitor's own machine: a page of another origin is refused unless
 * allowed, and a name that an attacker's server resolves to loopback (DNS rebinding) is not answered. Returns the
 * sentence of the refusal.
 */
export function refusal({ headers, isLocal }: Visitor, options: GuardOptions): string | undefined {
  const host = hostName(headers.host);
  if (isLocal && host !== undefined && !isLocalName(host) && !options.hosts.includes(host)) {
    return `host ${JSON.stringify(host.slice(0, 100))} is not served here; add it with ${options.flags.hosts}`;
  }
  const { origin } = headers;
  if (origin === undefined || isAllowedOrigin(origin, options) || isSameHost(origin, headers.host)) return undefined;
  return `origin ${JSON.stringify(origin.slice(0, 100))} is not allowed; add it with ${options.flags.origins}`;
}

/** Headers that let an allowed page read the answer. */
export function corsHeaders(origin: string | undefined, options: GuardOptions): OutgoingHttpHeaders {
  if (origin === undefined || !isAllowedOrigin(origin, options)) return {};
  const allowed = options.corsOrigins.includes("*") ? "*" : origin;
  return { "Access-Control-Allow-Origin": allowed, Vary: "Origin" };
}

/** Answer headers of a preflight request. */
export const PREFLIGHT_HEADERS: OutgoingHttpHeaders = {
  "Access-Control-Allow-Methods": "GET, HEAD, POST, OPTIONS",
  "Access-Control-Allow-Headers": "Origin, Accept, Content-Type, X-Requested-With, X-Server-Time",
  "Access-Control-Max-Age": "3600",
};

function isAllowedOrigin(origin: string, { corsOrigins }: GuardOptions): boolean {
  return corsOrigins.some((pattern) => matches(origin, pattern));
}

/** One `*` in a pattern matches any text, as in the configuration of CometBFT: `http://localhost:*`. */
function matches(origin: string, pattern: string): boolean {
  const star = pattern.indexOf("*");
  if (star < 0) return origin === pattern;
  const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return origin.length >= start.length + end.length && origin.startsWith(start) && origin.endsWith(end);
}

function isSameHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** The name of a `Host` header without its port. */
function hostName(host: string | undefined): string | undefined {
  return host === undefined
    ? undefined
    : host
        .replace(/:\d+$/, "")
        .replace(/^\[(.*)\]$/, "$1")
        .toLowerCase();
}

function isLocalName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}

/** Whether an address of a socket is a loopback one. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (/^(::ffff:)?127\./.test(address) || address === "::1");
}

/** Address of a server and the clients that it answers; the same for all servers. */
export interface ServerOptions extends Omit<GuardOptions, "flags"> {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly maxOpenConnections: number;
  /** Time within which a client must have read an answer; 30 s when left out. */
  readonly readWithinMs?: number;
}
