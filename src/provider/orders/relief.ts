import type { Logger } from "../../util/index.ts";
import type { Inventory } from "../inventory/index.ts";
import { fewest, givingWay, type Patience, type WaitingBid } from "./giving-way.ts";
import type { Obstacle } from "./order.ts";
import type { Tracked } from "./tracked.ts";

export interface OpenBid extends WaitingBid {
  readonly tracked: Tracked;
}

export interface ReliefOptions {
  readonly inventory: Inventory;
  readonly log: Logger;
  readonly patience: Patience;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Orders that such an obstacle keeps from a bid, those that are first in turn first. */
  readonly waiting: (obstacles: ReadonlySet<Obstacle>) => readonly Tracked[];
  readonly bids: () => readonly OpenBid[];
  readonly withdraw: (tracked: Tracked) => void;
  /** Looks at an order again. */
  readonly check: (tracked: Tracked) => void;
}

/** An order for which bids of others are being withdrawn. */
interface Favour {
  readonly tracked: Tracked;
  readonly withdrawn: readonly Tracked[];
}

/** How often it is looked whether waiting bids keep others out. */
const LOOK_MS = 2_000;
/** Orders for which that is tried at a time; the next ones are tried at the next look. */
const MAX_TRIES = 16;
/** Waiting bids of others do not stand in the way of the rest. */
export const RELIEVED: ReadonlySet<Obstacle> = new Set(["capacity", "money"]);

/** Withdraws bids that nobody takes where they keep the orders of others out. */
export class Relief {
  readonly #options: ReliefOptions;
  #timer: NodeJS.Timeout | undefined;
  #favour: Favour | undefined;
  /** Waiting orders that were tried in vain since one was helped: so those that nothing helps are in nobody's way. */
  #passed = 0;
  #stopped = false;

  constructor(options: ReliefOptions) {
    this.#options = options;
  }

  /** Looks soon, and again and again while orders wait for what bids hold. */
  later(): void {
    if (this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const waiting = this.#options.waiting(RELIEVED);
      if (waiting.length === 0 || this.#options.bids().length === 0) return;
      this.#relieve(waiting);
      this.later();
    }, LOOK_MS);
  }

  /** What withdrawn bids held is for the order that they were withdrawn for, before anybody else asks for it. */
  released(): void {
    if (this.#favour === undefined) return;
    const { tracked, withdrawn } = this.#favour;
    if (tracked.phase !== "refused" || !this.#keep(tracked, withdrawn)) return;
    this.#favour = undefined;
    this.#options.check(tracked);
  }

  /** Whether the order can be looked at again; room is kept for it until then. */
  #keep({ text, rows = [], obstacle }: Tracked, withdrawn: readonly Tracked[]): boolean {
    if (obstacle === "money") return !withdrawn.some(isWithdrawing);
    try {
      this.#options.inventory.reserve(text, rows);
      return true;
    } catch {
      // More of them are on their way.
      return false;
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** For the first of these orders for which it helps; for one at a time. */
  #relieve(waiting: readonly Tracked[]): void {
    const { log, withdraw } = this.#options;
    if (this.#favour?.tracked.phase === "refused" && this.#favour.withdrawn.some(isWithdrawing)) return;
    this.#favour = undefined;
    const first = this.#passed < waiting.length ? this.#passed : 0;
    this.#passed = first + MAX_TRIES;
    for (const tracked of waiting.slice(first, this.#passed)) {
      const withdrawn = this.#standInTheWay(tracked);
      if (withdrawn === undefined) continue;
      this.#favour = { tracked, withdrawn };
      this.#passed = 0;
      for (const each of withdrawn) {
        log.info("withdrawing bid, another order waits for its room", { order: each.text, other: tracked.text });
        withdraw(each);
      }
      return;
    }
  }

  /** The fewest bids that would have to go; undefined if none may, or if that would not help. */
  #standInTheWay({ id, rows = [], obstacle, depositsMissing = 1 }: Tracked): readonly Tracked[] | undefined {
    const { inventory, bids, now, patience } = this.#options;
    const open = givingWay(bids(), id.owner, { now: now(), patience }).map(({ tracked }) => tracked);
    // Each bid gives back a deposit.
    if (obstacle === "money") return fewest(open, ({ length }) => length >= depositsMissing);
    return fewest(open, (some) => inventory.wouldFit(rows, new Set(some.map(({ text }) => text))));
  }
}

function isWithdrawing({ phase }: Tracked): boolean {
  return phase === "withdrawing";
}
