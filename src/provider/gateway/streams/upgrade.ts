import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Logger } from "../../../util/index.ts";
import { Shares } from "../../../util/servers/index.ts";
import { formatLeaseId } from "../../../wire/index.ts";
import type { LeaseService } from "../../leases/index.ts";
import type { Authorizer } from "../access/authorizer.ts";
import { STREAM_PROTOCOL } from "../access/bearer.ts";
import { gatewayErrors, toFailure } from "../errors.ts";
import { findStream } from "../lease-routes.ts";
import type { GatewayLimits } from "../limits.ts";
import { readPath } from "../paths.ts";
import { GatewayStream } from "./stream.ts";

export interface UpgradeOptions {
  readonly authorizer: Authorizer;
  readonly leases: LeaseService;
  readonly limits: GatewayLimits;
  readonly now: () => number;
  readonly log: Logger;
}

/** Opens websockets: everything is decided before the upgrade, and refused as plain HTTP. */
export class StreamServer {
  readonly #options: UpgradeOptions;
  readonly #server: WebSocketServer;
  readonly #open: Shares;

  constructor(options: UpgradeOptions) {
    this.#options = options;
    this.#open = new Shares({ each: options.limits.streamsPerTenant });
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: options.limits.message,
      perMessageDeflate: false,
      clientTracking: true,
      // Other protocols that a page offers are tokens, which no answer repeats.
      handleProtocols: (offered) => (offered.has(STREAM_PROTOCOL) ? STREAM_PROTOCOL : false),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    this.#accept(request, socket, head).catch((error) => {
      const failure = toFailure(error);
      this.#options.log.info("gateway stream refused", { status: failure.status, code: failure.body.code });
      refuse(socket, failure);
    });
  }

  drop(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  /** Ends all streams, and takes no more. */
  close(): void {
    this.drop();
    this.#server.close();
  }

  async #accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = request.url ?? "";
    const { authorizer, leases, limits, now, log } = this.#options;
    const found = findStream(readPath(url), url);
    if (found === undefined) throw gatewayErrors.notFound();
    const grant = await authorizer.authorize(request, found.access);
    const { lease } = grant;
    if (lease === undefined) throw gatewayErrors.notFound();
    leases.group(lease);
    // A client that left while the chain was queried emits no further `close` and would be counted forever.
    if (socket.destroyed) return;
    const leave = this.#open.take(grant.owner);
    if (leave === undefined) throw gatewayErrors.tooMany("too many open streams");
    socket.once("close", leave);
    this.#server.handleUpgrade(request, socket, head, (websocket) => {
      const stream = new GatewayStream(websocket, { grant, limits, now });
      log.info("gateway stream", { kind: found.access.scope, lease: formatLeaseId(lease) });
      found.run(stream, lease, leases).catch((error) => stream.fail(error));
    });
  }
}

function refuse(socket: Duplex, { status, body }: ReturnType<typeof toFailure>): void {
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    ...(status === 401 ? ["www-authenticate: Bearer"] : []),
    "connection: close",
  ];
  if (socket.writable) socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
