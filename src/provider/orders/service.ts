import type { OrderRecord } from "../../client/index.ts";
import { type Dec, type DecimalCoin, errorText, formatDecShort, isOneOf, Semaphore } from "../../util/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatOrderId, marketErrors, type OrderKey } from "../../wire/index.ts";
import { groupNeeds } from "../inventory/index.ts";
import { type Meter, NO_METER, timed } from "../metrics/index.ts";
import { bidMessage, Rejected, Withdrawn, withdrawBidMessage } from "../outbox/index.ts";
import { type Obstacle, obstaclesWith, REASONS } from "../reasons.ts";
import type { MarketEvent } from "./events.ts";
import { highestPrice } from "./filters.ts";
import { bidsByOwner, PATIENCE, sizeOf } from "./giving-way.ts";
import { Money } from "./money.ts";
import type { OrderOptions } from "./options.ts";
import { type OrderEntry, type OrderPhase, type OrderStatus, Refusal } from "./order.ts";
import { type OpenBid, RELIEVED, Relief } from "./relief.ts";
import { Terms } from "./terms.ts";
import {
  BIDS_AGAIN,
  type Ending,
  entryOf,
  MAX_BIDS,
  noteLeaseEnd,
  OUTCOMES,
  Pauses,
  statusOf,
  type Tracked,
} from "./tracked.ts";
import { Backlog, MAX_LOOKS } from "./waiting/backlog.ts";
import { Chances } from "./waiting/chances.ts";
import { AWAITED, ENDED, OrderMemory, WAITING_AGAIN } from "./waiting/memory.ts";
import { RoomPass } from "./waiting/room-pass.ts";
import { Turns } from "./waiting/turns.ts";

type OwnBidState = "open" | "active" | "lost" | "closed";

/** A waiting order is checked less and less often: the interval stays the same after this many doublings. */
const MAX_DOUBLINGS = 5;

/** Checked again after a while. */
const PASSING = obstaclesWith(({ again }) => again === "timer");
/** A message of ours about the bid may be on its way. */
const UNSETTLED: ReadonlySet<OrderPhase> = new Set(["checking", "bidding", "withdrawing"]);
/** Checked again when a reservation is released. */
const AWAIT_ROOM = obstaclesWith(({ again }) => again === "room");
/** The order has a bid of ours. */
const HAS_BID: ReadonlySet<OrderPhase> = new Set(["open", "withdrawing"]);
/** Room is kept for a bid on the order. */
const TAKES_ROOM: ReadonlySet<OrderPhase> = new Set(["bidding", "open", "withdrawing"]);
/** Ends of a bid that its tenant could have accepted and did not. */
const WASTED: ReadonlySet<Ending> = new Set([
  "order closed",
  "bid timeout",
  "bid withdrawn: others waited for its room",
]);
/** The chain's reason for the end of a bid whose place a cheaper one took. */
const OUTBID = Closed_Reason[Closed_Reason.outbid];
const LOOKS_AT_ONCE = 16;
/** After an unaccepted bid, the order first rests for this part of the bid timeout. */
const FIRST_PAUSE = 1 / 5;
/** Longest delay of a timer of Node.js. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Watches the orders of the market and bids on fitting ones. */
export class OrderService {
  readonly #options: OrderOptions;
  readonly #meter: Meter;
  readonly #orders = new Map<string, Tracked>();
  readonly #memory = new OrderMemory(this.#orders);
  #stopped = false;
  readonly #backlog: Backlog;
  /** Orders that are being looked at, or are about to be. */
  #looking = 0;
  readonly #money: Money;
  readonly #terms: Terms;
  readonly #room: RoomPass;
  readonly #relief: Relief;
  readonly #chances = new Chances();
  readonly #turns = new Turns();
  readonly #pauses = new Pauses();
  /** A burst of orders asks the chain a few questions at a time. */
  readonly #looks = new Semaphore(LOOKS_AT_ONCE);

  constructor(options: OrderOptions) {
    this.#options = options;
    this.#meter = options.meter ?? NO_METER;
    const { inventory, log, now = Date.now, patience = PATIENCE } = options;
    this.#terms = new Terms(options);
    this.#money = new Money(options, {
      waiting: (obstacles) => this.#refused(obstacles),
      check: (tracked) => this.#check(tracked),
    });
    this.#relief = new Relief({
      inventory,
      log,
      now,
      patience,
      waiting: (obstacles) => this.#refused(obstacles),
      bids: () => this.#openBids(),
      withdraw: (tracked) => this.#withdraw(tracked, "bid withdrawn: others waited for its room"),
      check: (tracked) => this.#check(tracked),
      helped: () => this.#turns.taken(),
    });
    this.#room = new RoomPass({
      waiting: () => this.#nextTurn(),
      mayFit: (tracked) => this.#mayFit(tracked),
      check: (tracked) => this.#check(tracked),
    });
    this.#backlog = new Backlog({
      list: () => options.chain.openOrders(),
      isFirst: (text) => inventory.has(text),
      places: (least) => this.#places(least),
      begin: (id) => this.#takeUp(id),
      log,
    });
  }

  /** Checks every open order once, as after a restart: some at once, the others in batches. */
  catchUp(): Promise<void> {
    return this.#backlog.begin();
  }

  /** Handles a market event of a followed block. */
  onEvent({ action, id, attributes }: MarketEvent): void {
    const own = id.provider === this.#options.provider;
    if (action === "order-created") this.#detected(id);
    else if (action === "lease-created") this.#leased(id, own);
    else if (action === "order-closed") this.#end(id, "closed", "order closed");
    else if (action === "bid-lost" && own && attributes.get("reason") === OUTBID) this.#outbid(id);
    else if (action === "bid-lost" && own) this.#end(id, "lost", "bid lost");
    else if (action === "bid-closed" && own) this.#bidClosed(id);
    else if (action === "lease-closed" && own) noteLeaseEnd(this.#orders.get(formatOrderId(id)));
  }

  /** Releases capacity; orders that found none are tried again soon, if there was any. */
  release(id: OrderKey): void {
    const text = formatOrderId(id);
    const held = this.#options.inventory.has(text);
    this.#options.inventory.release(text);
    this.#relief.released();
    if (held) this.roomFound();
  }

  /** Orders that found no capacity are tried again soon: a lease has ended, or the cluster has more than before. */
  roomFound(): void {
    if (!this.#stopped) this.#room.begin();
  }

  #nextTurn(): readonly Tracked[] {
    const waiting = this.#refused(AWAIT_ROOM);
    this.#turns.taken();
    return waiting;
  }

  /** Whether there is room now for an order that still waits for it; one that was too large only has to fit some day. */
  #mayFit({ text, phase, obstacle, rows }: Tracked): boolean {
    if (phase !== "refused" || obstacle === undefined || !AWAIT_ROOM.has(obstacle)) return false;
    const { inventory } = this.#options;
    return (
      rows === undefined || (obstacle === "size" ? inventory.couldFit(rows) : inventory.hasRoom({ order: text, rows }))
    );
  }

  /** Orders whose reservation must stay, because what the chain says of their bids may be out of date. */
  unsettled(): ReadonlySet<string> {
    const busy = [...this.#orders.values()].filter(({ phase }) => UNSETTLED.has(phase));
    return new Set(busy.map(({ text }) => text));
  }

  /**
   * The price that an order for the group would get now, or the reason for none. Nothing is reserved. Rejects if the
   * chain cannot be queried.
   */
  async screen(spec: GroupSpec): Promise<DecimalCoin | string> {
    try {
      return await this.#screen(spec);
    } catch (error) {
      if (error instanceof Refusal) return error.told;
      throw error;
    }
  }

  async #screen(spec: GroupSpec): Promise<DecimalCoin> {
    await this.#terms.checkOffer(spec);
    this.#terms.checkRoom(spec);
    await this.#money.check();
    return { denom: highestPrice(spec).denom, amount: await this.#terms.price("", spec) };
  }

  /** Orders known, the latest last; with the reason for every refusal. */
  status(): OrderStatus[] {
    return [...this.#orders.values()].map(statusOf);
  }

  /** The same for the operator, with the obstacle of each. */
  entries(): OrderEntry[] {
    return [...this.#orders.values()].map(entryOf);
  }

  /** The status of one order; undefined if it is unknown. */
  find(id: OrderKey): OrderStatus | undefined {
    const tracked = this.#orders.get(formatOrderId(id));
    return tracked === undefined ? undefined : statusOf(tracked);
  }

  /** Withdraws every unaccepted bid; a bid on its way to the chain is open at the next call. */
  withdrawOpen(): void {
    for (const tracked of this.#orders.values()) {
      if (tracked.phase !== "open") continue;
      this.#options.log.info("withdrawing bid", { order: tracked.text });
      this.#withdraw(tracked, "bid withdrawn");
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#money.stop();
    this.#room.stop();
    this.#backlog.stop();
    this.#relief.stop();
    for (const { timer } of this.#orders.values()) clearTimeout(timer);
  }

  #detected(id: OrderKey): void {
    if (this.#orders.has(formatOrderId(id))) return;
    this.#meter.mark("lastOrder");
    this.#options.log.info("order detected", { module: "bidengine-service", order: `order/${formatOrderId(id)}` });
    this.#begin(id);
  }

  /** An order that was open before. */
  #takeUp(id: OrderKey): void {
    const text = formatOrderId(id);
    if (this.#orders.has(text)) return;
    this.#options.log.info("creating catchup order", { module: "bidengine-service", order: `order/${text}` });
    this.#begin(id);
  }

  #begin(id: OrderKey): void {
    if (this.#looking + this.#room.queued >= MAX_LOOKS) {
      this.#backlog.missed();
      return;
    }
    const { owner, dseq, gseq, oseq } = id;
    const { now = Date.now } = this.#options;
    const text = formatOrderId(id);
    const seen = { detectedAt: now(), openSince: now(), looks: 0 };
    const tracked: Tracked = { id: { owner, dseq, gseq, oseq }, text, phase: "checking", ...seen };
    this.#orders.set(tracked.text, tracked);
    this.#forgetOldest();
    if (!this.#rest(tracked) && !this.#room.queue(tracked)) this.#check(tracked);
  }

  #check(tracked: Tracked): void {
    tracked.phase = "checking";
    delete tracked.againAt;
    this.#consider(tracked).catch((error: unknown) => {
      if (tracked.phase === "checking" || tracked.phase === "bidding") this.#refuse(tracked, error);
    });
  }

  /** From the first check to the confirmed bid. Throws the reason for not bidding. */
  async #consider(tracked: Tracked): Promise<void> {
    try {
      this.#looking += 1;
      const offer = await this.#looks
        .run(() => this.#look(tracked))
        .finally(() => {
          this.#looking -= 1;
        });
      if (offer !== undefined && !this.#left(tracked)) await this.#bid(tracked, offer);
    } finally {
      this.#money.settle(tracked);
    }
  }

  /** The price of our bid, with capacity reserved; undefined if there is nothing left to bid on. */
  async #look(tracked: Tracked): Promise<DecimalCoin | undefined> {
    const { chain, inventory, log, provider } = this.#options;
    if (ENDED.has(tracked.phase)) return undefined;
    const order = await chain.order(tracked.id);
    if (order === undefined) throw new Refusal("gone", "the order is not on the chain");
    if (order.state !== "open") throw new Refusal("gone", `the order is ${order.state}`);
    log.debug("group fetched", { order: tracked.text });
    const rows = groupNeeds(order.spec);
    tracked.rows = rows;
    const own = await chain.bid({ ...tracked.id, provider });
    // An earlier release of the chain kept bids that were withdrawn; the next bid replaces them.
    if (own !== undefined && own.state !== "closed") {
      this.#resume(tracked, { state: own.state, price: own.price.amount }, () =>
        inventory.hold(tracked.text, rows, "pending"),
      );
      return undefined;
    }
    try {
      await this.#judge(tracked, order);
      if (this.#left(tracked)) return undefined;
      // A waiting order is checked often, and reported once.
      log[tracked.looks === 0 ? "info" : "debug"]("requesting reservation", { order: tracked.text });
      await timed(this.#meter, "reserving", () => this.#reserve(tracked, rows));
    } catch (error) {
      if (error instanceof Refusal && RELIEVED.has(error.obstacle)) await this.#checkWorth(tracked, order);
      throw error;
    }
    if (this.#left(tracked)) return undefined;
    tracked.phase = "bidding";
    const price = await timed(this.#meter, "pricing", () => this.#terms.price(tracked.id.owner, order.spec));
    await this.#terms.checkPlace(tracked.id, price);
    return { denom: highestPrice(order.spec).denom, amount: price };
  }

  /** A bid from before the restart. */
  #resume(tracked: Tracked, bid: { state: OwnBidState; price: Dec }, hold: () => void): void {
    tracked.price = bid.price;
    if (bid.state === "open") {
      this.#options.log.info("found existing bid", { order: tracked.text });
      hold();
      this.#open(tracked);
    } else if (bid.state === "active") {
      tracked.phase = "won";
    } else {
      tracked.phase = "lost";
      tracked.reason = `bid ${bid.state}`;
      this.#options.inventory.release(tracked.text);
    }
  }

  /** Throws the reason for not bidding, before anything is reserved. */
  async #judge(tracked: Tracked, order: OrderRecord): Promise<void> {
    try {
      await this.#terms.checkOffer(order.spec);
      await this.#money.take(tracked);
      this.#meter.count("shouldBid", { result: "pass" });
    } catch (error) {
      this.#meter.count("shouldBid", { result: error instanceof Refusal ? "decline" : "fail" });
      throw error;
    }
  }

  /** Nobody's bid gives way to an order that would get none anyway. */
  async #checkWorth(tracked: Tracked, { id, spec }: OrderRecord): Promise<void> {
    tracked.quote ??= await this.#terms.price(id.owner, spec);
    await this.#terms.checkPlace(id, tracked.quote);
  }

  /** Reserves durably: a bid whose reservation a crash forgets would promise the capacity twice. */
  async #reserve(tracked: Tracked, rows: ReturnType<typeof groupNeeds>): Promise<void> {
    const { inventory } = this.#options;
    try {
      inventory.reserve(tracked.text, rows);
      this.#meter.count("reservation", { result: "success" });
    } catch (error) {
      this.#meter.count("reservation", { result: "fail" });
      throw new Refusal(inventory.couldFit(rows) ? "capacity" : "size", errorText(error));
    }
    await inventory.durable().catch((error: unknown) => {
      throw Refusal.hidden("unwritten", `the reservation could not be written: ${errorText(error)}`);
    });
    const level = tracked.looks === 0 ? "info" : "debug";
    this.#options.log[level]("Reservation fulfilled", { order: tracked.text });
  }

  async #bid(tracked: Tracked, price: DecimalCoin): Promise<void> {
    const { deposit, provider, send, log } = this.#options;
    log.info("submitting fulfillment", {
      order: tracked.text,
      price: `${formatDecShort(price.amount)}${price.denom}`,
    });
    tracked.price = price.amount;
    const message = bidMessage(tracked.id, { provider, price, deposit });
    try {
      await send(message, `bid ${tracked.text}`, { isWanted: () => tracked.phase === "bidding" });
    } catch (error) {
      if (error instanceof Withdrawn) return;
      if (!isOneOf([marketErrors.bidExists], error)) {
        this.#meter.count("bid", { action: "create", result: "fail" });
        throw error instanceof Rejected ? refusedBid(error) : error;
      }
    }
    this.#meter.count("bid", { action: "create", result: "success" });
    this.#meter.mark("lastBid");
    log.info("bid complete", { order: tracked.text });
    if (tracked.phase === "bidding") this.#open(tracked);
  }

  /** Orders that wait for an obstacle, in the order of their turns. */
  #refused(obstacles: ReadonlySet<Obstacle>): Tracked[] {
    const open = bidsByOwner(this.#openBids());
    const waiting = [...this.#orders.values()]
      .filter(({ phase, obstacle }) => phase === "refused" && obstacles.has(obstacle ?? "moment"))
      .map((tracked) => {
        const { id, rows = [], detectedAt } = tracked;
        const chances = (open.get(id.owner) ?? 0) + this.#chances.of(id.owner);
        return { tracked, chances, size: sizeOf(rows), detectedAt };
      });
    return this.#turns.sort(waiting).map(({ tracked }) => tracked);
  }

  #openBids(): OpenBid[] {
    const open = [...this.#orders.values()].filter(({ phase }) => phase === "open");
    return open.map((tracked) => ({ owner: tracked.id.owner, since: tracked.openSince, tracked }));
  }

  #open(tracked: Tracked): void {
    const { now = Date.now } = this.#options;
    tracked.phase = "open";
    tracked.looks = 0;
    tracked.openSince = now();
    this.#relief.later();
    // A look that was under way at the end must not keep the process alive.
    if (this.#stopped) return;
    tracked.timer = setTimeout(
      () => {
        this.#options.log.info("bid timeout, closing bid", { order: tracked.text });
        this.#withdraw(tracked, "bid timeout");
      },
      Math.min(this.#options.bidTimeoutMs, MAX_DELAY_MS),
    );
  }

  /**
   * Withdraws the bid; the chain returns the deposit. Until the chain confirms it, the tenant may accept the bid: then
   * the withdrawal fails, and the reservation is there for the lease.
   */
  #withdraw(tracked: Tracked, ending: Ending): void {
    const { provider, send } = this.#options;
    clearTimeout(tracked.timer);
    tracked.phase = "withdrawing";
    tracked.ending = ending;
    const isWanted = () => tracked.phase === "withdrawing";
    send(withdrawBidMessage({ ...tracked.id, provider }), `close bid ${tracked.text}`, { isWanted })
      .then(() => {
        this.#meter.count("bid", { action: "close", result: "success" });
        if (tracked.phase === "withdrawing") this.#withdrawn(tracked);
      })
      .catch((error: unknown) => {
        if (error instanceof Withdrawn) return;
        this.#meter.count("bid", { action: "close", result: "fail" });
        this.#options.log.info("bid not withdrawn, asking what became of it", {
          order: tracked.text,
          err: errorText(error),
        });
        this.#askAboutBid(tracked);
      });
  }

  /** Only the chain knows the outcome of a bid that could not be withdrawn, or that ended without our doing. */
  #askAboutBid(tracked: Tracked): void {
    const { chain, provider, retryMs } = this.#options;
    if (this.#stopped || tracked.phase !== "withdrawing") return;
    const ask = async (): Promise<void> => {
      const bid = await chain.bid({ ...tracked.id, provider });
      if (this.#stopped || tracked.phase !== "withdrawing") return;
      if (bid?.state === "active") this.#leased(tracked.id, true);
      else if (bid?.state === "open") this.#open(tracked);
      else if (bid?.state === "lost") this.#finish(tracked, "lost", "bid lost");
      else this.#withdrawn(tracked);
    };
    ask().catch(() => {
      if (this.#stopped) return;
      tracked.timer = setTimeout(() => this.#askAboutBid(tracked), retryMs);
    });
  }

  /** An event about an earlier bid may come while the order has another one: then the chain is asked. */
  #bidClosed(id: OrderKey): void {
    const tracked = this.#orders.get(formatOrderId(id));
    if (tracked?.phase === "withdrawing") this.#withdrawn(tracked);
    if (tracked?.phase !== "open") return;
    clearTimeout(tracked.timer);
    tracked.phase = "withdrawing";
    tracked.ending = "bid closed";
    this.#askAboutBid(tracked);
  }

  /** Our bid has left the chain without a lease. */
  #withdrawn(tracked: Tracked): void {
    const { ending = "bid timeout" } = tracked;
    const reason = BIDS_AGAIN[ending];
    if (reason === undefined) {
      this.#finish(tracked, "lost", ending);
      return;
    }
    this.#meter.count("orderComplete", { result: OUTCOMES[ending] });
    if (WASTED.has(ending)) this.#chances.wasted(tracked.id.owner);
    this.#pause(tracked, reason, this.#options.bidTimeoutMs * FIRST_PAUSE);
  }

  /** The order stays open: we bid again when there is room, or when the most expensive bid costs more than ours. */
  #outbid(id: OrderKey): void {
    const tracked = this.#orders.get(formatOrderId(id));
    if (tracked?.phase === "withdrawing") this.#withdrawn(tracked);
    // The block of the bid may also hold the cheaper one.
    if (tracked?.phase !== "open" && tracked?.phase !== "bidding") return;
    this.#meter.count("orderComplete", { result: OUTCOMES["bid lost"] });
    this.#pause(tracked, "a cheaper bid took the place of ours on a full order", this.#options.retryMs);
  }

  /** The order is open without our bid, and gets another one after a pause. */
  #pause(tracked: Tracked, reason: string, firstMs: number): void {
    const { log, now = Date.now } = this.#options;
    clearTimeout(tracked.timer);
    this.#pauses.begin(tracked.text, { now: now(), firstMs, reason });
    if (!this.#rest(tracked)) this.#check(tracked);
    log.info("order paused", { order: tracked.text, reason: tracked.reason });
    this.release(tracked.id);
  }

  /** Lets the order wait for the end of its pause; false if it has none. */
  #rest(tracked: Tracked): boolean {
    const { now = Date.now } = this.#options;
    const pause = this.#pauses.find(tracked.text);
    if (pause === undefined || pause.until <= now()) return false;
    const isLast = pause.until === Number.POSITIVE_INFINITY;
    tracked.phase = "refused";
    tracked.code = isLast ? "spent" : "paused";
    tracked.obstacle = REASONS[tracked.code].obstacle;
    tracked.reason = isLast ? `it bid ${MAX_BIDS} times on this order, and nobody accepted a bid` : pause.reason;
    tracked.told = tracked.reason;
    if (!isLast) this.#checkIn(tracked, pause.until - now());
    return true;
  }

  #checkIn(tracked: Tracked, ms: number): void {
    const { now = Date.now } = this.#options;
    if (this.#stopped) return;
    tracked.againAt = now() + ms;
    tracked.timer = setTimeout(() => this.#check(tracked), Math.min(ms, MAX_DELAY_MS));
  }

  #leased(id: OrderKey, own: boolean): void {
    const text = formatOrderId(id);
    const tracked = this.#orders.get(text);
    if (!own) {
      this.#end(id, "lost", "lease lost");
      return;
    }
    this.#options.log.info("lease won", { module: "bidengine-order", order: `order/${text}` });
    if (tracked !== undefined) {
      clearTimeout(tracked.timer);
      if (tracked.phase !== "won") this.#meter.count("orderComplete", { result: "lease-won" });
      tracked.phase = "won";
    }
    this.#chances.taken(id.owner);
    this.#options.inventory.promote(text);
    this.#options.onWon(id);
  }

  #end(id: OrderKey, phase: "lost" | "closed", reason: Ending): void {
    const tracked = this.#orders.get(formatOrderId(id));
    if (tracked === undefined || ENDED.has(tracked.phase)) return;
    if (tracked.phase === "open") this.#options.log.info(reason, { order: tracked.text });
    this.#finish(tracked, phase, reason);
  }

  #finish(tracked: Tracked, phase: "lost" | "closed", reason: Ending): void {
    clearTimeout(tracked.timer);
    if (HAS_BID.has(tracked.phase)) this.#meter.count("orderComplete", { result: OUTCOMES[reason] });
    if (TAKES_ROOM.has(tracked.phase) && WASTED.has(reason)) this.#chances.wasted(tracked.id.owner);
    tracked.phase = phase;
    tracked.reason = reason;
    this.release(tracked.id);
  }

  /** Logs the reason once, and checks again later if the reason may pass. */
  #refuse(tracked: Tracked, error: unknown): void {
    const { inventory, log, retryMs } = this.#options;
    inventory.release(tracked.text);
    const reason = errorText(error);
    if (tracked.reason !== reason) log.info("declined to bid", { order: tracked.text, reason });
    tracked.phase = "refused";
    tracked.reason = reason;
    const refusal = error instanceof Refusal ? error : Refusal.hidden("unjudged", reason);
    tracked.told = refusal.told;
    tracked.code = refusal.reason;
    tracked.obstacle = refusal.obstacle;
    if (tracked.obstacle === "money") this.#money.later();
    this.#relief.later();
    if (!PASSING.has(tracked.obstacle)) return;
    const doublings = Math.min(tracked.looks, MAX_DOUBLINGS);
    tracked.looks += 1;
    this.#checkIn(tracked, retryMs * 2 ** doublings);
  }

  /** The order ended while we were looking at it. */
  #left(tracked: Tracked): boolean {
    if (!ENDED.has(tracked.phase)) return this.#stopped;
    this.#options.inventory.release(tracked.text);
    return true;
  }

  #forgetOldest(): void {
    const { over, waiting } = this.#memory.forget(() => this.#refused(AWAITED));
    for (const { text } of [...over, ...waiting]) this.#orders.delete(text);
    for (const tracked of waiting) {
      clearTimeout(tracked.timer);
      // Lists that still contain it skip closed orders.
      tracked.phase = "closed";
    }
    if (waiting.length > 0) this.#backlog.missed();
  }

  /** For orders on the chain that are not kept in mind: no more than the least while many wait. */
  #places(least: number): number {
    const waiting = [...this.#orders.values()].filter(({ phase, obstacle }) => {
      return phase === "refused" && obstacle !== undefined && AWAITED.has(obstacle);
    });
    const free = Math.max(0, MAX_LOOKS - this.#looking - this.#room.queued);
    return Math.min(free, Math.max(least, WAITING_AGAIN - waiting.length));
  }
}

/** The market's refusal of a bid is final unless the order was full; a fee that could not be paid may be paid later. */
function refusedBid(error: Rejected): Refusal {
  const isFinal = error.codespace === "market" && !isOneOf([marketErrors.tooManyBids], error);
  return new Refusal(isFinal ? "refused" : "unsent", `the chain refused the bid: ${error.message}`);
}
