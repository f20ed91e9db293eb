import type { BidRecord } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import { formatOrderId, type OrderKey } from "../../wire/index.ts";
import { type Meter, NO_METER } from "../metrics/index.ts";
import { obstaclesWith } from "../reasons.ts";
import type { Book } from "./book.ts";
import { FIRST_PAUSE, MAX_BIDS, MAX_DOUBLINGS } from "./limits.ts";
import { IN_LINE, type Line } from "./line.ts";
import type { OrderOptions } from "./options.ts";
import { describe, ENDED, ENDINGS, type Ending, type OrderPhase, Refusal, type Tracked } from "./order.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Bids } from "./stages/bids.ts";
import { type Fate, fateByState, fateWithoutBid, Pauses } from "./stages/follow.ts";

export interface LifecycleStages {
  readonly bids: Bids;
  readonly book: Book;
  readonly line: Line;
  readonly pipeline: Pipeline;
}

/** Checked again after a while. */
const BY_TIMER = obstaclesWith(({ again }) => again === "timer");
const HAS_BID: ReadonlySet<OrderPhase> = new Set(["open", "withdrawing"]);

/** Takes orders from phase to phase, with what each step means for the room, the log and the counters. */
export class Lifecycle {
  readonly #options: OrderOptions;
  readonly #meter: Meter;
  readonly #now: () => number;
  readonly #stages: LifecycleStages;
  readonly #pauses = new Pauses();
  #stopped = false;

  constructor(options: OrderOptions, stages: LifecycleStages) {
    this.#options = options;
    this.#meter = options.meter ?? NO_METER;
    this.#now = options.now ?? Date.now;
    this.#stages = stages;
  }

  /** No new bid begins, and nothing is asked of the chain. */
  stop(): void {
    this.#stopped = true;
    this.#stages.pipeline.stop();
  }

  /** A new order: checked, unless it rests after an earlier bid. */
  begin(order: Tracked): void {
    if (!this.#rest(order)) this.check(order);
  }

  /** The time of the order's next step has come. */
  due(order: Tracked): void {
    delete order.dueAt;
    if (order.phase === "refused") this.check(order);
    else if (order.phase === "withdrawing") this.#ask(order);
    else if (order.phase === "open") {
      this.#options.log.info("bid timeout, closing bid", { order: order.text });
      this.withdraw(order, "bid timeout");
    }
  }

  /** Releases capacity; orders that found none are tried again soon, if there was any. */
  release(id: OrderKey): void {
    const { inventory } = this.#options;
    const text = formatOrderId(id);
    if (!inventory.has(text)) return;
    inventory.release(text);
    this.#stages.line.found();
  }

  /** Begins the way of an order to a bid. */
  check(order: Tracked): void {
    if (!ENDED.has(order.phase)) order.phase = "checking";
    delete order.dueAt;
    const run = async (): Promise<void> => {
      const own = await this.#stages.pipeline.run(order);
      if (own !== undefined) this.#resume(order, own);
      else if (order.phase === "bidding") this.#open(order);
    };
    run()
      .catch((error: unknown) => this.#refuse(order, error))
      .finally(() => {
        // The order may have ended before its room was reserved.
        if (order.phase === "lost" || order.phase === "closed") this.release(order.id);
      });
  }

  /** A bid from before the restart. */
  #resume(order: Tracked, { state, price }: BidRecord): void {
    order.price = price.amount;
    if (state === "open") {
      this.#options.log.info("found existing bid", { order: order.text });
      this.#options.inventory.hold(order.text, order.rows ?? [], "pending");
      this.#open(order);
      // A withdrawal of the run before may still be on its way.
      order.ending = "bid timeout";
    } else if (state === "active") {
      order.phase = "won";
    } else {
      order.phase = "lost";
      order.reason = `bid ${state}`;
    }
  }

  /** Logs the reason once, and checks again later if the reason may pass. */
  #refuse(order: Tracked, error: unknown): void {
    if (order.phase !== "checking" && order.phase !== "bidding") return;
    const { inventory, log, retryMs } = this.#options;
    const refusal = error instanceof Refusal ? error : Refusal.hidden("unjudged", errorText(error));
    // Room that an order gives back while it stays in line is no reason to go through the line again.
    if (IN_LINE.has(refusal.obstacle)) inventory.release(order.text);
    else this.release(order.id);
    if (order.reason !== refusal.message) log.info("declined to bid", { order: order.text, reason: refusal.message });
    order.phase = "refused";
    describe(order, refusal);
    if (refusal.obstacle === "money") this.#stages.line.stop(refusal);
    if (!BY_TIMER.has(refusal.obstacle)) return;
    order.dueAt = this.#now() + retryMs * 2 ** Math.min(order.checks, MAX_DOUBLINGS);
    order.checks += 1;
  }

  #open(order: Tracked): void {
    order.phase = "open";
    order.checks = 0;
    delete order.ending;
    order.dueAt = this.#now() + this.#options.bidTimeoutMs;
  }

  /** Withdraws the bid; the chain returns the deposit. Until a block has it, the reservation is there for a lease. */
  withdraw(order: Tracked, ending: Ending): void {
    order.phase = "withdrawing";
    order.ending = ending;
    delete order.dueAt;
    void this.#stages.bids
      .withdraw(order.id, () => order.phase === "withdrawing")
      .then((isGone) => {
        if (!isGone) this.#ask(order);
        else if (order.phase === "withdrawing") this.apply(order, fateWithoutBid(order));
      });
  }

  /** Only the chain knows what became of a bid that could not be withdrawn, or that ended without our doing. */
  #ask(order: Tracked): void {
    const { chain, provider, retryMs } = this.#options;
    if (this.#stopped || order.phase !== "withdrawing") return;
    const ask = async (): Promise<void> => {
      const bid = await chain.bid({ ...order.id, provider });
      if (!this.#stopped) this.apply(order, fateByState(order, bid?.state));
    };
    ask().catch(() => {
      order.dueAt = this.#now() + retryMs;
    });
  }

  /** Does what an event or an answer of the chain means for the order. */
  apply(order: Tracked, fate: Fate): void {
    if (fate.next === "won") this.won(order.id, order);
    else if (fate.next === "open") this.#open(order);
    else if (fate.next === "over") this.#end(order, fate);
    else if (fate.next === "pause") this.#pause(order, fate.ending);
    else if (fate.next === "ask") {
      order.phase = "withdrawing";
      order.ending = fate.ending;
      this.#ask(order);
    }
  }

  /** The lease is ours, whether the order is known here or not. */
  won(id: OrderKey, order: Tracked | undefined): void {
    const text = formatOrderId(id);
    this.#options.log.info("lease won", { module: "bidengine-order", order: `order/${text}` });
    if (order !== undefined) {
      delete order.dueAt;
      if (order.phase !== "won") this.#meter.count("orderComplete", { result: "lease-won" });
      order.phase = "won";
    }
    this.#options.inventory.promote(text);
    // Its bid no longer counts among those that nobody has accepted.
    this.#stages.line.found();
    this.#options.onWon(id);
  }

  #end(order: Tracked, { phase, ending }: { phase: "lost" | "closed"; ending: Ending }): void {
    if (order.phase === "open") this.#options.log.info(ending, { order: order.text });
    if (HAS_BID.has(order.phase)) this.#meter.count("orderComplete", { result: ENDINGS[ending].outcome });
    delete order.dueAt;
    if (order.phase === "refused" && order.reason !== undefined) order.declined = order.reason;
    order.phase = phase;
    order.reason = ending;
    this.release(order.id);
  }

  /** The order is open without our bid, and gets another one after a pause, behind those that came meanwhile. */
  #pause(order: Tracked, ending: Ending): void {
    const { bidTimeoutMs, log, retryMs } = this.#options;
    const end = ENDINGS[ending];
    this.#meter.count("orderComplete", { result: end.outcome });
    const firstMs = ending === "outbid" ? retryMs : bidTimeoutMs * FIRST_PAUSE;
    this.#pauses.begin(order.text, { now: this.#now(), firstMs, reason: "again" in end ? end.again : ending });
    this.#stages.book.toBack(order);
    this.#rest(order);
    log.info("order paused", { order: order.text, reason: order.reason });
    this.release(order.id);
  }

  /** Lets the order wait for the end of its pause; false if it has none. */
  #rest(order: Tracked): boolean {
    const pause = this.#pauses.find(order.text);
    if (pause === undefined || pause.until <= this.#now()) return false;
    const isLast = pause.until === Number.POSITIVE_INFINITY;
    order.phase = "refused";
    const spent = `it bid ${MAX_BIDS} times on this order, and nobody accepted a bid`;
    describe(order, isLast ? new Refusal("spent", spent) : new Refusal("paused", pause.reason));
    if (!isLast) order.dueAt = pause.until;
    return true;
  }
}
