import type { TLSSocket } from "node:tls";
import type { RouteTarget } from "../cluster/index.ts";
import { normalHost } from "../hostnames/index.ts";
import type { RequestHead } from "./proxy/exchange.ts";
import type { PageStatus } from "./proxy/pages.ts";
import type { Routes } from "./routes.ts";
import type { Certificates } from "./tls/certificates.ts";

/** The fate of a request: a service gets it, or the client gets a page or a redirect. */
export type Decision =
  | { readonly target: RouteTarget }
  | { readonly page: PageStatus }
  | { readonly location: string }
  | { readonly text: string };

export type Decide = (request: RequestHead) => Decision;

/** Looks first whether any service may get the request. */
export function decideWith(decide: Decide): Decide {
  return (request) => {
    const page = requestFault(request);
    return page === undefined ? decide(request) : { page };
  };
}

/** By the name that the client asks for. */
export function byHost(routes: Known): Decide {
  return ({ headers }) => targetOf(routes, headers.host);
}

type Known = Pick<Routes, "find" | "missing">;

function targetOf(routes: Known, host: string | undefined): Decision {
  const target = routes.find(host);
  return target === undefined ? { page: routes.missing } : { target };
}

/**
 * By the name that the client asks for, if its certificate covers that name. Otherwise one tenant's
 * name would lead to another's service, whose certificate the client has not seen. The gateway's host has connections of its own.
 */
export function byCertifiedHost(routes: Known, certificates: Certificates, gateway?: string): Decide {
  return ({ headers, socket }) => {
    const host = normalHost(headers.host ?? "") ?? "";
    if (host === gateway || !certificates.sameFor(askedName(socket), host)) return { page: 421 };
    return targetOf(routes, host);
  };
}

/** A redirect to the same address over TLS; undefined for hosts without a certificate, and unknown hosts. */
export function toTls(
  { headers, url = "/" }: RequestHead,
  { certificates, routes, port }: { certificates: Certificates; routes: Pick<Routes, "find">; port: number },
): Decision | undefined {
  const host = normalHost(headers.host ?? "");
  if (host === undefined || !certificates.has(host) || routes.find(host) === undefined) return undefined;
  return { location: `${tlsOrigin(host, port)}${url === "*" ? "/" : url}` };
}

export function tlsOrigin(host: string, port: number): string {
  return `https://${host}${port === 443 ? "" : `:${port}`}`;
}

/** The host name that a client asks for in TLS (RFC 6066 section 3); empty if it asks for none. */
export function askedName(socket: object): string {
  const { servername } = socket as Partial<TLSSocket>;
  return typeof servername === "string" ? (normalHost(servername) ?? "") : "";
}

/** The answer to a request that no service gets. TRACE would show a client's script what the proxy has added. */
function requestFault(request: RequestHead): PageStatus | undefined {
  if (request.method === "TRACE") return 405;
  return isPlain(request) && isReadable(request) ? undefined : 400;
}

/** Another transfer coding would be dropped on the way, and the service could not read the body (RFC 9112 section 6.1). */
function isReadable({ headers: { "transfer-encoding": coding = "chunked" } }: RequestHead): boolean {
  return coding.toLowerCase() === "chunked";
}

/** One host and a path: with two hosts, or another one in the address, proxy and replica could see different hosts. */
function isPlain({ rawHeaders, url = "", method }: RequestHead): boolean {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  return hosts.length === 1 && (url.startsWith("/") || (url === "*" && method === "OPTIONS"));
}

/** Where the answers to an ACME server's challenges are shown (RFC 8555 section 8.3). */
export interface Challenges {
  show(token: string, answer: string): Promise<void>;
  hide(token: string): Promise<void>;
}

const PATH = "/.well-known/acme-challenge/";

/** Answers to the challenges of an ACME server, which asks any host name for them over HTTP (RFC 8555 section 8.3). */
export class ChallengeAnswers implements Challenges {
  readonly #answers = new Map<string, string>();

  async show(token: string, answer: string): Promise<void> {
    this.#answers.set(token, answer);
  }

  async hide(token: string): Promise<void> {
    this.#answers.delete(token);
  }

  /** Other tokens are for tenants who have ACME clients of their own. */
  find(path: string | undefined): string | undefined {
    if (this.#answers.size === 0 || path?.startsWith(PATH) !== true) return undefined;
    return this.#answers.get(path.slice(PATH.length));
  }
}
