import type { IncomingMessage, RequestListener } from "node:http";
import type { Server } from "node:https";
import type { BlockList, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { errorText, type Logger } from "../../util/index.ts";
import { endAfterBody, listenAt, parseNetworks, Shares } from "../../util/servers/index.ts";
import type { ChainView } from "../chain.ts";
import type { Meter } from "../metrics/index.ts";
import { Authorizer } from "./access/authorizer.ts";
import { Memo } from "./access/memo.ts";
import { allowOrigin, answerPreflight } from "./cors.ts";
import { fastifyFailure, gatewayErrors, refuseMalformed, toFailure } from "./errors.ts";
import type { StatusServer } from "./grpc/index.ts";
import { MIGRATE_ROUTES, STREAM_ROUTES, TENANT_ROUTES } from "./lease-routes.ts";
import { DEFAULT_LIMITS, type GatewayLimits } from "./limits.ts";
import { limitBodies } from "./listening/bodies.ts";
import { GatewayClients } from "./listening/clients.ts";
import { BrowserServer, tlsServer } from "./listening/servers.ts";
import { readParameters } from "./parameters.ts";
import { readIds, readPath } from "./paths.ts";
import { type PublicOptions, priceAnswer, screenAnswer, statusAnswer, versionAnswer } from "./public-routes.ts";
import { StreamServer } from "./streams/upgrade.ts";

export interface GatewayOptions extends PublicOptions {
  /** Address to listen on; default 0.0.0.0. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Where the status is served over gRPC; nowhere if absent. */
  readonly grpc?: { readonly host: string; readonly port: number };
  /** The provider's server certificate on the chain, and its unencrypted key; both PEM. */
  readonly certificate: string;
  readonly privateKey: string;
  /** Folder of the socket on which the ingress passes connections of browsers on; none are if absent. */
  readonly browsers?: string;
  readonly chain: ChainView;
  /** Proxies that name their clients in the PROXY protocol; none if absent. */
  readonly trustedProxies?: BlockList;
  readonly log: Logger;
  readonly limits?: Partial<GatewayLimits>;
  readonly meter?: Meter;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The provider's HTTPS interface for tenants. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #limits: GatewayLimits;
  readonly #authorizer: Authorizer;
  readonly #streams: StreamServer;
  readonly #clients: GatewayClients;
  readonly #app: FastifyInstance<Server>;
  readonly #listener: NetServer;
  #browsers: BrowserServer | undefined;
  readonly #version: Memo<object>;
  /** The serialized status: anyone can request it, and its cost grows with the provider. */
  readonly #figures: Memo<string>;
  #status: StatusServer | undefined;
  #statusPort: number | undefined;

  constructor(options: GatewayOptions) {
    const { provider, chain, leases, log, now = Date.now } = options;
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#options = options;
    this.#limits = limits;
    this.#clients = new GatewayClients(options.trustedProxies ?? parseNetworks([]));
    const networkOf = ({ socket }: Pick<IncomingMessage, "socket">) => this.#clients.networkOf(socket);
    this.#authorizer = new Authorizer({ provider, chain, limits, networkOf, now });
    this.#streams = new StreamServer({
      authorizer: this.#authorizer,
      leases,
      limits,
      now,
      log,
    });
    this.#version = new Memo(() => versionAnswer(options), limits.clusterAge, now);
    this.#figures = new Memo(
      async () => printJson(await statusAnswer(options, this.#statusPort)),
      limits.clusterAge,
      now,
    );
    this.#app = this.#makeApp();
    this.#listener = this.#clients.front(this.#app.server, limits);
  }

  /** Resolves with the port it listens on; rejects if the port is taken. */
  async listen(): Promise<number> {
    const { host = "0.0.0.0", port, log } = this.#options;
    await this.#app.ready();
    const { port: taken } = await listenAt(this.#listener, { host, port, option: "--gateway-listen-address" });
    log.info("gateway listens", { host, port: taken });
    await this.#browsers?.listen();
    await this.#listenForCalls();
    return taken;
  }

  /** Where the status is served over gRPC, once it listens. */
  get grpcPort(): number | undefined {
    return this.#statusPort;
  }

  /** Breaks off the open streams; their clients reconnect. */
  dropStreams(): void {
    this.#streams.drop();
    this.#status?.drop();
  }

  async close(): Promise<void> {
    this.#streams.close();
    await this.#status?.close();
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    this.#app.server.closeAllConnections();
    await this.#browsers?.close();
    await this.#app.close();
    await closed;
  }

  /** The library that this takes is read only where it is served. */
  async #listenForCalls(): Promise<void> {
    const { grpc, now = Date.now } = this.#options;
    if (grpc === undefined) return;
    const { StatusServer } = await import("./grpc/index.ts");
    const parts = { authorizer: this.#authorizer, limits: this.#limits, clients: this.#clients, now };
    this.#status = new StatusServer({ ...this.#options, ...grpc, ...parts });
    this.#statusPort = await this.#status.listen();
  }

  #makeApp(): FastifyInstance<Server> {
    const limits = this.#limits;
    const app = fastify<Server>({
      serverFactory: (handler) => this.#makeServer(handler),
      bodyLimit: limits.body,
      exposeHeadRoutes: false,
      logger: false,
      routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false },
      clientErrorHandler: refuseMalformed,
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
    const takeRoom = limitBodies(limits, this.#clients);
    app.addHook("onRequest", async (request, reply) => {
      allowOrigin(request.headers, reply);
      checkShape(request);
      takeRoom(request.raw, reply.raw);
    });
    app.options("/*", (_request, reply) => answerPreflight(reply));
    app.addHook("onResponse", async (request, reply) => this.#logAccess(request, reply));
    app.setErrorHandler((error, request, reply) => this.#sendFailure(error, request, reply));
    app.setNotFoundHandler((request, reply) => this.#sendFailure(gatewayErrors.notFound(), request, reply));
    this.#addPublicRoutes(app);
    this.#addTenantRoutes(app);
    this.#addMigrateRoutes(app);
    return app;
  }

  #makeServer(handler: RequestListener): Server {
    const { folder, log } = { folder: this.#options.browsers, log: this.#options.log };
    const parts = {
      limits: this.#limits,
      clients: this.#clients,
      handler,
      upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => this.#streams.upgrade(request, socket, head),
    };
    if (folder !== undefined) this.#browsers = new BrowserServer({ ...parts, folder, log });
    return tlsServer(parts, this.#options);
  }

  #addPublicRoutes(app: FastifyInstance<Server>): void {
    const options = this.#options;
    const { prices, pricesPerCaller, publicBody } = this.#limits;
    // Bids wait for the same price script.
    const places = new Shares({ each: pricesPerCaller, all: prices });
    const clients = this.#clients;
    app.get("/status", (_request, reply) => sendJson(reply, this.#figures.get("")));
    app.get("/version", (_request, reply) => sendJson(reply, this.#version.get("")));
    app.get("/address", (_request, reply) => sendJson(reply, { address: options.provider }));
    for (const [path, answer] of PRICE_ROUTES) {
      const handler = (request: FastifyRequest, reply: FastifyReply) => {
        const leave = places.take(clients.networkOf(request.socket));
        if (leave === undefined) throw gatewayErrors.tooMany("too many requests for prices at the moment");
        return sendJson(reply, answer(bodyOf(request), options).finally(leave));
      };
      app.route({ method: ["GET", "POST"], url: path, bodyLimit: publicBody, handler });
    }
  }

  #addTenantRoutes(app: FastifyInstance<Server>): void {
    for (const { method, path, scope, answer } of TENANT_ROUTES) {
      app.route({
        method,
        url: path,
        // A body is read only after its sender is authorised.
        onRequest: async (request) => {
          readParameters(request.url, []);
          const { service } = readParams(request);
          const ids = readIds(readParams(request));
          const lease = path.startsWith("/lease/") ? ids : { dseq: ids.dseq };
          const access = { ...lease, scope, services: service === undefined ? [] : [service] };
          request.grant = await this.#authorizer.authorize(request.raw, access);
        },
        handler: async (request, reply) => {
          const { grant } = request;
          if (grant === undefined) throw gatewayErrors.noCredential();
          const { service = "" } = readParams(request);
          const ids = readIds(readParams(request));
          const given = { grant, ids, service, url: request.url, body: bodyOf(request) };
          return sendJson(reply, answer(given, this.#options));
        },
      });
    }
    for (const kind of Object.keys(STREAM_ROUTES)) {
      app.get(`/lease/:dseq/:gseq/:oseq/${kind}`, async () => {
        throw gatewayErrors.upgrade();
      });
    }
  }

  /** Their leases are in the body, which is read only after its sender is known. */
  #addMigrateRoutes(app: FastifyInstance<Server>): void {
    for (const { path, scope, answer } of MIGRATE_ROUTES) {
      app.route({
        method: "POST",
        url: path,
        onRequest: async (request) => {
          readParameters(request.url, []);
          request.admission = await this.#authorizer.admit(request.raw, scope);
        },
        handler: async (request, reply) => {
          const { admission } = request;
          if (admission === undefined) throw gatewayErrors.noCredential();
          return sendJson(reply, answer({ admission, body: bodyOf(request) }, this.#options.leases));
        },
      });
    }
  }

  #sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = fastifyFailure(error) ?? toFailure(error);
    if (failure.status >= 500) {
      const cause = error instanceof Error && error.cause !== undefined ? `: ${errorText(error.cause)}` : "";
      const route = request.routeOptions.url ?? "";
      this.#options.log.warn("gateway request failed", { route, err: errorText(error) + cause });
    }
    if (failure.status === 401) reply.header("www-authenticate", "Bearer");
    const text = JSON.stringify(failure.body);
    reply.code(failure.status).type("application/json");
    // A body that was not read would be read as the next request.
    const isUnread = failure.status === 413 || request.headers["content-length"] !== undefined;
    return isUnread ? sendLast(reply, text) : reply.send(text);
  }

  /** Only route and outcome: no address with its query, no header. */
  #logAccess(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.routeOptions.url ?? "";
    this.#options.meter?.count("gatewayRequests", { route: routeClass(route), status: statusClass(reply.statusCode) });
    this.#options.log.debug("gateway request", {
      method: request.method,
      route,
      status: reply.statusCode,
      owner: (request.grant ?? request.admission)?.owner ?? "",
      peer: this.#clients.of(request.socket),
      ms: Math.round(reply.elapsedTime),
    });
  }
}

/** Each takes a group and may run the price script. */
const PRICE_ROUTES = [
  ["/validate", priceAnswer],
  ["/screen", screenAnswer],
] as const;

const PUBLIC_ROUTES: readonly string[] = ["/status", "/version", "/address", "/validate", "/screen"];

/** Unknown routes must not create series of their own. */
function routeClass(route: string): "public" | "tenant" | "other" {
  if (route === "") return "other";
  return PUBLIC_ROUTES.includes(route) ? "public" : "tenant";
}

function statusClass(status: number): "2xx" | "3xx" | "4xx" | "5xx" {
  if (status < 300) return "2xx";
  if (status < 400) return "3xx";
  return status < 500 ? "4xx" : "5xx";
}

declare module "fastify" {
  interface FastifyRequest {
    grant?: import("./access/authorizer.ts").Grant;
    admission?: import("./access/authorizer.ts").Admission;
  }
}

interface PathTexts {
  readonly dseq: string;
  readonly gseq?: string;
  readonly oseq?: string;
  readonly service?: string;
}

function readParams(request: FastifyRequest): PathTexts {
  return request.params as PathTexts;
}

/** Refuses what no honest client sends: disguised paths, two hosts, compressed bodies. */
function checkShape({ raw }: FastifyRequest): void {
  readPath(raw.url ?? "");
  const hosts = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length !== 1 || raw.headers.host === "")
    throw gatewayErrors.badRequest("exactly one Host header is needed");
  if (raw.headers["content-encoding"] !== undefined) throw gatewayErrors.badRequest("send the body uncompressed");
}

function bodyOf({ body }: FastifyRequest): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array();
}

/** Sends an answer as JSON; 200 without a body when there is none. */
async function sendJson(reply: FastifyReply, answer: unknown): Promise<FastifyReply> {
  const value = await answer;
  if (value === undefined) return reply.code(200).send();
  return reply.type("application/json").send(typeof value === "string" ? value : printJson(value));
}

/** Answers a request whose body has not been read, as the last one of its connection. */
function sendLast(reply: FastifyReply, text: string): FastifyReply {
  const { raw } = reply.headers({ connection: "close", "content-length": Buffer.byteLength(text) }).hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.statusCode = reply.statusCode;
  endAfterBody(raw, text);
  return reply;
}

function printJson(value: unknown): string {
  return JSON.stringify(value, plainNumbers);
}

/** Quantities are numbers in the ecosystem's answers; what a double cannot hold is text. */
function plainNumbers(_: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
