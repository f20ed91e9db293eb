import { constants } from "node:crypto";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  constants as http2,
  type ServerHttp2Session,
} from "node:http2";
import type { Server as NetServer } from "node:net";
import type { TLSSocket } from "node:tls";
import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Logger } from "../../../util/index.ts";
import { endFailedHandshakes, listenAt } from "../../../util/servers/index.ts";
import { ProviderRPC, type Status, StatusSchema } from "../../../wire/gen/svc/provider/v1/status_pb.js";
import { fromNanos } from "../../../wire/index.ts";
import { gatherClientParts } from "../../ingress/index.ts";
import type { Authorizer, Caller } from "../access/authorizer.ts";
import type { GatewayLimits } from "../limits.ts";
import type { GatewayClients } from "../listening/clients.ts";
import { limitConnections } from "../listening/connections.ts";
import { type PublicOptions, statusFigures } from "../public-routes.ts";
import type { ResourceSum } from "../sources.ts";
import { StatusFeed } from "./feed.ts";
import { callError } from "./refusal.ts";
import { addRoutes, type Call, callKey } from "./routes.ts";
import { OpenStreams } from "./streams.ts";

const NANOS = 1_000_000n;

export interface StatusServerOptions extends PublicOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** As the gateway shows them. */
  readonly certificate: string;
  readonly privateKey: string;
  readonly authorizer: Authorizer;
  readonly limits: GatewayLimits;
  readonly clients: GatewayClients;
  readonly log: Logger;
  readonly now: () => number;
}

/** Bytes of the headers of a call, and of the message that it brings: requests have none. */
const MAX_HEADER_BYTES = 16 << 10;
const MAX_REQUEST_BYTES = 16 << 10;
/** Memory that a connection may take for frames that wait, in megabytes. */
const MAX_SESSION_MEGABYTES = 4;

/** Time in which trailers reach a client that still sends, in milliseconds. */
const LINGER_MS = 500;

/** Calls that go on until one side ends them. */
const STREAMS = [`/${ProviderRPC.typeName}/${ProviderRPC.method.streamStatus.name}`, "/grpc.health.v1.Health/Watch"];

/**
 * The provider's status over gRPC: for everybody, as `/status` is, at once and as it changes. A certificate or a token that
 * a caller shows must be good, and stay good while a stream is open.
 */
export class StatusServer {
  readonly #options: StatusServerOptions;
  readonly #server: Http2SecureServer;
  readonly #listener: NetServer;
  readonly #streams: OpenStreams;
  readonly #sessions = new Map<ServerHttp2Session, TLSSocket>();
  #isClosing = false;
  readonly #answer: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  readonly #calls = new WeakMap<object, Call>();

  constructor(options: StatusServerOptions) {
    const { limits, now } = options;
    this.#options = options;
    this.#streams = new OpenStreams(limits, now);
    const read = () => statusMessage(options, now());
    const feed = new StatusFeed({ read, everyMs: limits.statusEvery, now });
    this.#answer = connectNodeAdapter({
      routes: (router) => addRoutes(router, feed),
      contextValues: (request) => createContextValues().set(callKey, this.#calls.get(request)),
      // Compressed messages may expand to a thousand times their size.
      acceptCompression: [],
      readMaxBytes: MAX_REQUEST_BYTES,
      connect: false,
      grpcWeb: false,
    });
    this.#server = this.#makeServer();
    this.#listener = options.clients.front(this.#server, limits);
  }

  /** Resolves with the port it listens on; rejects if the port is taken. */
  async listen(): Promise<number> {
    const { host, port, log } = this.#options;
    const { port: taken } = await listenAt(this.#listener, { host, port, option: "--gateway-grpc-listen-address" });
    log.info("gateway listens for gRPC", { host, port: taken });
    return taken;
  }

  /** Breaks off the open streams; their clients come again. */
  drop(): void {
    this.#streams.drop(new ConnectError("the provider is ending all streams; connect again", Code.Unavailable));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.drop();
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    for (const [session, socket] of this.#sessions) end(session, socket);
    await closed;
  }

  /** As the gateway's: TLS 1.3 alone, every client is asked for a certificate, and no ticket replaces it. */
  #makeServer(): Http2SecureServer {
    const { certificate, privateKey, limits, clients } = this.#options;
    const server = createSecureServer(
      {
        cert: certificate,
        key: privateKey,
        minVersion: "TLSv1.3",
        requestCert: true,
        rejectUnauthorized: false,
        secureOptions: constants.SSL_OP_NO_TICKET,
        handshakeTimeout: limits.handshakeTimeout,
        maxSessionMemory: MAX_SESSION_MEGABYTES,
        settings: { maxConcurrentStreams: limits.callsPerConnection, maxHeaderListSize: MAX_HEADER_BYTES },
      },
      (request, response) => this.#take(request, response),
    );
    limitConnections(server, limits, clients);
    endFailedHandshakes(server);
    // Before the library takes the stream, and the parts of its body.
    server.prependListener("stream", gatherClientParts);
    // Sessions are made while their connections are announced, and do not tell which is theirs.
    let announced: TLSSocket;
    server.prependListener("secureConnection", (socket) => {
      announced = socket;
    });
    server.on("session", (session) => this.#keep(session, announced));
    // The errors of a connection end that connection alone.
    server.on("sessionError", () => {});
    return server;
  }

  /** Ends a connection whose client is gone, or that has been idle for a while. */
  #keep(session: ServerHttp2Session, socket: TLSSocket): void {
    // A handshake may end while the server closes.
    if (this.#isClosing) {
      end(session, socket);
      return;
    }
    const { limits } = this.#options;
    this.#sessions.set(session, socket);
    let isAlive = true;
    const ping = setInterval(() => {
      if (!isAlive) return end(session, socket);
      isAlive = false;
      if (!session.destroyed) session.ping(() => (isAlive = true));
    }, limits.ping + limits.pongWait);
    session.setTimeout(limits.keepAliveTimeout * IDLE_FACTOR, () => session.close());
    session.once("close", () => {
      clearInterval(ping);
      this.#sessions.delete(session);
    });
  }

  #take(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const cut = () => cutOff(response);
    response.on("error", cut);
    request.on("error", () => {});
    // A client that has the whole answer need not send more; trailers follow this event.
    response.stream.once("finish", () => setTimeout(() => response.stream?.close(), LINGER_MS).unref());
    const isStream = STREAMS.includes(request.url);
    const timer = isStream ? undefined : setTimeout(cut, this.#options.limits.callTimeout);
    response.once("close", () => clearTimeout(timer));
    this.#call(request, response).catch(cut);
  }

  /** Judges the caller before any handler runs, for streams as well as single answers. */
  async #call(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const { authorizer, log } = this.#options;
    try {
      const caller = await authorizer.identify(request);
      this.#calls.set(request, this.#callOf(caller, response));
    } catch (error) {
      const refused = callError(error);
      log.info("gateway call refused", { code: Code[refused.code] });
      return refuse(response, refused);
    }
    if (!response.stream?.destroyed) this.#answer(request, response);
  }

  #callOf(caller: Caller, response: Http2ServerResponse): Call {
    const { limits } = this.#options;
    return {
      open: () => {
        const stream = this.#streams.open(caller);
        // The library may wait for a reader that is gone: the end of the call counts, not of its handler.
        response.once("close", stream.close);
        return stream;
      },
      waiting: () => {
        const late = setTimeout(() => cutOff(response), limits.callTimeout);
        return { done: () => clearTimeout(late) };
      },
    };
  }
}

/** A session alone waits for ever for a connection that it writes to and whose client is gone. */
function end(session: ServerHttp2Session, socket: TLSSocket): void {
  session.destroy();
  socket.destroy();
}

/** Connections of clients that ask now and then stay open for some of their questions. */
const IDLE_FACTOR = 60;

/** Ends a call at once, whatever its client has not read yet. */
function cutOff(response: Http2ServerResponse): void {
  response.stream?.close(http2.NGHTTP2_CANCEL);
}

/** A refusal without an answer: headers and trailers in one. */
function refuse(response: Http2ServerResponse, { code, rawMessage }: ConnectError): void {
  if (response.stream?.destroyed) return;
  const status = { "grpc-status": `${code}`, "grpc-message": encodeURIComponent(rawMessage) };
  response.stream.respond({ ":status": 200, "content-type": "application/grpc", ...status }, { endStream: true });
}

/** The status as the gateway tells it over gRPC; `now` in milliseconds since 1970. */
async function statusMessage(options: PublicOptions, now: number): Promise<Status> {
  const { leases, inventory, orders, refusals, deployments, pending } = await statusFigures(options);
  const { active, pending: waiting, available, error } = inventory;
  return create(StatusSchema, {
    errors: error === undefined ? [] : [error],
    cluster: {
      leases: { active: leases },
      inventory: {
        cluster: { nodes: available.map(({ name, ...left }) => ({ name, available: left })) },
        reservations: { pending: totalOf(waiting), active: totalOf(active) },
      },
    },
    bidEngine: { orders, refusals: { ...refusals } },
    manifest: { deployments },
    publicHostnames: [options.publicHostname],
    timestamp: create(TimestampSchema, fromNanos(BigInt(now) * NANOS)),
    broadcaster: { pending },
    address: options.provider,
  });
}

function totalOf(list: readonly ResourceSum[]) {
  const sum = (name: keyof ResourceSum) => list.reduce((total, each) => total + each[name], 0n);
  return {
    count: list.length,
    resources: { cpu: sum("cpu"), memory: sum("memory"), gpu: sum("gpu"), storage: sum("storage") },
  };
}
