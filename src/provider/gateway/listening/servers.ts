import { constants } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server as PlainServer,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer, type Server } from "node:https";
import type { Server as NetServer } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { errorText, type Logger } from "../../../util/index.ts";
import { CountedRequest, endFailedHandshakes, RequestLines, readInPortions } from "../../../util/servers/index.ts";
import { GATEWAY_SOCKET, gatherClientParts } from "../../ingress/index.ts";
import { socketPath } from "../../socket-path.ts";
import type { GatewayLimits } from "../limits.ts";
import type { GatewayClients } from "./clients.ts";
import { limitConnections } from "./connections.ts";

/** Waiting requests of one connection, including the one being answered. */
const WAITING_REQUESTS = 16;

/** Use of the connections of a server. */
interface ServerParts {
  readonly limits: GatewayLimits;
  readonly clients: GatewayClients;
  readonly handler: RequestListener;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/**
 * For clients that compare the certificate with the chain. Only TLS 1.3. Every client is asked for a certificate and judged request by
 * request, so no session ticket may replace it later.
 */
export function tlsServer(
  parts: ServerParts,
  identity: { readonly certificate: string; readonly privateKey: string },
): Server {
  const { limits } = parts;
  const server = createServer({
    ...commonOptions(limits),
    cert: identity.certificate,
    key: identity.privateKey,
    minVersion: "TLSv1.3",
    requestCert: true,
    rejectUnauthorized: false,
    secureOptions: constants.SSL_OP_NO_TICKET,
    ALPNProtocols: ["http/1.1"],
    handshakeTimeout: limits.handshakeTimeout,
  });
  endFailedHandshakes(server);
  serve(server, "secureConnection", parts);
  return server;
}

/**
 * For browsers: the ingress has ended their TLS, and asked them for no certificate. A browser that is asked for one closes a websocket that
 * no request went before, or makes its user choose.
 */
export class BrowserServer {
  readonly #place: { readonly folder: string; readonly log: Logger };
  readonly #server: PlainServer;
  readonly #listener: NetServer;
  #release: () => void = () => {};

  constructor({ folder, log, ...parts }: ServerParts & { readonly folder: string; readonly log: Logger }) {
    this.#place = { folder, log };
    this.#server = createPlainServer(commonOptions(parts.limits));
    serve(this.#server, "connection", parts);
    this.#listener = parts.clients.behindIngress(this.#server, parts.limits);
  }

  /** If the folder cannot hold sockets, only browsers are not served. */
  async listen(): Promise<void> {
    const { folder, log } = this.#place;
    try {
      rmSync(join(folder, GATEWAY_SOCKET), { force: true, recursive: true });
      const { path, release } = socketPath(folder, GATEWAY_SOCKET);
      this.#release = release;
      await new Promise<void>((resolve, reject) => {
        this.#listener.once("error", reject);
        this.#listener.listen(path, resolve);
      });
      this.#listener.on("error", () => {});
      chmodSync(join(folder, GATEWAY_SOCKET), 0o600);
    } catch (error) {
      log.warn("browsers cannot reach the gateway", { folder, err: errorText(error) });
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    this.#release();
    this.#release = () => {};
  }
}

function commonOptions(limits: GatewayLimits) {
  return {
    IncomingMessage: CountedRequest,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: Math.min(2_000, limits.headersTimeout),
  };
}

/** Answers the requests of a connection one by one: hundreds may come in one piece. */
function serve(
  server: PlainServer | Server,
  ready: "connection" | "secureConnection",
  { limits, clients, handler, upgrade }: ServerParts,
): void {
  server.maxRequestsPerSocket = limits.requestsPerConnection;
  limitConnections(server, limits, clients);
  const lines = new RequestLines<IncomingMessage, ServerResponse>(
    async (request, response) => handler(request, response),
    WAITING_REQUESTS,
  );
  server.on("request", (request, response) => {
    gatherClientParts(request);
    lines.take(request, response);
  });
  server.on(ready, (socket) => readInPortions(socket, WAITING_REQUESTS));
  server.on("upgrade", upgrade);
}
