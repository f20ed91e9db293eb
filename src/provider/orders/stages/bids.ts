import { type DecimalCoin, errorText, formatDecShort, isOneOf } from "../../../util/index.ts";
import { formatOrderId, marketErrors, type OrderKey } from "../../../wire/index.ts";
import { NO_METER } from "../../metrics/index.ts";
import { bidMessage, Rejected, Withdrawn, withdrawBidMessage } from "../../outbox/index.ts";
import type { OrderOptions } from "../options.ts";
import { Refusal } from "../order.ts";

type BidOptions = Pick<OrderOptions, "deposit" | "log" | "meter" | "provider" | "send">;

/** Bids and withdrawals as messages of the outbox. */
export class Bids {
  readonly #options: BidOptions;

  constructor(options: BidOptions) {
    this.#options = options;
  }

  /** Resolves when the bid is in a block, or no longer wanted. Throws the reason for which the chain refused it. */
  async place(id: OrderKey, price: DecimalCoin, isWanted: () => boolean): Promise<void> {
    const { deposit, log, meter = NO_METER, provider, send } = this.#options;
    const order = formatOrderId(id);
    log.info("submitting fulfillment", { order, price: `${formatDecShort(price.amount)}${price.denom}` });
    try {
      await send(bidMessage(id, { provider, price, deposit }), `bid ${order}`, { isWanted });
    } catch (error) {
      if (error instanceof Withdrawn) return;
      if (!isOneOf([marketErrors.bidExists], error)) {
        meter.count("bid", { action: "create", result: "fail" });
        throw error instanceof Rejected ? refusedBid(error) : error;
      }
    }
    meter.count("bid", { action: "create", result: "success" });
    meter.mark("lastBid");
    log.info("bid complete", { order });
  }

  /**
   * Resolves with true when the bid has left the chain, and with false when only the chain knows what became of it:
   * until a block has the withdrawal, the tenant may accept the bid, and then the withdrawal fails.
   */
  async withdraw(id: OrderKey, isWanted: () => boolean): Promise<boolean> {
    const { log, meter = NO_METER, provider, send } = this.#options;
    const order = formatOrderId(id);
    try {
      await send(withdrawBidMessage({ ...id, provider }), `close bid ${order}`, { isWanted });
      meter.count("bid", { action: "close", result: "success" });
      return true;
    } catch (error) {
      // Nothing follows: something else has become of the bid.
      if (error instanceof Withdrawn) return true;
      meter.count("bid", { action: "close", result: "fail" });
      log.info("bid not withdrawn, asking what became of it", { order, err: errorText(error) });
      return false;
    }
  }
}

/** The market's refusal of a bid is final unless the order was full; a fee that could not be paid may be paid later. */
function refusedBid(error: Rejected): Refusal {
  const isFinal = error.codespace === "market" && !isOneOf([marketErrors.tooManyBids], error);
  return new Refusal(isFinal ? "refused" : "unsent", `the chain refused the bid: ${error.message}`);
}
