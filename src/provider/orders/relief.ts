import type { Logger } from "../../util/index.ts";
import type { Inventory } from "../inventory/index.ts";
import { type Obstacle, obstaclesWith } from "../reasons.ts";
import { fewest, givingWay, type Patience, type WaitingBid } from "./giving-way.ts";
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
  /** Orders that wait for such an obstacle, in the order of their turns. */
  readonly waiting: (obstacles: ReadonlySet<Obstacle>) => readonly Tracked[];
  readonly bids: () => readonly OpenBid[];
  readonly withdraw: (tracked: Tracked) => void;
  /** Checks an order again. */
  readonly check: (tracked: Tracked) => void;
  /** Bids are being withdrawn for the order whose turn it was. */
  readonly helped: () => void;
}

/** An order for which bids of others are being withdrawn. */
interface Favour {
  readonly tracked: Tracked;
  readonly withdrawn: readonly Tracked[];
}

/** How often to check whether waiting bids keep others out. */
const LOOK_MS = 2_000;
/** Orders for which that is tried at a time; the next ones are tried at the next check. */
const MAX_TRIES = 16;
/** Waiting bids of some do not delay the rest. */
export const RELIEVED = obstaclesWith(({ relief }) => relief);

/** Withdraws bids that nobody takes where they keep the orders of others out. */
export class Relief {
  readonly #options: ReliefOptions;
  #timer: NodeJS.Timeout | undefined;
  /** In the order in which they were granted. */
  #favours: readonly Favour[] = [];
  /** Waiting orders that were tried without success since one was helped: so those that nothing helps are in nobody's way. */
  #passed = 0;
  #stopped = false;

  constructor(options: ReliefOptions) {
    this.#options = options;
  }

  /** Checks soon, and repeatedly while orders wait for what bids hold. */
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

  /** What withdrawn bids held is for the orders that they were withdrawn for, before anybody else asks for it. */
  released(): void {
    const ready = this.#favours.filter(({ tracked, withdrawn }) => {
      return tracked.phase === "refused" && this.#keep(tracked, withdrawn);
    });
    this.#favours = this.#favours.filter((each) => each.tracked.phase === "refused" && !ready.includes(each));
    for (const { tracked } of ready) this.#options.check(tracked);
  }

  /** Whether the order can be checked again; room is kept for it until then. */
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

  /** For the first of these orders for which it helps. */
  #relieve(waiting: readonly Tracked[]): void {
    this.#favours = this.#favours.filter(
      ({ tracked, withdrawn }) => tracked.phase === "refused" && withdrawn.some(isWithdrawing),
    );
    const owners = new Set(waiting.map(({ id }) => id.owner)).size;
    // Until one may give way nobody was tried without success, and turns stay as they are.
    if (this.#mayGiveWay("", owners).length === 0) return;
    const first = this.#passed < waiting.length ? this.#passed : 0;
    this.#passed = first + MAX_TRIES;
    for (const tracked of waiting.slice(first, this.#passed)) {
      if (this.#favours.some((each) => each.tracked === tracked)) continue;
      const withdrawn = this.#standInTheWay(tracked, owners);
      if (withdrawn !== undefined) this.#favour({ tracked, withdrawn });
    }
  }

  #favour(favour: Favour): void {
    const { log, withdraw, helped } = this.#options;
    this.#favours = [...this.#favours, favour];
    this.#passed = 0;
    helped();
    for (const each of favour.withdrawn) {
      log.info("withdrawing bid, another order waits for its room", { order: each.text, other: favour.tracked.text });
      withdraw(each);
    }
  }

  /** The fewest bids that would have to go; undefined if none may, or if that would not help. */
  #standInTheWay(tracked: Tracked, owners: number): readonly Tracked[] | undefined {
    const open = this.#mayGiveWay(tracked.id.owner, owners);
    return tracked.obstacle === "money" ? this.#enoughDeposits(tracked, open) : this.#enoughRoom(tracked, open);
  }

  #mayGiveWay(owner: string, owners: number): readonly Tracked[] {
    const { bids, now, patience } = this.#options;
    return givingWay(bids(), owner, { now: now(), patience, owners }).map(({ tracked }) => tracked);
  }

  /** Each bid gives back a deposit: what is missing is missing once, however many orders wait for it. */
  #enoughDeposits({ depositsMissing = 1 }: Tracked, open: readonly Tracked[]): readonly Tracked[] | undefined {
    const isFirst = !this.#favours.some(({ tracked }) => tracked.obstacle === "money");
    const missing = isFirst || !Number.isFinite(depositsMissing) ? depositsMissing : 1;
    return fewest(open, ({ length }) => length >= missing);
  }

  /** Room that is being made for others is theirs. */
  #enoughRoom(order: Tracked, open: readonly Tracked[]): readonly Tracked[] | undefined {
    const making = this.#favours.filter(({ tracked }) => tracked.obstacle !== "money");
    const wanted = [...making.map(({ tracked }) => tracked), order].map(({ text, rows = [] }) => ({
      order: text,
      rows,
    }));
    const leaving = making.flatMap(({ withdrawn }) => withdrawn).filter(isWithdrawing);
    return fewest(open, (some) =>
      this.#options.inventory.wouldFit(wanted, new Set([...leaving, ...some].map(({ text }) => text))),
    );
  }
}

function isWithdrawing({ phase }: Tracked): boolean {
  return phase === "withdrawing";
}
