import type { Server } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { type Logger, silentLogger } from "../../util/index.ts";
import { ACCEPT_QUEUE, listenError, parseNetworks } from "../../util/servers/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { BackendRouting, RouteTarget } from "../cluster/index.ts";
import { ClientCounts, type ClientRules, CONNECTIONS_PER_ADDRESS, limitClients, originOf } from "./clients.ts";
import { byCertifiedHost, byHost, type Decide, decideWith, targetOr404, toTls } from "./decide.ts";
import { ChallengeAnswers } from "./proxy/challenges.ts";
import { Forwarder } from "./proxy/forward.ts";
import { serveHttp1 } from "./proxy/http1.ts";
import { Routes, targetKey } from "./routes.ts";
import { SecureIngress } from "./secure.ts";
import { Certificates } from "./tls/certificates.ts";

export interface IngressOptions {
  readonly backends: BackendRouting["backends"];
  /** Default 0.0.0.0. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** TLS beside it; nowhere if absent. */
  readonly tls?: IngressTls;
  readonly log?: Logger;
  /** Open client connections over all hosts, with TLS and without it. */
  readonly maxConnections?: number;
  /** Requests and websockets of one lease that may be open at once; 1024 by default. */
  readonly openPerLease?: number;
  /** By default 256 connections from one address, and no proxy is trusted. */
  readonly clients?: Partial<ClientRules>;
  /** What another process has listened with so far, by `Ingress.listeners`. */
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

interface ServicePort {
  target: RouteTarget;
  readonly server: Server;
  readonly port: number;
}

/** HTTP reverse proxy in front of the leases: by host name on one port, with TLS on another, and per service on loopback ports. */
export class Ingress {
  readonly routes = new Routes();
  /** What an ACME server asks for over HTTP, before tenants' routes. */
  readonly challenges = new ChallengeAnswers();
  readonly #options: IngressOptions;
  readonly #clients: ClientRules;
  readonly #forwarder: Forwarder;
  readonly #server: Server;
  readonly #secure: SecureIngress | undefined;
  readonly #servicePorts = new Map<string, ServicePort>();
  readonly #sockets = new Map<Server, Set<Socket>>();
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
    const { tls } = options;
    const certificates = new Certificates(tls?.folders ?? []);
    const plain = byHost(this.routes);
    const elsewhere: Decide = (request) =>
      toTls(request, { certificates, routes: this.routes, port: this.#tlsPort }) ?? plain(request);
    const others = tls?.redirect === true ? elsewhere : plain;
    const decide: Decide = (request) => {
      const text = this.challenges.find(request.url);
      return text === undefined ? others(request) : { text };
    };
    this.#server = this.#makeServer(decide, counts);
    if (tls !== undefined) this.#secure = this.#makeSecure(certificates, counts);
  }

  /** Resolves with the port it listens on; rejects if the port is taken. */
  async listen(): Promise<number> {
    const { port: wanted, host = "0.0.0.0", tls } = this.#options;
    const port = await listen(this.#server, wanted, host, this.#inherit(PUBLIC)).catch((error: unknown) => {
      throw listenError(error, { host, port: wanted, option: "--ingress-listen-address" });
    });
    this.#log.info("ingress listens", { port });
    if (tls !== undefined) await this.#listenTls(tls);
    return port;
  }

  /** Takes up certificates that have changed, before the next look. */
  look(): void {
    this.#secure?.look();
  }

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
    const decide = () => targetOr404(this.#servicePorts.get(key)?.target);
    const server = this.#makeServer(decide, new ClientCounts(this.#clients));
    const inherited = this.#inherit(key);
    const port = await listen(server, preferred, "127.0.0.1", inherited).catch(() => listen(server, 0, "127.0.0.1"));
    this.#servicePorts.set(key, { target, server, port });
    return port;
  }

  /** Takes routes and loopback ports of the lease away. */
  async removeLease(id: LeaseKey): Promise<void> {
    this.routes.removeLease(id);
    const text = formatLeaseId(id);
    for (const [key, { target, server }] of this.#servicePorts) {
      if (formatLeaseId(target.lease) !== text) continue;
      this.#servicePorts.delete(key);
      await this.#closeServer(server);
    }
  }

  /** The listeners, for a process that takes over: the public ones, and those of services by their target. */
  listeners(): Map<string, NetServer> {
    const services = [...this.#servicePorts].map(([key, { server }]) => [key, server] as const);
    const secure = this.#secure === undefined ? [] : [[PUBLIC_TLS, this.#secure.listener] as const];
    return new Map<string, NetServer>([[PUBLIC, this.#server], ...secure, ...services]);
  }

  /** Loopback ports of services, by their target. */
  servicePorts(): Map<string, number> {
    return new Map([...this.#servicePorts].map(([key, { port }]) => [key, port]));
  }

  /**
   * Takes no new connections; resolves when the last has ended. Those that are open get their answers, and are asked to
   * come again on a new connection.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#secure?.drain();
    await Promise.all(
      [...this.listeners().values()].map(
        (server) =>
          new Promise<void>((resolve) => {
            // Closing the HTTP server would cut idle connections on which the next request may be on its way.
            NetServer.prototype.close.call(server, () => resolve());
          }),
      ),
    );
  }

  async close(): Promise<void> {
    const servers = [this.#server, ...[...this.#servicePorts.values()].map((entry) => entry.server)];
    await Promise.all([...servers.map((server) => this.#closeServer(server)), this.#closeSecure()]);
    this.#servicePorts.clear();
    this.#forwarder.close();
  }

  get #log(): Logger {
    return this.#options.log ?? silentLogger;
  }

  #inherit(key: string): NetServer | undefined {
    return this.#options.inherited?.get(key);
  }

  async #listenTls({ host, port: wanted }: IngressTls): Promise<void> {
    if (this.#secure === undefined) return;
    this.#tlsPort = await listen(this.#secure.listener, wanted, host, this.#inherit(PUBLIC_TLS)).catch(
      (error: unknown) => {
        throw listenError(error, { host, port: wanted, option: "--ingress-tls-listen-address" });
      },
    );
    this.#log.info("ingress listens for TLS", { port: this.#tlsPort });
  }

  #makeServer(decide: Decide, counts: ClientCounts): Server {
    let isTooMany = (_socket: Socket): boolean => false;
    const server = serveHttp1({
      decide: decideWith(decide),
      forwarder: this.#forwarder,
      isTooMany: (socket) => isTooMany(socket),
      isDraining: () => this.#draining,
    });
    isTooMany = limitClients(server, counts);
    server.maxConnections = this.#options.maxConnections ?? MAX_CONNECTIONS;
    const sockets = new Set<Socket>();
    this.#sockets.set(server, sockets);
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    return server;
  }

  #makeSecure(certificates: Certificates, counts: ClientCounts): SecureIngress {
    return new SecureIngress({
      certificates,
      clients: this.#clients,
      counts,
      maxConnections: this.#options.maxConnections ?? MAX_CONNECTIONS,
      forwarder: this.#forwarder,
      decide: decideWith(byCertifiedHost(this.routes, certificates)),
      isDraining: () => this.#draining,
      log: this.#log,
    });
  }

  /** Connections are cut rather than waited for, upgraded ones too, which the server itself loses sight of. */
  async #closeServer(server: Server): Promise<void> {
    const sockets = this.#sockets.get(server) ?? [];
    this.#sockets.delete(server);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  }

  async #closeSecure(): Promise<void> {
    const secure = this.#secure;
    if (secure === undefined) return;
    await new Promise<void>((resolve) => {
      secure.listener.close(() => resolve());
      secure.close();
    });
  }
}

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
