import { Resolver } from "node:dns/promises";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { errorText, type Logger } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { isPublicAddress } from "../../shared/index.ts";
import type { AllowedRegistry } from "./allowed.ts";
import { MAX_ADDRESSES, MAX_REDIRECTS, SILENCE_MS } from "./limits.ts";

export interface NetworkOptions {
  readonly allowed: readonly AllowedRegistry[];
  readonly log: Logger;
  /** Addresses of a name; asks the name servers by default. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Interfaces of this machine; asks the system by default. */
  readonly interfaces?: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
  /** Certificates of authorities beside the usual ones. */
  readonly ca?: string;
}

export interface Ask {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
const RESOLVER = { timeout: 3_000, tries: 2 };

/**
 * The only way in which the provider connects on behalf of a tenant. A name is resolved once, each address is checked,
 * and the connection goes to the checked address itself: a name server that answers something else the next time gains
 * nothing. The same holds for every redirect. No connection is made to an address that is not allowed.
 */
export class RegistryNetwork {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Where a registry named in an image is asked. */
  origin(registry: string): string {
    // Images of Docker Hub are named after a host other than the one that serves them.
    const host = registry === "docker.io" ? "registry-1.docker.io" : registry;
    const plain = this.#options.allowed.some((each) => each.plain && isHost(each, host));
    const origin = `${plain ? "http" : "https"}://${host}`;
    if (!URL.canParse(origin)) throw clusterErrors.imageInvalid(`"${registry}" is not the host of a registry`);
    return new URL(origin).origin;
  }

  /** The answer after redirects, its body not read yet. Errors name `registry` and no place that it redirects to. */
  async get(url: URL, registry: string, ask: Ask): Promise<IncomingMessage> {
    let [target, headers] = [url, ask.headers];
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await this.#connect(target, registry, { headers, signal: ask.signal });
      const { location } = response.headers;
      if (!REDIRECTS.has(response.statusCode) || location === undefined) return response;
      response.destroy();
      if (!URL.canParse(location, target.href)) break;
      const next = new URL(location, target);
      // Passwords and tokens are only sent to the place that they were given for.
      if (next.origin !== target.origin) headers = withoutSecrets(headers);
      target = next;
    }
    throw clusterErrors.registryRefused(`registry ${registry} redirects without end`);
  }

  async #connect(url: URL, registry: string, ask: Ask): Promise<IncomingMessage> {
    const addresses = await this.#addresses(url, registry);
    ask.signal.throwIfAborted();
    try {
      return await open(url, addresses, { ...ask, ca: this.#options.ca });
    } catch (error) {
      if (ask.signal.aborted) throw error;
      this.#options.log.debug("registry not reached", { registry, host: url.host, err: errorText(error) });
      throw unreachable(registry, error);
    }
  }

  async #addresses(url: URL, registry: string): Promise<readonly string[]> {
    const { allowed, interfaces, log } = this.#options;
    const plain = url.protocol === "http:";
    const isAllowed = allowed.some((each) => each.plain === plain && isHost(each, url.host));
    if (url.protocol !== "https:" && !isAllowed) throw notAllowed(registry);
    const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const resolve = this.#options.resolve ?? (isAllowed ? lookUpHere : lookUp);
    const found = isIP(name) === 0 ? await resolve(name).catch(() => []) : [name];
    const open = isAllowed ? found : found.filter((address) => isPublicAddress(address, interfaces?.()));
    if (open.length > 0) return open.slice(0, MAX_ADDRESSES);
    log.info("a registry without an address that tenants may reach", { registry, host: url.host, found });
    throw notAllowed(registry);
  }
}

/** The same sentence whether a name does not exist or leads inside: it reveals nothing about the networks here. */
function notAllowed(registry: string): Error {
  return clusterErrors.registryNotAllowed(
    `registry ${registry} has no public address with TLS; use one on the internet, or ask the provider to allow it`,
  );
}

function isHost({ host, plain }: AllowedRegistry, other: string): boolean {
  const url = `${plain ? "http" : "https"}://${other}`;
  return URL.canParse(url) && new URL(url).host === host;
}

function withoutSecrets(headers: Ask["headers"]): Ask["headers"] {
  const { authorization: _secret, ...rest } = headers;
  return rest;
}

/**
 * Asks the name servers alone: names that only this machine knows are not for tenants, and the system's own look-up would take
 * threads that the provider's files need.
 */
async function lookUp(name: string): Promise<readonly string[]> {
  const resolver = new Resolver(RESOLVER);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}

/** Names that the operator has allowed may be in this machine's own table. */
async function lookUpHere(name: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

interface Connection extends Ask {
  readonly ca: string | undefined;
}

function open(url: URL, addresses: readonly string[], { headers, signal, ca }: Connection): Promise<IncomingMessage> {
  const options = {
    method: "GET",
    headers: { "user-agent": "svc", "accept-encoding": "identity", ...headers },
    signal,
    agent: false,
    timeout: SILENCE_MS,
    lookup: pinned(addresses),
    autoSelectFamily: true,
  } as const;
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === "https:"
        ? tlsRequest(url, { ...options, ...(ca === undefined ? {} : { ca }) }, resolve)
        : plainRequest(url, options, resolve);
    request.on("timeout", () => request.destroy(Object.assign(new Error("silent"), { code: "ETIMEDOUT" })));
    request.on("error", reject);
    request.end();
  });
}

/** Answers with the addresses that were checked, whatever the name servers answer by now. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, callback) => {
    const [first] = all;
    if (options.all === true) callback(null, all);
    else callback(null, first?.address ?? "", first?.family ?? 4);
  };
}

const TLS_FAULT = /^(?:CERT_|ERR_TLS|ERR_SSL|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_)/;

/** Classes of faults only: the system's messages name addresses. */
function unreachable(registry: string, error: unknown): Error {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  const why = TLS_FAULT.test(code) ? "TLS fails or its certificate is not valid" : "it does not answer";
  return clusterErrors.registryUnreachable(`registry ${registry} cannot be reached (${why})`, { cause: error });
}
