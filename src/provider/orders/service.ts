import { type DecimalCoin, errorText } from "../../util/index.ts";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatOrderId, type OrderKey } from "../../wire/index.ts";
import { groupNeeds } from "../inventory/index.ts";
import { NO_METER } from "../metrics/index.ts";
import { Book } from "./book.ts";
import { Lifecycle } from "./lifecycle.ts";
import { MAX_CHECKS } from "./limits.ts";
import { Line } from "./line.ts";
import type { OrderOptions } from "./options.ts";
import {
  entryOf,
  type OrderEntry,
  type OrderPhase,
  type OrderStatus,
  Refusal,
  statusOf,
  type Tracked,
} from "./order.ts";
import { Pipeline } from "./pipeline.ts";
import { Bids } from "./stages/bids.ts";
import { fateByEvent, winnerOf } from "./stages/follow.ts";
import { Judge } from "./stages/judge.ts";
import { Reserve } from "./stages/reserve.ts";
import { Listing, type MarketEvent } from "./stages/watch.ts";

/** A message of ours about the bid may be on its way. */
const UNSETTLED: ReadonlySet<OrderPhase> = new Set(["checking", "bidding", "withdrawing"]);

/**
 * Bids on the orders of the market, first come, first served. An order goes from stage to stage, and no stage knows the
 * next: `watch` hears of it, `judge` decides whether to bid, `reserve` takes room and money, `bids` sends the messages,
 * and `follow` says what comes of them. Whatever depends on time happens in `pass`.
 */
export class OrderService {
  readonly #options: OrderOptions;
  readonly #now: () => number;
  readonly #book = new Book();
  readonly #listing: Listing;
  readonly #judge: Judge;
  readonly #reserve: Reserve;
  readonly #line: Line;
  readonly #pipeline: Pipeline;
  readonly #lifecycle: Lifecycle;
  #stopped = false;

  constructor(options: OrderOptions) {
    const { chain, log, meter = NO_METER, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#listing = new Listing(() => chain.openOrders(), log);
    this.#judge = new Judge(options);
    this.#reserve = new Reserve(options);
    this.#line = new Line(this.#book, this.#reserve);
    const bids = new Bids(options);
    const stages = { judge: this.#judge, line: this.#line, reserve: this.#reserve, bids };
    this.#pipeline = new Pipeline({ ...stages, meter, log });
    this.#lifecycle = new Lifecycle(options, { bids, book: this.#book, line: this.#line, pipeline: this.#pipeline });
  }

  /** Checks every open order once, as after a restart: some of them at once, the others lot by lot. */
  async catchUp(): Promise<void> {
    // Orders with a bid come first: a crowd does not delay the end of a bid.
    await this.#listing.read(this.#now(), (text) => this.#options.inventory.has(text));
    this.#takeLot();
  }

  /** Takes what a followed block says of the market. */
  onEvent(event: MarketEvent): void {
    const { action, id } = event;
    const { provider } = this.#options;
    const order = this.#book.get(formatOrderId(id));
    if (action === "order-created" && order === undefined) {
      this.#options.meter?.mark("lastOrder");
      this.#begin(id, "order detected");
    } else if (action === "lease-created" && id.provider === provider) {
      this.#lifecycle.won(id, order);
    } else if (order?.phase === "won" && action === "lease-closed" && id.provider === provider) {
      // The bid stays one that won; operators would otherwise read that its lease still runs.
      order.reason = "its lease has ended";
    } else if (order !== undefined) {
      if (action === "lease-created") Object.assign(order, winnerOf(event));
      this.#lifecycle.apply(order, fateByEvent(order, event, provider));
    }
  }

  /** Does what is due: to be called about once a second. */
  pass(): void {
    if (this.#stopped) return;
    const now = this.#now();
    for (const order of this.#book.all())
      if (order.dueAt !== undefined && order.dueAt <= now) this.#lifecycle.due(order);
    void this.#serveLine(now);
    this.#takeLot();
  }

  /** Releases capacity; orders that found none are tried again soon, if there was any. */
  release(id: OrderKey): void {
    this.#lifecycle.release(id);
  }

  /** Orders that found no capacity are tried again soon: a bid or lease has ended, or the cluster has more than before. */
  roomFound(): void {
    this.#line.found();
  }

  /** Orders whose reservation must stay, because what the chain says of their bids may be out of date. */
  unsettled(): ReadonlySet<string> {
    const busy = this.#book.all().filter(({ phase }) => UNSETTLED.has(phase));
    return new Set(busy.map(({ text }) => text));
  }

  /**
   * The price that an order for the group would get now, or the reason for none. Nothing is reserved. Rejects if the
   * chain cannot be queried.
   */
  async screen(spec: GroupSpec): Promise<DecimalCoin | string> {
    try {
      await this.#judge.checkOffer(spec);
      await this.#reserve.screen(groupNeeds(spec));
      return await this.#judge.price("", spec);
    } catch (error) {
      if (error instanceof Refusal) return error.told;
      throw error;
    }
  }

  /** Orders known, the latest last; with the reason for every refusal. */
  status(): OrderStatus[] {
    return this.#book.all().map(statusOf);
  }

  /** The same for the operator, with the obstacle of each. */
  entries(): OrderEntry[] {
    return this.#book.all().map(entryOf);
  }

  /** Outcome of one order; undefined if the order is not known. */
  find(id: OrderKey): OrderStatus | undefined {
    const order = this.#book.get(formatOrderId(id));
    return order === undefined ? undefined : statusOf(order);
  }

  /** Withdraws every bid that nobody has accepted yet; one on its way to the chain is open at the next call. */
  withdrawOpen(): void {
    for (const order of this.#book.all().filter(({ phase }) => phase === "open")) {
      this.#options.log.info("withdrawing bid", { order: order.text });
      this.#lifecycle.withdraw(order, "bid withdrawn");
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#lifecycle.stop();
  }

  async #serveLine(now: number): Promise<void> {
    const served = await this.#line.next(now, this.#options.retryMs);
    for (const order of served) this.#lifecycle.check(order);
  }

  /** Takes up listed orders, and lists them again where some found no place. */
  #takeLot(): void {
    const now = this.#now();
    const load = { now, isCrowded: this.#book.isCrowded, free: MAX_CHECKS - this.#pipeline.checking };
    for (const id of this.#listing.take(load))
      if (this.#book.get(formatOrderId(id)) === undefined) this.#begin(id, "creating catchup order");
    if (!this.#listing.isDue(load)) return;
    this.catchUp().catch((error: unknown) => {
      this.#options.log.warn("orders could not be listed", { err: errorText(error) });
    });
  }

  #begin({ owner, dseq, gseq, oseq }: OrderKey, message: string): void {
    if (this.#pipeline.checking >= MAX_CHECKS) {
      this.#listing.missed();
      return;
    }
    const id = { owner, dseq, gseq, oseq };
    const text = formatOrderId(id);
    this.#options.log.info(message, { module: "bidengine-service", order: `order/${text}` });
    const order: Tracked = { id, text, detectedAt: this.#now(), phase: "checking", checks: 0 };
    if (this.#book.add(order)) this.#listing.missed();
    this.#lifecycle.begin(order);
  }
}
