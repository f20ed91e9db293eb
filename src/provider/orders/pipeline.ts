import type { BidRecord, OrderRecord } from "../../client/index.ts";
import { type DecimalCoin, type Logger, Semaphore } from "../../util/index.ts";
import { groupNeeds, type RowNeed } from "../inventory/index.ts";
import { type Meter, timed } from "../metrics/index.ts";
import { CHECKS_AT_ONCE } from "./limits.ts";
import type { Line } from "./line.ts";
import { Refusal, type Tracked } from "./order.ts";
import type { Bids } from "./stages/bids.ts";
import type { Judge } from "./stages/judge.ts";
import type { Reserve } from "./stages/reserve.ts";

export interface Stages {
  readonly judge: Judge;
  readonly line: Line;
  readonly reserve: Reserve;
  readonly bids: Bids;
  readonly meter: Meter;
  readonly log: Logger;
}

/** The way of an order from its first check to a bid in a block. Each stage throws the reason for not bidding. */
export class Pipeline {
  readonly #stages: Stages;
  /** A burst of orders asks the chain a few questions at a time. */
  readonly #turns = new Semaphore(CHECKS_AT_ONCE);
  #checking = 0;
  #stopped = false;

  constructor(stages: Stages) {
    this.#stages = stages;
  }

  /** Number of orders that are being checked, or are about to be. */
  get checking(): number {
    return this.#checking;
  }

  /** No new bid begins. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Resolves when the bid is in a block or the order has ended meanwhile; with the bid that the chain already had, as after
   * a restart.
   */
  async run(order: Tracked): Promise<BidRecord | undefined> {
    const { bids, reserve } = this.#stages;
    this.#checking += 1;
    try {
      const found = await this.#turns
        .run(() => this.#check(order))
        .finally(() => {
          this.#checking -= 1;
        });
      if (found === undefined || "state" in found) return found;
      order.price = found.amount;
      await bids.place(order.id, found, () => order.phase === "bidding");
      return undefined;
    } finally {
      reserve.settle(order.text);
    }
  }

  /** The price of our bid, with room reserved; or our bid; or undefined if there is nothing left to bid on. */
  async #check(order: Tracked): Promise<DecimalCoin | BidRecord | undefined> {
    const { judge, log, meter } = this.#stages;
    const isWanted = (): boolean => order.phase === "checking" && !this.#stopped;
    if (!isWanted()) return undefined;
    const { order: record, own } = await judge.read(order.id);
    log.debug("group fetched", { order: order.text });
    order.rows = groupNeeds(record.spec);
    if (own !== undefined || !isWanted()) return isWanted() ? own : undefined;
    await this.#judge(record);
    if (!isWanted()) return undefined;
    await this.#take(order, order.rows);
    if (!isWanted()) return undefined;
    order.phase = "bidding";
    const price = await timed(meter, "pricing", () => judge.price(order.id.owner, record.spec));
    await judge.checkPlace(order.id, price);
    return price;
  }

  async #judge({ spec }: OrderRecord): Promise<void> {
    const { judge, meter } = this.#stages;
    try {
      await judge.checkOffer(spec);
      meter.count("shouldBid", { result: "pass" });
    } catch (error) {
      meter.count("shouldBid", { result: error instanceof Refusal ? "decline" : "fail" });
      throw error;
    }
  }

  /** Room and money, unless the order has them since its turn in the line. */
  async #take(order: Tracked, rows: readonly RowNeed[]): Promise<void> {
    const { text, checks } = order;
    const { line, log, meter, reserve } = this.#stages;
    try {
      if (!reserve.has(text)) {
        const refusal = line.join(order);
        if (refusal !== undefined) throw reserve.sizeRefusal(rows) ?? refusal;
        await reserve.take(text, rows);
      }
      // A waiting order is checked often, and reported once.
      const level = checks === 0 ? "info" : "debug";
      log[level]("requesting reservation", { order: text });
      await timed(meter, "reserving", () => reserve.write());
      log[level]("Reservation fulfilled", { order: text });
      meter.count("reservation", { result: "success" });
    } catch (error) {
      meter.count("reservation", { result: "fail" });
      throw error;
    }
  }
}
