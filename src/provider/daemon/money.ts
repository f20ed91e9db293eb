import assert from "node:assert/strict";
import type { ChainClient } from "../../client/index.ts";
import { errorText, type IntCoin, type Logger } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import type { ChainView } from "../chain.ts";
import type { Meter } from "../metrics/index.ts";
import { type Outbox, type OutMessage, withdrawMessages } from "../outbox/index.ts";

export interface BidMoneyOptions {
  /** The provider's account. */
  readonly address: string;
  readonly query: ChainClient["query"];
  /** Coins that each bid takes or leaves in the account, beside its deposit. */
  readonly others: readonly IntCoin[];
}

/** The deposit of a bid, and the money of the account for it. */
export class BidMoney {
  readonly #options: BidMoneyOptions;
  /** Undefined until the chain has told it. */
  #deposit: IntCoin | undefined;
  #balance: bigint | undefined;

  constructor(options: BidMoneyOptions) {
    this.#options = options;
  }

  get deposit(): IntCoin {
    assert(this.#deposit !== undefined, "orders come after the deposit is known");
    return this.#deposit;
  }

  set deposit(coin: IntCoin) {
    this.#deposit = coin;
  }

  /** Last observed balance in the coin of the deposit. */
  get balance(): bigint | undefined {
    return this.#balance;
  }

  /** Amount that a bid takes of the coin of the deposit. */
  bidCost(): bigint | undefined {
    if (this.#deposit === undefined) return undefined;
    const { denom, amount } = this.#deposit;
    return this.#options.others.reduce((sum, coin) => sum + (coin.denom === denom ? coin.amount : 0n), amount);
  }

  /** A balance that cannot be queried is not shown. */
  async observe(): Promise<void> {
    if (this.#deposit === undefined) return;
    this.#balance = await this.balanceOf(this.#deposit.denom).catch(() => undefined);
  }

  async balanceOf(denom: string): Promise<bigint> {
    const { address, query } = this.#options;
    const answer = await query.call(BankQuery.method.balance, { address, denom });
    return BigInt(answer.balance?.amount ?? "0");
  }
}

export interface EarningsOptions {
  readonly provider: string;
  readonly chain: Pick<ChainView, "activeLeases">;
  readonly outbox: Pick<Outbox, "send">;
  readonly meter: Meter;
  readonly log: Logger;
}

/** Collects what all leases have earned. Never rejects: the next time collects what this one did not. */
export async function withdrawEarnings(options: EarningsOptions): Promise<void> {
  const { provider, chain, log } = options;
  const warn = (error: unknown) => log.warn("earnings not withdrawn", { err: errorText(error) });
  try {
    const leases = await chain.activeLeases({ provider });
    const messages = withdrawMessages(
      provider,
      leases.map(({ id }) => id),
    );
    await Promise.all(messages.map((each) => sendWithdrawal(each, options).catch(warn)));
  } catch (error) {
    warn(error);
  }
}

async function sendWithdrawal(message: OutMessage, { outbox, meter }: EarningsOptions): Promise<void> {
  try {
    await outbox.send(message, "withdraw");
    meter.count("withdrawal", { result: "success" });
  } catch (error) {
    meter.count("withdrawal", { result: "fail" });
    throw error;
  }
}
