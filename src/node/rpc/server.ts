import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import {
  ByteBudget,
  type ClientBudget,
  CountedRequest,
  clientBudget,
  closeServer,
  isLoopback,
  limitReads,
  limitServer,
  listenAt,
  MAX_UNREAD_BYTES,
  READ_WITHIN_MS,
  refusal,
  type ServerOptions,
} from "../http/index.ts";
import { CommitWaiters } from "../services/commit-waiters.ts";
import type { RpcEnvironment } from "./calls/method.ts";
import { type HttpOptions, HttpRpc } from "./http.ts";
import { RPC_METHODS } from "./methods/index.ts";
import { Subscriptions } from "./subscriptions.ts";
import { WebSocketRpc } from "./websocket.ts";

export interface RpcServerOptions extends ServerOptions {
  readonly maxBodyBytes: number;
  readonly maxBatch: number;
  readonly maxSubscriptionClients: number;
  readonly maxSubscriptionsPerClient: number;
}

/** The flags that the refusals of the RPC name. */
const FLAGS = { origins: "--rpc.cors-allowed-origins", hosts: "--rpc.allowed-hosts" };

/** The JSON-RPC server: POST /, GET /<method>, websockets at /websocket. */
export class RpcServer {
  readonly #server: Server;
  readonly #websockets: WebSocketRpc;
  readonly #stopEvents: () => void;
  readonly #options: RpcServerOptions;
  readonly #waiters: CommitWaiters;

  constructor(
    env: Omit<RpcEnvironment, "waiters"> & { readonly waiters?: CommitWaiters },
    options: RpcServerOptions,
    budget: ClientBudget = clientBudget(),
  ) {
    this.#options = options;
    this.#waiters = env.waiters ?? new CommitWaiters(env.chain.events);
    const whole = { ...env, waiters: this.#waiters };
    const dispatch: HttpOptions = {
      readWithinMs: READ_WITHIN_MS,
      ...options,
      ...budget,
      flags: FLAGS,
      methods: RPC_METHODS,
      unfinished: new ByteBudget(MAX_UNREAD_BYTES),
    };
    const http = new HttpRpc(whole, dispatch);
    const { maxSubscriptionClients: maxClients, maxSubscriptionsPerClient: maxPerClient } = options;
    const subscriptions = new Subscriptions({ maxClients, maxPerClient });
    this.#stopEvents = env.chain.events.listen(
      (block) => subscriptions.publish(block),
      () => subscriptions.hasClients,
    );
    this.#websockets = new WebSocketRpc(whole, subscriptions, { ...dispatch, maxClients: options.maxOpenConnections });
    this.#server = createServer({ IncomingMessage: CountedRequest }, (request, response) =>
      http.answer(request, response),
    );
    limitServer(this.#server, options.maxOpenConnections, budget.clients);
    limitReads(this.#server, budget.clients);
    this.#server.on("upgrade", (request, socket, head) => {
      // Node.js releases the connection here: without a listener, a client that disconnects would end the process.
      socket.on("error", () => socket.destroy());
      const isLocal = isLoopback(request.socket.localAddress);
      const refused = refusal({ headers: request.headers, isLocal }, dispatch);
      if (isPlainGet(request) && socket instanceof Socket) {
        http.answer(request, responseOn(socket, request));
        return;
      }
      if (refused === undefined && request.url?.split("?")[0] === "/websocket") {
        this.#websockets.accept(request, socket, head);
        return;
      }
      const status = refused === undefined ? "404 Not Found" : "403 Forbidden";
      // Its client might never close it, and the server would wait for it at its end.
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
    });
  }

  /** Begins to listen; returns the address. Throws one sentence when the port is in use. */
  listen(): Promise<{ host: string; port: number }> {
    return listenAt(this.#server, { ...this.#options, option: "--rpc.laddr" });
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#stopEvents();
    this.#waiters.close();
    this.#websockets.close();
    await closeServer(this.#server);
  }
}

/** Asks for another protocol than websockets, such as HTTP/2, but would be content without it. */
function isPlainGet({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() !== "websocket";
}

/** Node.js makes no response for a request that it takes for an upgrade. The connection ends with the answer. */
function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.destroySoon());
  return response;
}
