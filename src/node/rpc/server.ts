import { createServer, type Server } from "node:http";
import {
  ByteBudget,
  type ClientBudget,
  CountedRequest,
  clientBudget,
  closeServer,
  type Handler,
  isLoopback,
  limitReads,
  limitServer,
  listenAt,
  MAX_UNREAD_BYTES,
  READ_WITHIN_MS,
  refusal,
  refuseUpgrade,
  type ServerOptions,
  takeUpgrades,
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
  /** The same answers for connections of another server. */
  readonly handler: Handler;
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
    const websocket: Handler["websocket"] = (request, socket, head) => {
      const isLocal = isLoopback(request.socket.localAddress);
      const isRefused = refusal({ headers: request.headers, isLocal }, dispatch) !== undefined;
      if (!isRefused && request.url?.split("?")[0] === "/websocket") this.#websockets.accept(request, socket, head);
      else refuseUpgrade(socket, isRefused ? "403 Forbidden" : "404 Not Found");
    };
    takeUpgrades(this.#server, { websocket, isAnswering: (socket) => http.isAnswering(socket) });
    this.handler = { answer: (request, response) => http.answer(request, response), websocket };
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
