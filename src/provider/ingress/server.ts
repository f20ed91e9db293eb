import type { Server as NetServer } from "node:net";
import { type Logger, silentLogger } from "../../util/index.ts";
import { ACCEPT_QUEUE, listenError, parseNetworks } from "../../util/servers/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { BackendRouting, RouteTarget } from "../cluster/index.ts";
import { ClientCounts, type ClientRules, CONNECTIONS_PER_ADDRESS, originOf } from "./clients.ts";
import { byCertifiedHost, byHost, ChallengeAnswers, type Decide, type Decision, decideWith, toTls } from "./decide.ts";
import { Entry } from "./entry.ts";
import type { BrowserGateway } from "./gateway.ts";
import { Forwarder } from "./proxy/forward.ts";
import { Routes, targetKey } from "./routes.ts";
import { Certificates } from "./tls/certificates.ts";

export interface IngressOptions {
  readonly backends: BackendRouting["backends"];
  /** Default 0.0.0.0. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** TLS beside it; nowhere if absent. */
  readonly tls?: IngressTls;
  /** Answers over TLS under its own host name; not at all if absent. */
  readonly gateway?: BrowserGateway;
  readonly log?: Logger;
  /** Open client connections over all hosts, with TLS and without it. */
  readonly maxConnections?: number;
  /** Open requests and websockets of one lease; 1024 by default. */
  readonly openPerLease?: number;
  /** By default 256 connections from one address, and no proxy is trusted. */
  readonly clients?: Partial<ClientRules>;
  /** Listeners of another process so far, from `Ingress.listeners`. */
  readonly inherited?: ReadonlyMap<string, NetServer>;
}

/** TLS for host names. */
export interface IngressTls {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Folders with certificates, checked repeatedly. */
  readonly folders: readonly string[];
  /** Whether requests without TLS for a host that has a certificate are sent to it. */
  readonly redirect: boolean;
}

/** Names of the public listeners, besides those of services. */
export const PUBLIC = "public";
export const PUBLIC_TLS = "public-tls";

const MAX_CONNECTIONS = 4_096;
/** How often the folders of certificates are checked, in milliseconds. */
const LOOK_MS = 2_000;

interface ServicePort {
  target: RouteTarget;
  readonly entry: Entry;
  readonly port: number;
}

/** HTTP reverse proxy in front of the leases: by host name on one port, with TLS on another, and per service on loopback ports. */
export class Ingress {
  readonly routes = new Routes();
  /** Answers for an ACME server over HTTP, before tenants' routes. */
  readonly challenges = new ChallengeAnswers();
  readonly #options: IngressOptions;
  readonly #clients: ClientRules;
  readonly #forwarder: Forwarder;
  readonly #certificates: Certificates;
  readonly #public: Entry;
  readonly #secure: Entry | undefined;
  readonly #servicePorts = new Map<string, ServicePort>();
  #looking: NodeJS.Timeout | undefined;
  #problems: readonly string[] = [];
  #tlsPort = 0;
  #draining = false;

  constructor(options: IngressOptions) {
    this.#options = options;
    this.#clients = { ...NO_RULES, ...options.clients };
    this.#forwarder = new Forwarder({
      backends: (target) => options.backends(target.lease, target.service, target.port),
      isProxy: originOf(this.#clients.forwardedFrom),
      openPerLease: options.openPerLease,
    });
    const counts = new ClientCounts(this.#clients);
    const { tls, gateway } = options;
    const certificates = new Certificates(tls?.folders ?? []);
    this.#certificates = certificates;
    const plain = byHost(this.routes);
    const elsewhere: Decide = (request) =>
      toTls(request, { certificates, routes: this.routes, port: this.#tlsPort }) ?? plain(request);
    const others = tls?.redirect === true ? elsewhere : plain;
    const decide: Decide = (request) => {
      const text = this.challenges.find(request.url);
      return text === undefined ? others(request) : { text };
    };
    this.#public = this.#makeEntry(decide, counts);
    if (tls === undefined) return;
    this.#secure = this.#makeEntry(byCertifiedHost(this.routes, certificates, gateway?.host), counts, certificates);
    this.look();
    this.#looking = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Resolves with the port it listens on; rejects if the port is taken. */
  async listen(): Promise<number> {
    const { port: wanted, host = "0.0.0.0", tls } = this.#options;
    const port = await listen(this.#public.listener, wanted, host, this.#inherit(PUBLIC)).catch((error: unknown) => {
      throw listenError(error, { host, port: wanted, option: "--ingress-listen-address" });
    });
    this.#log.info("ingress listens", { port });
    if (tls !== undefined) await this.#listenTls(tls);
    return port;
  }

  /** Loads certificates that have changed, also before the next regular look. A fault of one is logged once. */
  look(): void {
    const { changed, problems } = this.#certificates.look();
    for (const problem of problems)
      if (!this.#problems.includes(problem)) this.#log.error("certificate not used", { err: problem });
    this.#problems = problems;
    if (changed) this.#log.info("certificates for host names", { names: this.#certificates.names.length });
  }

  /** Routes or addresses are others than before; they are looked up for each request. */
  changed(): void {}

  /** The port for TLS; 0 if there is none. */
  get tlsPort(): number {
    return this.#tlsPort;
  }

  /**
   * Gives the service its own loopback port, which needs no Host header; calling again returns the same port.
   * `preferred` is taken when it is free, so that URLs outlive a restart.
   */
  async exposeService(target: RouteTarget, preferred = 0): Promise<number> {
    const key = targetKey(target);
    const known = this.#servicePorts.get(key);
    if (known !== undefined) {
      known.target = target;
      return known.port;
    }
    const decide = (): Decision => {
      const found = this.#servicePorts.get(key)?.target;
      return found === undefined ? { page: 404 } : { target: found };
    };
    const entry = this.#makeEntry(decide, new ClientCounts(this.#clients));
    const { listener } = entry;
    const port = await listen(listener, preferred, LOOPBACK, this.#inherit(key)).catch(() =>
      listen(listener, 0, LOOPBACK),
    );
    this.#servicePorts.set(key, { target, entry, port });
    return port;
  }

  /** Takes routes and loopback ports of the lease away. */
  async removeLease(id: LeaseKey): Promise<void> {
    this.routes.removeLease(id);
    const text = formatLeaseId(id);
    for (const [key, { target, entry }] of this.#servicePorts) {
      if (formatLeaseId(target.lease) !== text) continue;
      this.#servicePorts.delete(key);
      await entry.close();
    }
  }

  /** The listeners, for a process that takes over: the public ones, and the services' by their target. */
  listeners(): Map<string, NetServer> {
    return new Map([...this.#entries()].map(([key, { listener }]) => [key, listener]));
  }

  /** Loopback ports of services, by their target. */
  servicePorts(): Map<string, number> {
    return new Map([...this.#servicePorts].map(([key, { port }]) => [key, port]));
  }

  /**
   * Takes no new connections; resolves when the last has ended. Open ones get their answers, with the request to
   * reconnect.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    await Promise.all(
      [...this.#entries().values()].map((entry) => {
        entry.drain();
        return new Promise<void>((resolve) => entry.listener.close(() => resolve()));
      }),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await Promise.all([...this.#entries().values()].map((entry) => entry.close()));
    this.#servicePorts.clear();
    this.#forwarder.close();
  }

  #entries(): Map<string, Entry> {
    const services = [...this.#servicePorts].map(([key, { entry }]) => [key, entry] as const);
    const secure = this.#secure === undefined ? [] : [[PUBLIC_TLS, this.#secure] as const];
    return new Map([[PUBLIC, this.#public] as const, ...secure, ...services]);
  }

  get #log(): Logger {
    return this.#options.log ?? silentLogger;
  }

  #inherit(key: string): NetServer | undefined {
    return this.#options.inherited?.get(key);
  }

  async #listenTls({ host, port: wanted }: IngressTls): Promise<void> {
    if (this.#secure === undefined) return;
    const { listener } = this.#secure;
    this.#tlsPort = await listen(listener, wanted, host, this.#inherit(PUBLIC_TLS)).catch((error: unknown) => {
      throw listenError(error, { host, port: wanted, option: "--ingress-tls-listen-address" });
    });
    this.#log.info("ingress listens for TLS", { port: this.#tlsPort });
  }

  #makeEntry(decide: Decide, counts: ClientCounts, certificates?: Certificates): Entry {
    const { gateway } = this.#options;
    return new Entry({
      clients: this.#clients,
      counts,
      maxConnections: this.#options.maxConnections ?? MAX_CONNECTIONS,
      forwarder: this.#forwarder,
      decide: decideWith(decide),
      isDraining: () => this.#draining,
      ...(certificates === undefined ? {} : { certificates }),
      ...(gateway === undefined ? {} : { gateway }),
    });
  }
}

const LOOPBACK = "127.0.0.1";
/** The parts of an ingress that a data plane works with. */
export type PlaneIngress = Pick<
  Ingress,
  | "routes"
  | "challenges"
  | "exposeService"
  | "removeLease"
  | "look"
  | "changed"
  | "listen"
  | "listeners"
  | "drain"
  | "close"
>;

const NO_RULES: ClientRules = {
  connectionsPerAddress: CONNECTIONS_PER_ADDRESS,
  trustedProxies: parseNetworks([]),
  forwardedFrom: parseNetworks([]),
};

function listen(server: NetServer, port: number, host: string, inherited?: NetServer): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const begin = (ready: () => void) =>
      inherited === undefined
        ? server.listen(port, host, ACCEPT_QUEUE, ready)
        : server.listen(inherited, ACCEPT_QUEUE, ready);
    begin(() => {
      server.off("error", reject);
      // A connection that could not be accepted, for example for lack of descriptors, must not end the others.
      server.on("error", () => {});
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
