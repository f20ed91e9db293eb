import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { listenError } from "../../util/index.ts";
import { CommitWaiters } from "./commit-waiters.ts";
import { isLoopback, refusal } from "./guard.ts";
import { type HttpOptions, HttpRpc } from "./http.ts";
import { READ_WITHIN_MS } from "./limits.ts";
import type { RpcEnvironment } from "./method.ts";
import { RPC_METHODS } from "./methods/index.ts";
import { Subscriptions } from "./subscriptions.ts";
import { Turns } from "./turns.ts";
import { UnreadBytes } from "./unread.ts";
import { WebSocketRpc } from "./websocket.ts";

export interface RpcServerOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly corsOrigins: readonly string[];
  readonly hosts: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxBatch: number;
  readonly maxOpenConnections: number;
  readonly maxSubscriptionClients: number;
  readonly maxSubscriptionsPerClient: number;
  /** Time in which a client must have read an answer; 30 s when left out. */
  readonly readWithinMs?: number;
}

export const DEFAULT_RPC_OPTIONS: Omit<RpcServerOptions, "host" | "port"> = {
  corsOrigins: [],
  hosts: [],
  maxBodyBytes: 1_000_000,
  maxBatch: 20,
  maxOpenConnections: 900,
  maxSubscriptionClients: 100,
  maxSubscriptionsPerClient: 5,
};

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 75_000;

/** The JSON-RPC server: POST /, GET /<method>, websockets at /websocket. */
export class RpcServer {
  readonly #server: Server;
  readonly #websockets: WebSocketRpc;
  readonly #stopEvents: () => void;
  readonly #options: RpcServerOptions;
  readonly #waiters: CommitWaiters;

  constructor(env: Omit<RpcEnvironment, "waiters">, options: RpcServerOptions) {
    this.#options = options;
    this.#waiters = new CommitWaiters(env.chain.events);
    const whole = { ...env, waiters: this.#waiters };
    const dispatch: HttpOptions = {
      readWithinMs: READ_WITHIN_MS,
      ...options,
      methods: RPC_METHODS,
      unread: new UnreadBytes(),
      unfinished: new UnreadBytes(),
      turns: new Turns(),
    };
    const http = new HttpRpc(whole, dispatch);
    const { maxSubscriptionClients: maxClients, maxSubscriptionsPerClient: maxPerClient } = options;
    const subscriptions = new Subscriptions({ maxClients, maxPerClient });
    this.#stopEvents = env.chain.events.listen((block) => subscriptions.publish(block));
    this.#websockets = new WebSocketRpc(whole, subscriptions, { ...dispatch, maxClients: options.maxOpenConnections });
    this.#server = createServer((request, response) => http.answer(request, response));
    this.#server.maxConnections = options.maxOpenConnections;
    this.#server.headersTimeout = HEADERS_TIMEOUT_MS;
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.on("upgrade", (request, socket, head) => {
      // Node.js lets go of the connection here: without a listener, a client that breaks off would end the process.
      socket.on("error", () => socket.destroy());
      const isLocal = isLoopback(request.socket.localAddress);
      const refused = refusal({ headers: request.headers, isLocal }, options);
      if (refused === undefined && request.url?.split("?")[0] === "/websocket") {
        this.#websockets.accept(request, socket, head);
        return;
      }
      const status = refused === undefined ? "404 Not Found" : "403 Forbidden";
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    });
  }

  /** Begins to listen; tells the address. Throws one sentence when the port is in use. */
  listen(): Promise<{ host: string; port: number }> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", (error) => reject(listenError(error, { host, port, option: "--rpc.laddr" })));
      this.#server.listen({ host, port, backlog: 1024 }, () => {
        // A connection that could not be taken, for want of descriptors say, must not end the others.
        this.#server.on("error", () => {});
        const address = this.#server.address();
        resolve({ host, port: isAddressInfo(address) ? address.port : port });
      });
    });
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#stopEvents();
    this.#waiters.close();
    this.#websockets.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
