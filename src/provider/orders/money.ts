import { formatCoin, type IntCoin, largest, sumCoins } from "../../util/index.ts";
import { type Obstacle, obstaclesWith } from "../reasons.ts";
import type { OrderOptions } from "./options.ts";
import { Refusal } from "./order.ts";
import type { Tracked } from "./tracked.ts";
import { CHECKS_A_LOT } from "./waiting/room-pass.ts";

/** The balance of a coin that is too low for a bid. */
interface Shortage extends IntCoin {
  /** Deposits that must return before there is enough; Infinity if no number is. */
  readonly deposits: number;
}

export type MoneyOptions = Pick<OrderOptions, "chain" | "deposit" | "fee" | "keep" | "retryMs">;

export interface MoneyOrders {
  /** Orders that wait for such an obstacle, in the order of their turns. */
  readonly waiting: (obstacles: ReadonlySet<Obstacle>) => readonly Tracked[];
  /** Checks an order again. */
  readonly check: (tracked: Tracked) => void;
}

/** Times that a balance is asked for while bids keep coming into blocks. */
const MAX_BALANCE_TRIES = 5;
/** Until the next of many orders that wait for money are checked, while there is some. */
const NEXT_LOT_MS = 200;
const AWAIT_MONEY = obstaclesWith(({ again }) => again === "money");

/** Costs of bids: pending bids count, and orders that wait for money are checked again when it arrives. */
export class Money {
  readonly #options: MoneyOptions;
  readonly #orders: MoneyOrders;
  /** Orders whose bids the balance does not show yet. */
  readonly #spending = new Set<Tracked>();
  /** Bids whose money the balance shows, or that came to nothing. */
  #settled = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: MoneyOptions, orders: MoneyOrders) {
    this.#options = options;
    this.#orders = orders;
  }

  /** Counts the bid as paid until it is settled; one deposit and the fee, so that an account with just over five tokens can bid. */
  async take(tracked: Tracked): Promise<void> {
    const { deposit, fee, keep } = this.#options;
    const short = await this.#shortage(() => this.#spending.add(tracked));
    if (short === undefined) return;
    tracked.depositsMissing = short.deposits;
    const both = `a bid takes a deposit of ${formatCoin(deposit)} and a fee of ${formatCoin(fee)}`;
    const kept = keep === undefined ? "" : `, and ${formatCoin(keep)} stays in the account`;
    throw new Refusal("money", `the provider has ${formatCoin(short)}, ${both}${kept}: fund the provider's account`);
  }

  /** The balance shows what the bid cost, or it came to nothing. */
  settle(tracked: Tracked): void {
    if (this.#spending.delete(tracked)) this.#settled += 1;
  }

  /** Throws if there is too little for one more bid; counts nothing. */
  async check(): Promise<void> {
    if ((await this.#shortage()) !== undefined)
      throw new Refusal("money", "the provider has no money for the deposit of a bid now");
  }

  /** Orders that wait for money are checked again when it arrives; one query serves them all. */
  later(delayMs = this.#options.retryMs): void {
    if (this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(async () => {
      const short = await this.#shortage().catch(() => "unknown" as const);
      this.#timer = undefined;
      const waiting = this.#orders.waiting(AWAIT_MONEY);
      if (this.#stopped || waiting.length === 0) return;
      if (typeof short === "object") for (const tracked of waiting) tracked.depositsMissing = short.deposits;
      if (short !== undefined) return this.later();
      for (const tracked of waiting.slice(0, CHECKS_A_LOT)) this.#orders.check(tracked);
      if (waiting.length > CHECKS_A_LOT) this.later(NEXT_LOT_MS);
    }, delayMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /**
   * The balance of a coin that is too low for a bid; undefined if each is enough, and then `take` has been called in
   * the same turn. Pending bids count as paid. A balance that was requested before one of them came into a block may
   * not show it, so it is requested again.
   */
  async #shortage(take: () => void = () => {}): Promise<Shortage | undefined> {
    const { chain, deposit, fee, keep } = this.#options;
    for (let tries = 0; ; tries++) {
      const before = this.#settled;
      const denoms = sumCoins(keep === undefined ? [deposit, fee] : [deposit, fee, keep]).map(({ denom }) => denom);
      const balances = new Map<string, bigint>();
      for (const denom of denoms) balances.set(denom, await chain.balance(denom));
      if (before !== this.#settled && tries < MAX_BALANCE_TRIES) continue;
      const short = this.#firstShort(balances);
      if (short === undefined) take();
      return short;
    }
  }

  /** The first coin that one more bid, besides the pending ones, would make too low. */
  #firstShort(balances: ReadonlyMap<string, bigint>): Shortage | undefined {
    const { deposit, fee, keep } = this.#options;
    const bids = BigInt(this.#spending.size + 1);
    const coins = [deposit, fee].map(({ denom, amount }) => ({ denom, amount: amount * bids }));
    const short = sumCoins(keep === undefined ? coins : [...coins, keep])
      .map(({ denom, amount }) => ({ denom, missing: amount - (balances.get(denom) ?? 0n) }))
      .filter(({ missing }) => missing > 0n);
    const [first] = short;
    if (first === undefined) return undefined;
    const deposits = largest(
      short.map((each) => depositsFor(each, { deposit, fee })),
      1,
    );
    return { denom: first.denom, amount: balances.get(first.denom) ?? 0n, deposits };
  }
}

/** Number of withdrawn bids that make up for the shortage: each returns its deposit and costs a fee. */
function depositsFor(
  { denom, missing }: { readonly denom: string; readonly missing: bigint },
  { deposit, fee }: Pick<OrderOptions, "deposit" | "fee">,
): number {
  const gain = deposit.amount - (fee.denom === deposit.denom ? fee.amount : 0n);
  if (denom !== deposit.denom || gain <= 0n) return Number.POSITIVE_INFINITY;
  // Rounded up.
  return Number((missing + gain - 1n) / gain);
}
