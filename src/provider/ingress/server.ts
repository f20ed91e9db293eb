import { createServer, type IncomingMessage, type Server } from "node:http";
import { Server as NetServer, Socket } from "node:net";
import { ACCEPT_QUEUE, type Logger, listenError, silentLogger } from "../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { BackendRouting, RouteTarget } from "../cluster/index.ts";
import { type ClientRules, CONNECTIONS_PER_ADDRESS, isFrom, limitClients, parseNetworks } from "./clients.ts";
import { Forwarder } from "./proxy/forward.ts";
import { type PageStatus, sendPage, writePage } from "./proxy/pages.ts";
import { forwardUpgrade } from "./proxy/upgrade.ts";
import { Routes, targetKey } from "./routes.ts";

export interface IngressOptions {
  readonly backends: BackendRouting["backends"];
  /** Default 0.0.0.0. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log?: Logger;
  /** Open client connections over all hosts. */
  readonly maxConnections?: number;
  /** By default 256 connections from one address, and no proxy is trusted. */
  readonly clients?: Partial<ClientRules>;
  /** What another process has listened with so far, by `Ingress.listeners`. */
  readonly inherited?: ReadonlyMap<string, NetServer>;
}

/** The name of the public listener, besides those of services. */
const PUBLIC = "public";

/** Clients that are slow on purpose are cut off here; milliseconds and bytes. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 << 10,
  maxRequestsPerSocket: 1_000,
  /** No byte in either direction; longer than any read timeout a deployment can ask for. */
  idle: 75_000,
} as const;

type FindTarget = (host: string | undefined) => RouteTarget | undefined;

interface ServicePort {
  target: RouteTarget;
  readonly server: Server;
  readonly port: number;
}

/** HTTP reverse proxy in front of the leases: by host name on one port, and per service on loopback ports. */
export class Ingress {
  readonly routes = new Routes();
  readonly #options: IngressOptions;
  readonly #forwarder: Forwarder;
  readonly #server: Server;
  readonly #servicePorts = new Map<string, ServicePort>();
  readonly #sockets = new Map<Server, Set<Socket>>();
  #draining = false;

  constructor(options: IngressOptions) {
    this.#options = options;
    const { forwardedFrom } = { ...NO_RULES, ...options.clients };
    this.#forwarder = new Forwarder(
      (target) => options.backends(target.lease, target.service, target.port),
      (socket) => isFrom(socket, forwardedFrom),
    );
    this.#server = this.#makeServer((host) => this.routes.find(host));
  }

  /** Resolves with the port it listens on; rejects if the port is taken. */
  async listen(): Promise<number> {
    const { port: wanted, host = "0.0.0.0" } = this.#options;
    const port = await listen(this.#server, wanted, host, this.#inherit(PUBLIC)).catch((error: unknown) => {
      throw listenError(error, { host, port: wanted, option: "--ingress-listen-address" });
    });
    (this.#options.log ?? silentLogger).info("ingress listens", { port });
    return port;
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
    const server = this.#makeServer(() => this.#servicePorts.get(key)?.target);
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

  /** The listeners, for a process that takes over: the public one, and those of services by their target. */
  listeners(): Map<string, NetServer> {
    const services = [...this.#servicePorts].map(([key, { server }]) => [key, server] as const);
    return new Map<string, NetServer>([[PUBLIC, this.#server], ...services]);
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
    const servers = [this.#server, ...[...this.#servicePorts.values()].map((entry) => entry.server)];
    await Promise.all(
      servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            // Closing the HTTP server would cut idle connections on which the next request may be on its way.
            NetServer.prototype.close.call(server, () => resolve());
          }),
      ),
    );
  }

  #inherit(key: string): NetServer | undefined {
    return this.#options.inherited?.get(key);
  }

  async close(): Promise<void> {
    const servers = [this.#server, ...[...this.#servicePorts.values()].map((entry) => entry.server)];
    await Promise.all(servers.map((server) => this.#closeServer(server)));
    this.#servicePorts.clear();
    this.#forwarder.close();
  }

  #makeServer(find: FindTarget): Server {
    const server = createServer(LIMITS, (request, response) => {
      const fault = isTooMany(request.socket) ? 429 : requestFault(request);
      if (this.#draining) response.shouldKeepAlive = false;
      if (fault !== undefined) return sendPage(response, fault);
      const target = find(request.headers.host);
      if (target === undefined) return sendPage(response, 404);
      void this.#forwarder.forward(request, response, target);
    });
    const isTooMany = limitClients(server, { ...NO_RULES, ...this.#options.clients });
    server.maxRequestsPerSocket = LIMITS.maxRequestsPerSocket;
    server.maxConnections = this.#options.maxConnections ?? 4_096;
    server.timeout = LIMITS.idle;
    const sockets = new Set<Socket>();
    this.#sockets.set(server, sockets);
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    server.on("upgrade", (request, socket, head) => {
      // Node.js releases the connection here: without a listener, a client that disconnects would end the process.
      socket.on("error", () => socket.destroy());
      if (!(socket instanceof Socket)) return socket.destroy();
      const fault = isTooMany(socket) ? 429 : requestFault(request);
      if (fault !== undefined) return writePage(socket, fault);
      const target = find(request.headers.host);
      if (target === undefined) return writePage(socket, 404);
      forwardUpgrade(this.#forwarder, target, { request, socket, head });
    });
    return server;
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
}

const NO_RULES: ClientRules = {
  connectionsPerAddress: CONNECTIONS_PER_ADDRESS,
  trustedProxies: parseNetworks([]),
  forwardedFrom: parseNetworks([]),
};

/** The answer to a request that no service gets. TRACE would show a client's script what the proxy has added. */
function requestFault(request: IncomingMessage): PageStatus | undefined {
  if (request.method === "TRACE") return 405;
  return isPlain(request) ? undefined : 400;
}

/** One host and a path: with two hosts, or another one in the address, proxy and replica could see different hosts. */
function isPlain({ rawHeaders, url = "", method }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  return hosts.length === 1 && (url.startsWith("/") || (url === "*" && method === "OPTIONS"));
}

function listen(server: Server, port: number, host: string, inherited?: NetServer): Promise<number> {
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
