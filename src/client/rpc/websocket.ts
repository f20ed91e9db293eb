import { errorText, isRecord } from "../../util/index.ts";
import { clientErrors, RpcError } from "../errors.ts";
import { type Connect, type EventConnection, loadConnect } from "./event-connection.ts";

/** An item of a subscription. */
export type SubscriptionItem =
  /**
   * The subscription has begun, again or for the first time, or events were dropped: the consumer may have missed
   * earlier events and catches up by querying.
   */
  { readonly kind: "resumed" } | { readonly kind: "event"; readonly type: string; readonly value: unknown };

/** How a connection for events is kept alive. */
export interface SocketOptions {
  /** First pause before a new attempt in milliseconds; it doubles up to 30 s. */
  readonly retryMs?: number;
  /** Silence after which the connection counts as dead; the node's pings reset it. */
  readonly silenceMs?: number;
  /** Called for every lost connection and failed attempt. */
  readonly onProblem?: (error: Error) => void;
}

/** The events of one query. */
export interface Subscription extends AsyncIterable<SubscriptionItem> {
  close(): void;
}

/** A query at the node. A node takes each once for a connection, so that all its readers share it. */
interface Entry {
  readonly query: string;
  readonly queues: Set<Queue<SubscriptionItem>>;
  /** Whether the node has confirmed it on this connection. */
  hasBegun: boolean;
}

const RESUMED: SubscriptionItem = { kind: "resumed" };
const MAX_QUEUED = 10_000;
const MAX_RETRY_MS = 30_000;
const DEFAULT_RETRY_MS = 250;
const DEFAULT_SILENCE_MS = 45_000;

/** Event subscriptions of a node over one connection, which is opened when needed and reopened when it breaks. */
export class RpcSocket {
  readonly #url: URL;
  readonly #options: SocketOptions;
  readonly #subscriptions = new Map<number, Entry>();
  #connection: EventConnection | undefined;
  #connecting = false;
  #closed = false;
  #failures = 0;
  #lastId = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #aliveTimer: ReturnType<typeof setTimeout> | undefined;

  /** `url` is the `websocket` of an endpoint. */
  constructor(url: URL, options: SocketOptions = {}) {
    this.#url = url;
    this.#options = options;
  }

  /**
   * Events that match a query such as `tm.event='NewBlock'`, from now on. The iteration ends when the consumer leaves
   * it or it is closed; it rejects with `RpcError` when the node refuses the query.
   */
  subscribe(query: string): Subscription {
    if (this.#closed) throw clientErrors.closed();
    const queue = new Queue<SubscriptionItem>(MAX_QUEUED, RESUMED);
    const [id, entry] = this.#entryOf(query);
    entry.queues.add(queue);
    if (entry.hasBegun) queue.push(RESUMED);
    this.#connect();
    const close = (): void => this.#unsubscribe(id, queue);
    return {
      close,
      async *[Symbol.asyncIterator]() {
        try {
          yield* queue;
        } finally {
          close();
        }
      },
    };
  }

  /** Ends all subscriptions and the connection. */
  close(): void {
    this.#closed = true;
    for (const { queues } of this.#subscriptions.values()) for (const queue of queues) queue.end();
    this.#drop();
  }

  /** The subscription of a query, which is made unless there is one. */
  #entryOf(query: string): readonly [id: number, entry: Entry] {
    for (const known of this.#subscriptions) if (known[1].query === query) return known;
    this.#lastId += 1;
    const entry = { query, queues: new Set<Queue<SubscriptionItem>>(), hasBegun: false };
    this.#subscriptions.set(this.#lastId, entry);
    this.#send("subscribe", this.#lastId, query);
    return [this.#lastId, entry];
  }

  #unsubscribe(id: number, queue: Queue<SubscriptionItem>): void {
    queue.end();
    const entry = this.#subscriptions.get(id);
    if (entry?.queues.delete(queue) === true && entry.queues.size === 0) {
      this.#subscriptions.delete(id);
      this.#send("unsubscribe", id, entry.query);
    }
    if (this.#subscriptions.size === 0) this.#drop();
  }

  #connect(): void {
    if (this.#closed || this.#connecting || this.#connection !== undefined || this.#subscriptions.size === 0) return;
    this.#connecting = true;
    clearTimeout(this.#retryTimer);
    loadConnect().then(
      (connect) => this.#open(connect),
      (error) => this.#lost(error),
    );
  }

  #open(connect: Connect): void {
    this.#connecting = false;
    if (this.#closed || this.#subscriptions.size === 0) return;
    const connection = connect(this.#url, {
      onOpen: () => {
        this.#stayAlive(connection);
        for (const [id, { query }] of this.#subscriptions) this.#send("subscribe", id, query);
      },
      onText: (text) => this.#receive(text),
      onLife: () => this.#stayAlive(connection),
      onEnd: (reason) => {
        if (this.#connection === connection) this.#lost(reason);
      },
    });
    this.#connection = connection;
  }

  /** After half the allowed silence a ping is sent; without an answer the connection ends. */
  #stayAlive(connection: EventConnection): void {
    // Data that still arrives on an abandoned connection must not keep the process alive.
    if (this.#connection !== connection) return;
    const half = (this.#options.silenceMs ?? DEFAULT_SILENCE_MS) / 2;
    clearTimeout(this.#aliveTimer);
    this.#aliveTimer = setTimeout(() => {
      connection.ping();
      this.#aliveTimer = setTimeout(() => connection.abort(), half);
    }, half);
  }

  #lost(error: Error): void {
    this.#connection = undefined;
    this.#connecting = false;
    clearTimeout(this.#aliveTimer);
    for (const entry of this.#subscriptions.values()) entry.hasBegun = false;
    if (this.#closed || this.#subscriptions.size === 0) return;
    const reason = `cannot follow events of the node at ${this.#url.host}: ${errorText(error)}`;
    this.#options.onProblem?.(clientErrors.unreachable(reason, { cause: error }));
    const pause = Math.min((this.#options.retryMs ?? DEFAULT_RETRY_MS) * 2 ** this.#failures, MAX_RETRY_MS);
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => this.#connect(), pause);
  }

  #drop(): void {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#aliveTimer);
    this.#connection?.close();
    this.#connection = undefined;
  }

  #send(method: string, id: number, query: string): void {
    this.#connection?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params: { query } }));
  }

  #receive(text: string): void {
    const message = parseMessage(text);
    // Old nodes mark events by a suffix of the id.
    const id = Number(String(message.id).replace("#event", ""));
    const entry = this.#subscriptions.get(id);
    if (entry === undefined) return;
    const { error, result } = message;
    if (isRecord(error)) {
      // The next reader asks the node again.
      this.#subscriptions.delete(id);
      const refusal = new RpcError(Number(error.code), String(error.message), String(error.data ?? ""));
      for (const queue of entry.queues) queue.end(refusal);
      return;
    }
    const content = isRecord(result) ? result.data : undefined;
    if (!isRecord(content)) {
      this.#failures = 0;
      entry.hasBegun = true;
    }
    const item: SubscriptionItem = isRecord(content)
      ? { kind: "event", type: String(content.type), value: content.value }
      : RESUMED;
    for (const queue of entry.queues) queue.push(item);
  }
}

function parseMessage(text: string): Readonly<Record<string, unknown>> {
  try {
    const message: unknown = JSON.parse(text);
    return isRecord(message) ? message : {};
  } catch {
    return {};
  }
}

/**
 * A bounded queue between a producer that cannot wait and one consumer. If the consumer is too slow, the queue is
 * emptied and `overflow` replaces the lost items.
 */
export class Queue<T> implements AsyncIterable<T> {
  readonly #limit: number;
  readonly #overflow: T;
  #items: T[] = [];
  #end: { readonly error?: unknown } | undefined;
  #waiting: (() => void) | undefined;

  constructor(limit: number, overflow: T) {
    this.#limit = limit;
    this.#overflow = overflow;
  }

  push(item: T): void {
    if (this.#end !== undefined) return;
    if (this.#items.length >= this.#limit) this.#items = [this.#overflow];
    else this.#items.push(item);
    this.#waiting?.();
  }

  /** Ends the iteration after the current items, with an error if one is given. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#waiting?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#end !== undefined) break;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
      this.#waiting = undefined;
    }
    if (this.#end.error !== undefined) throw this.#end.error;
  }
}
