import { errorText, formatCoin, type IntCoin, sumCoins } from "../../../util/index.ts";
import type { RowNeed } from "../../inventory/index.ts";
import { MAX_BALANCE_TRIES } from "../limits.ts";
import type { OrderOptions } from "../options.ts";
import { Refusal, type Tracked } from "../order.ts";

/** Reserves for an order, or returns the reason for not doing so. */
export type Take = (order: string, rows: readonly RowNeed[]) => Refusal | undefined;

type ReserveOptions = Pick<OrderOptions, "chain" | "deposit" | "fee" | "inventory" | "keep">;

/** Room and money for bids. Each refusal is thrown with its reason. */
export class Reserve {
  readonly #options: ReserveOptions;
  /** Orders whose bids the balance does not show yet. */
  readonly #spending = new Set<string>();
  /** Number of bids whose money the balance shows, or that came to nothing. */
  #settled = 0;

  constructor(options: ReserveOptions) {
    this.#options = options;
  }

  /** Reserves room and money for a bid on the order. The money counts as spent until the bid is settled. */
  async take(order: string, rows: readonly RowNeed[]): Promise<void> {
    const refusal = await this.atOnce((take) => take(order, rows));
    if (refusal !== undefined) throw refusal;
  }

  /** Writes the reservations to the disk: a bid whose reservation a crash forgets would promise its room twice. */
  async write(): Promise<void> {
    await this.#options.inventory.durable().catch((error: unknown) => {
      throw Refusal.hidden("unwritten", `the reservation could not be written: ${errorText(error)}`);
    });
  }

  /** Whether the order has room and money for a bid that is not settled yet. */
  has(order: string): boolean {
    return this.#spending.has(order);
  }

  /** Whether there may be room for the order; a no is certain, and takes little time. */
  mayFit({ text, rows = [] }: Pick<Tracked, "text" | "rows">): boolean {
    return this.#options.inventory.mayFit({ order: text, rows });
  }

  /** Does the work in one turn, with a function that reserves for an order or returns the reason for not doing so. */
  atOnce<T>(work: (take: Take) => T): Promise<T> {
    return this.#withBalances((balances) =>
      work((order, rows) => {
        const short = this.#shortage(order, balances) ?? this.#room(order, rows);
        if (short === undefined) this.#spending.add(order);
        return short;
      }),
    );
  }

  /** Throws if there is no room or too little money for one more bid; reserves nothing. */
  async screen(rows: readonly RowNeed[]): Promise<void> {
    const full = shortageOf(() => this.#options.inventory.checkRoom(rows));
    if (full !== undefined) throw new Refusal("capacity", full);
    const short = await this.#withBalances((balances) => this.#shortage("", balances));
    if (short !== undefined) throw new Refusal("money", "the provider has no money for the deposit of a bid now");
  }

  /** The refusal of rows for which the provider is too small even when it is empty. */
  sizeRefusal(rows: readonly RowNeed[]): Refusal | undefined {
    const { inventory } = this.#options;
    if (inventory.couldFit(rows)) return undefined;
    return new Refusal("size", shortageOf(() => inventory.checkRoom(rows)) ?? "");
  }

  /** The balance shows what the bid cost, or it came to nothing. */
  settle(order: string): void {
    if (this.#spending.delete(order)) this.#settled += 1;
  }

  /**
   * Asks for the balances, and does the work in the same turn. Balances that were asked for before a bid came into a block
   * may not show it: they are asked for again.
   */
  async #withBalances<T>(work: (balances: ReadonlyMap<string, bigint>) => T): Promise<T> {
    for (let tries = 0; ; tries++) {
      const before = this.#settled;
      const balances = new Map<string, bigint>();
      for (const { denom } of this.#cost(1)) balances.set(denom, await this.#options.chain.balance(denom));
      if (before === this.#settled || tries >= MAX_BALANCE_TRIES) return work(balances);
    }
  }

  /** Reserves room for the order now, unless it has some; returns the reason for not doing so. */
  #room(order: string, rows: readonly RowNeed[]): Refusal | undefined {
    const { inventory } = this.#options;
    if (inventory.has(order)) return undefined;
    const full = shortageOf(() => inventory.reserve(order, rows));
    return full === undefined ? undefined : (this.sizeRefusal(rows) ?? new Refusal("capacity", full));
  }

  /** Why there is too little money for one more bid. */
  #shortage(order: string, balances: ReadonlyMap<string, bigint>): Refusal | undefined {
    return this.#tooLittle(balances) ?? this.#tooManyBids(order, balances);
  }

  /** Coins that the account must have for so many bids that the balance does not show yet. */
  #cost(bids: number): IntCoin[] {
    const { deposit, fee, keep } = this.#options;
    const coins = [deposit, fee].map(({ denom, amount }) => ({ denom, amount: amount * BigInt(bids) }));
    return sumCoins(keep === undefined ? coins : [...coins, keep]);
  }

  /** One deposit and the fee are enough, so an account with just over five tokens can bid. */
  #tooLittle(balances: ReadonlyMap<string, bigint>): Refusal | undefined {
    const { deposit, fee, keep } = this.#options;
    const has = (denom: string): bigint => balances.get(denom) ?? 0n;
    const short = this.#cost(this.#spending.size + 1).find(({ denom, amount }) => amount > has(denom));
    if (short === undefined) return undefined;
    const both = `a bid takes a deposit of ${formatCoin(deposit)} and a fee of ${formatCoin(fee)}`;
    const kept = keep === undefined ? "" : `, and ${formatCoin(keep)} stays in the account`;
    const ours = formatCoin({ denom: short.denom, amount: has(short.denom) });
    return new Refusal("money", `the provider has ${ours}, ${both}${kept}: fund the provider's account`);
  }

  /** Deposits of bids that nobody has accepted yet have the limits that their room has. */
  #tooManyBids(order: string, balances: ReadonlyMap<string, bigint>): Refusal | undefined {
    const { deposit, inventory } = this.#options;
    if (deposit.amount === 0n) return undefined;
    const spent = this.#cost(this.#spending.size).find(({ denom }) => denom === deposit.denom)?.amount ?? 0n;
    const left = (balances.get(deposit.denom) ?? 0n) - spent;
    const over = inventory.bidsExceeded(order, left / deposit.amount);
    if (over === undefined) return undefined;
    return over.whose === "all"
      ? new Refusal("money", `open bids hold half of the money for deposits: fund the provider's account`)
      : new Refusal(
          "capacity",
          "open bids of the order's tenant hold the part of the deposits that one tenant may have",
        );
  }
}

/** The shortage in the words of the inventory. */
function shortageOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
