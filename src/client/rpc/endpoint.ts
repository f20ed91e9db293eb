import { PORTS } from "../../util/index.ts";
import { clientErrors } from "../errors.ts";

/** Characters of a host name, by the rules of DNS. */
const MAX_HOST_NAME = 253;

/** Where a node's RPC interface is. */
export interface Endpoint {
  /** For requests: `http://localhost:26657/`. */
  readonly http: URL;
  /** For subscriptions: `ws://localhost:26657/websocket`. */
  readonly websocket: URL;
}

const SCHEMES: Readonly<Record<string, "http:" | "https:">> = {
  "tcp:": "http:",
  "http:": "http:",
  "https:": "https:",
};

/**
 * Reads a node address: `tcp://host:port`, `http(s)://host[:port][/path]`, or bare `host[:port]`. Without a port the
 * first and the last use 26657, the others the port of their scheme.
 */
export function parseNodeAddress(text: string): Endpoint {
  const trimmed = text.trim();
  const hasScheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\//.test(trimmed);
  const source = hasScheme ? trimmed : `tcp://${trimmed}`;
  const scheme = SCHEMES[source.slice(0, source.indexOf("//")).toLowerCase()];
  // The parser handles ports, paths and IPv6 only for web schemes.
  const rest = source.slice(source.indexOf("//"));
  const http = scheme === undefined || trimmed === "" ? undefined : tryUrl(scheme + rest);
  const isHost = http !== undefined && http.hostname !== "" && http.hostname.length <= MAX_HOST_NAME;
  if (!isHost || http.username !== "" || http.hash !== "" || http.search !== "") {
    // Logs and screens must not show a password in it.
    throw clientErrors.badAddress(JSON.stringify(withoutUser(trimmed).slice(0, 200)));
  }
  if (/^tcp:/i.test(source) && http.port === "" && !/:80\/?$/.test(rest)) http.port = String(PORTS.rpc);
  return { http, websocket: websocketOf(http) };
}

/** By positions: a pattern for this takes the square of the length of a long text without an `@`. */
function withoutUser(text: string): string {
  const at = text.indexOf("@");
  return at < 0 ? text : `${text.slice(0, text.lastIndexOf("/", at) + 1)}...${text.slice(at)}`;
}

function tryUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function websocketOf(http: URL): URL {
  const url = new URL(http);
  url.protocol = http.protocol === "https:" ? "wss:" : "ws:";
  url.pathname = `${http.pathname.replace(/\/$/, "")}/websocket`;
  return url;
}
