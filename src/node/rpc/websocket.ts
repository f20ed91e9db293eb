import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { type ByteBudget, type Clients, type HeldBytes, PART_BYTES } from "../http/index.ts";
import { answerText, type DispatchOptions, paramReader, type RequestId, type RpcCall } from "./calls/jsonrpc.ts";
import { type RpcEnvironment, refuse } from "./calls/method.ts";
import { NOT_READING, type Sink, type Subscriptions } from "./subscriptions.ts";

/** The head of a frame without contents that a client sends: two bytes and its mask. */
const HEAD_BYTES = 6;

export interface WebSocketOptions extends DispatchOptions {
  readonly maxBodyBytes: number;
  readonly maxClients: number;
  readonly unread: ByteBudget;
  readonly sent: ByteBudget;
  readonly clients: Clients;
}

const PING_EVERY_MS = 27_000;
/** Bytes that may wait for a reader when the next block or request comes. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Open requests per connection. */
const MAX_PENDING = 64;
/** Parts of one message: for each the library takes some hundred bytes. Clients make them of 4 KiB or more. */
const MAX_PARTS = 512;
const DROP_AFTER_MS = 5_000;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

/** JSON-RPC with subscriptions over websockets. */
export class WebSocketRpc {
  readonly #env: RpcEnvironment;
  readonly #options: WebSocketOptions;
  readonly #subscriptions: Subscriptions;
  readonly #server: WebSocketServer;
  readonly #ping: NodeJS.Timeout;
  readonly #alive = new WeakSet<WebSocket>();

  constructor(env: RpcEnvironment, subscriptions: Subscriptions, options: WebSocketOptions) {
    this.#env = env;
    this.#options = options;
    this.#subscriptions = subscriptions;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: options.maxBodyBytes,
      maxFragments: MAX_PARTS,
      // Compressed messages may expand to a thousand times their size.
      perMessageDeflate: false,
    });
    this.#ping = setInterval(() => this.#pingAll(), PING_EVERY_MS);
    this.#ping.unref();
  }

  /** Takes over a connection that asks to become a websocket. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (websocket) => this.#serve(websocket, request));
  }

  close(): void {
    clearInterval(this.#ping);
    for (const websocket of this.#server.clients) websocket.terminate();
    this.#server.close();
  }

  #serve(websocket: WebSocket, request: IncomingMessage): void {
    websocket.on("error", () => websocket.terminate());
    if (this.#server.clients.size > this.#options.maxClients) {
      websocket.close(TRY_AGAIN_LATER, `${this.#options.maxClients} clients are connected already`);
      return;
    }
    const { unread, sent, clients } = this.#options;
    const incoming = new IncomingBytes(websocket, request.socket, sent);
    const sink = sinkOf(websocket, unread);
    const client = clients.of(request);
    const admits = () => clients.admits(client);
    let pending = 0;
    this.#alive.add(websocket);
    websocket.on("pong", () => this.#alive.add(websocket));
    websocket.on("close", () => this.#subscriptions.leave(sink));
    // Some clients send the text of a request as bytes.
    websocket.on("message", (data) => {
      if (!admits()) return websocket.close(TRY_AGAIN_LATER, "too many requests from your address");
      if (pending >= MAX_PENDING) {
        websocket.close(POLICY_VIOLATION, `more than ${MAX_PENDING} requests under way`);
        return;
      }
      // Unread answers would pile up here.
      if (!sink.isReady()) return sink.drop(NOT_READING);
      const text = data.toString();
      const release = incoming.take(text.length);
      if (release === undefined) return websocket.terminate();
      pending += 1;
      const local = (call: RpcCall, id: RequestId) => {
        // The subscription of a disconnected client would never end.
        if (websocket.readyState !== websocket.OPEN) throw refuse("the connection is closed");
        return this.#subscribe(sink, call, id);
      };
      answerText(text, { env: this.#env, options: this.#options, local, admits })
        .then((answer) => {
          pending -= 1;
          release();
          if (answer !== undefined) sink.send(answer);
        })
        .catch(() => websocket.terminate());
    });
  }

  #subscribe(sink: Sink, call: RpcCall, id: RequestId): Record<string, never> | undefined {
    if (call.method === "unsubscribe_all") this.#subscriptions.unsubscribeAll(sink);
    else if (call.method === "unsubscribe") this.#subscriptions.unsubscribe(sink, queryOf(call));
    else if (call.method === "subscribe") this.#subscriptions.subscribe(sink, queryOf(call), id);
    else return undefined;
    return {};
  }

  #pingAll(): void {
    for (const websocket of this.#server.clients) {
      if (!this.#alive.has(websocket)) {
        websocket.terminate();
        continue;
      }
      this.#alive.delete(websocket);
      websocket.ping();
    }
  }
}

const QUERY = { params: ["query"] };

function queryOf({ params }: RpcCall): string {
  const query = paramReader(QUERY, params)("query");
  if (typeof query !== "string") throw refuse("the query is missing");
  return query;
}

function sinkOf(websocket: WebSocket, unread: ByteBudget): Sink {
  const drop = (reason: string): void => {
    websocket.close(POLICY_VIOLATION, reason);
    // A reader that does not read does not answer the closing either.
    setTimeout(() => websocket.terminate(), DROP_AFTER_MS).unref();
  };
  return {
    send: (frame) => {
      if (websocket.readyState !== websocket.OPEN) return;
      const release = unread.hold(Buffer.byteLength(frame), () => websocket.terminate());
      if (release === undefined) drop(NOT_READING);
      else websocket.send(frame, release);
    },
    isReady: () => websocket.bufferedAmount <= MAX_WAITING_BYTES,
    drop,
  };
}

/**
 * Counts the bytes of a message that has not arrived completely: the websocket library keeps them. Bytes that arrive together with
 * the end of a message are not counted.
 */
class IncomingBytes {
  readonly #sent: ByteBudget;
  readonly #drop: () => void;
  #unfinished: HeldBytes;
  /** Bytes of pings and the like in the last part, and whether a message ended in it. */
  #control = 0;
  #isWhole = false;

  constructor(websocket: WebSocket, socket: Duplex, sent: ByteBudget) {
    this.#sent = sent;
    this.#drop = () => websocket.terminate();
    this.#unfinished = sent.begin(this.#drop);
    const control = (data: Buffer): void => {
      this.#control += HEAD_BYTES + data.length;
    };
    websocket.on("ping", control).on("pong", control);
    // The library has read a part before this listener counts it.
    socket.on("data", (part: Buffer) => this.#count(part.length));
    websocket.once("close", () => this.#unfinished.release());
  }

  /** Holds a whole message until the function that it returns is called; undefined when there is no room. */
  take(bytes: number): (() => void) | undefined {
    this.#isWhole = true;
    this.#unfinished.release();
    this.#unfinished = this.#sent.begin(this.#drop);
    return this.#sent.hold(bytes, this.#drop);
  }

  #count(length: number): void {
    const bytes = length - this.#control;
    if (!this.#isWhole && bytes > 0 && !this.#unfinished.add(bytes + PART_BYTES)) this.#drop();
    this.#control = 0;
    this.#isWhole = false;
  }
}
