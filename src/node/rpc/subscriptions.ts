import { type CommittedBlock, eventsOf, matches, type Query } from "../../engine/index.ts";
import type { RequestId } from "./calls/jsonrpc.ts";
import { parseQueryText, refuse } from "./calls/method.ts";
import { type EventFrame, eventFrame } from "./json/event-json.ts";

/** The message to a reader that is dropped because it reads its frames too slowly. */
export const NOT_READING = "client is not pulling messages fast enough";

/** Where a subscriber's frames go. */
export interface Sink {
  send(frame: string): void;
  /** Whether the client reads fast enough; one that is not ready when a block comes is dropped. */
  isReady(): boolean;
  drop(reason: string): void;
}

export interface SubscriptionLimits {
  readonly maxClients: number;
  readonly maxPerClient: number;
}

interface Subscription {
  readonly id: RequestId;
  readonly text: string;
  readonly query: Query;
}

/** The subscriptions of all clients. Announcing a block never waits for a client. */
export class Subscriptions {
  readonly #limits: SubscriptionLimits;
  /** Subscriptions of each client by their query, with normalised spaces. */
  readonly #clients = new Map<Sink, Map<string, Subscription>>();

  constructor(limits: SubscriptionLimits) {
    this.#limits = limits;
  }

  /** Throws when the query is bad or subscribed already, or a limit is reached. */
  subscribe(sink: Sink, text: string, id: RequestId): void {
    const { maxClients, maxPerClient } = this.#limits;
    const query = parseQueryText(text);
    const key = keyOf(query);
    const own = this.#clients.get(sink);
    if (own === undefined && this.#clients.size >= maxClients)
      throw refuse(`max_subscription_clients ${maxClients} reached`);
    if (own !== undefined && own.size >= maxPerClient)
      throw refuse(`max_subscriptions_per_client ${maxPerClient} reached`);
    if (own?.has(key)) throw refuse("already subscribed");
    const subscription = { id, text, query };
    if (own === undefined) this.#clients.set(sink, new Map([[key, subscription]]));
    else own.set(key, subscription);
  }

  unsubscribe(sink: Sink, text: string): void {
    const own = this.#clients.get(sink);
    if (own?.delete(keyOf(parseQueryText(text))) !== true) throw refuse("subscription not found");
    if (own.size === 0) this.#clients.delete(sink);
  }

  unsubscribeAll(sink: Sink): void {
    if (!this.#clients.delete(sink)) throw refuse("subscription not found");
  }

  get hasClients(): boolean {
    return this.#clients.size > 0;
  }

  /** Forgets a client that has gone. */
  leave(sink: Sink): void {
    this.#clients.delete(sink);
  }

  /** Notifies all subscribers of a block's events. */
  publish(block: CommittedBlock): void {
    this.#dropSlow();
    if (this.#clients.size === 0) return;
    for (const published of eventsOf(block)) {
      let frame: EventFrame | undefined;
      for (const [sink, own] of this.#clients) {
        for (const { id, text, query } of own.values()) {
          if (!matches(query, published.attributes)) continue;
          frame ??= eventFrame(published);
          sink.send(frameText(id, text, frame));
        }
      }
    }
  }

  #dropSlow(): void {
    for (const sink of [...this.#clients.keys()]) {
      if (sink.isReady()) continue;
      this.#clients.delete(sink);
      sink.drop(NOT_READING);
    }
  }
}

function keyOf(query: Query): string {
  return JSON.stringify(query.map(({ key, operator, operand }) => [key, operator, operand.kind, textOf(operand)]));
}

function textOf(operand: Query[number]["operand"]): string {
  return operand.kind === "none" ? "" : operand.text;
}

function frameText(id: RequestId, query: string, { data, events }: EventFrame): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"query":${JSON.stringify(query)}`;
  return `${head},"data":${data},"events":${events}}}`;
}
