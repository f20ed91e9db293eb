import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDec } from "../../util/index.ts";
import {
  type AccountBook,
  addDeposit,
  addPayment,
  costOf,
  earnedBy,
  exhaustionHeight,
  isOverdue,
  type Ledger,
  NEVER,
  type PaymentBook,
  refunds,
  removePayment,
  settle,
  withPayments,
} from "./settlement.ts";

type Payment = PaymentBook & { readonly name: number };
type Book = Ledger<AccountBook, Payment>;

function opened(amount: bigint, height: bigint): Book {
  const account = {
    balance: 0n,
    transferred: 0n,
    settledAt: height,
    deposits: [],
    rateTotal: 0n,
    exhaustsAt: NEVER,
  };
  return addDeposit({ account, payments: [] }, { depositor: "a", height, remaining: amount, fromGrant: false });
}

function paying(book: Book, rate: string | bigint, height: bigint): Book {
  const scaled = typeof rate === "string" ? parseDec(rate) : rate;
  const payment = { name: book.payments.length, rate: scaled, startedAt: height, balance: 0n, withdrawn: 0n };
  return addPayment(settle(book, height), payment);
}

/** Pays out what every payment has earned. */
function withdrawn(book: Book, height: bigint): Book {
  const { account, payments } = settle(book, height);
  const paid = payments.map((each) => ({ ...each, balance: 0n, withdrawn: each.withdrawn + each.balance }));
  return { account, payments: paid };
}

function earnings(book: Book): bigint[] {
  return book.payments.map((each) => each.balance + each.withdrawn);
}

describe("the block at which money ends", () => {
  it.each([0, 1, 2, 3])("is start + 3 for 0.4 + 0.4 on 3 when withdrawn after %d blocks", (after) => {
    const start = paying(paying(opened(3n, 10n), "0.4", 10n), "0.4", 10n);
    const later = withdrawn(start, 10n + BigInt(after));
    expect(start.account.exhaustsAt).toBe(13n);
    expect(withPayments(later.account, later.payments).account.exhaustsAt).toBe(13n);
    expect(earnings(settle(later, 13n))).toEqual([1n, 1n]);
    expect(settle(later, 13n).account.balance).toBe(1n);
  });

  it("is start + 259 for 1.25 + 2.6 on 1000, and 4 units stay", () => {
    const book = paying(paying(opened(1000n, 500n), "1.25", 500n), "2.6", 500n);
    expect(book.account.exhaustsAt).toBe(759n);
    const end = settle(book, 2000n);
    expect(earnings(end)).toEqual([323n, 673n]);
    expect(end.account.balance).toBe(4n);
    expect(end.account.settledAt).toBe(759n);
  });

  it("is block 1012 for 45 + 55 on 1234 from block 1000", () => {
    const book = paying(paying(opened(1234n, 1000n), "45", 1000n), "55", 1000n);
    expect(book.account.exhaustsAt).toBe(1012n);
    const end = settle(book, 1020n);
    expect(earnings(end)).toEqual([540n, 660n]);
    expect(end.account.balance).toBe(34n);
  });

  it("stays within 63 bits and is absent without payments", () => {
    const huge = exhaustionHeight(2n ** 255n, [{ rate: 1n, startedAt: 1n }]);
    expect(huge).toBe(2n ** 63n - 1n);
    expect(exhaustionHeight(5n, [])).toBe(NEVER);
    expect(isOverdue({ exhaustsAt: NEVER }, 5n)).toBe(false);
    expect(isOverdue({ exhaustsAt: 5n }, 5n)).toBe(false);
    expect(isOverdue({ exhaustsAt: 5n }, 6n)).toBe(true);
  });
});

describe("the worked life of an account", () => {
  it("pays 20000 and refunds 5980000", () => {
    const leased = paying(opened(5_000_000n, 100n), "50", 110n);
    const first = withdrawn(leased, 310n);
    expect(first.account).toMatchObject({ balance: 4_990_000n, transferred: 10_000n, settledAt: 310n });
    const topped = addDeposit(settle(first, 500n), {
      depositor: "a",
      height: 500n,
      remaining: 1_000_000n,
      fromGrant: false,
    });
    const closed = withdrawn(topped, 510n);
    expect(earnings(closed)).toEqual([20_000n]);
    expect(refunds(closed.account.deposits)).toEqual([{ depositor: "a", amount: 5_980_000n }]);
  });

  it("pays 400 for 0.4 over 1000 blocks however often it is settled", () => {
    let often = paying(opened(1000n, 0n), "0.4", 0n);
    for (let height = 1n; height <= 1000n; height += 1n) often = withdrawn(often, height);
    expect(earnings(often)).toEqual([400n]);
    expect(earnings(settle(paying(opened(1000n, 0n), "0.4", 0n), 1000n))).toEqual([400n]);
  });

  it("settles twice in a block without a change", () => {
    const once = settle(paying(opened(100n, 1n), "3.3", 1n), 9n);
    expect(settle(once, 9n)).toEqual(once);
  });

  it("draws deposits first in, first out and refunds each depositor", () => {
    const deposit = (depositor: string, remaining: bigint) => ({ depositor, height: 1n, remaining, fromGrant: false });
    let book = opened(10n, 1n);
    for (const each of [deposit("b", 5n), deposit("a", 7n), deposit("a", 1n)]) book = addDeposit(book, each);
    expect(book.account.deposits.map(({ remaining }) => remaining)).toEqual([10n, 5n, 8n]);
    const end = settle(paying(book, "12", 1n), 2n);
    expect(end.account.deposits.map(({ remaining }) => remaining)).toEqual([3n, 8n]);
    expect(refunds(end.account.deposits)).toEqual([
      { depositor: "b", amount: 3n },
      { depositor: "a", amount: 8n },
    ]);
    const used = settle(paying(opened(12n, 1n), "12", 1n), 2n);
    expect(used.account.deposits).toEqual([]);
  });

  it("rounds the cost of a lease's first blocks up", () => {
    expect(costOf(parseDec("1.25"), 100n)).toBe(125n);
    expect(costOf(parseDec("0.001"), 100n)).toBe(1n);
  });
});

/**
 * A schedule is a list of 32-bit numbers, each one step: how many blocks pass, and what happens then. The same schedule
 * runs on the ledger with and without additional settling and withdrawing, and on a model that walks every block.
 */
interface Step {
  readonly blocks: bigint;
  readonly kind: number;
  readonly value: bigint;
}

const STEP_KINDS = 6;

function stepOf(word: number): Step {
  return { blocks: BigInt(word & 7), kind: (word >>> 3) % STEP_KINDS, value: BigInt(word >>> 12) };
}

/** Rates from a few millionths to about twelve, of every fineness. */
function rateOf(value: bigint): bigint {
  return value % 3n === 0n ? (value + 1n) * 10n ** 13n : ((value % 120n) + 1n) * 10n ** 17n;
}

interface Outcome {
  /** Earned by each payment in the order of their starts. */
  readonly earned: readonly bigint[];
  readonly refunds: readonly { readonly depositor: string; readonly amount: bigint }[];
  readonly ends: readonly bigint[];
}

const DEPOSITORS = ["a", "b", "c"];

/** Runs a schedule on the ledger as the keeper would, with noise steps where `noisy`. */
function runLedger(words: readonly number[], noisy: boolean): Outcome {
  let height = 10n;
  let book = opened(BigInt((words[0] ?? 0) % 500) + 1n, height);
  const earned: bigint[] = [];
  const ends: bigint[] = [];
  let started = 0;
  const finish = (payment: Payment): void => {
    earned[payment.name] = payment.balance + payment.withdrawn;
  };
  const exhaust = (): void => {
    ends.push(book.account.exhaustsAt);
    const settled = settle(book, book.account.exhaustsAt);
    settled.payments.forEach(finish);
    book = withPayments(settled.account, []);
  };
  for (const word of words) {
    const { blocks, kind, value } = stepOf(word);
    for (let i = 0n; i < blocks; i += 1n) {
      if (noisy && (value >> i) % 2n === 0n) book = withdrawn(book, height);
      if (book.account.exhaustsAt === height) exhaust();
      height += 1n;
    }
    if (noisy) book = value % 2n === 0n ? settle(book, height) : withdrawn(book, height);
    if (kind === 0 || kind === 1) {
      const before = settle(book, height);
      const rate = rateOf(value);
      if (before.account.balance >= costOf(rate, 1n)) {
        book = addPayment(before, { name: started, rate, startedAt: height, balance: 0n, withdrawn: 0n });
        started += 1;
      }
    } else if (kind === 2 && book.payments.length > 0) {
      book = settle(book, height);
      const payment = book.payments[Number(value) % book.payments.length];
      if (payment !== undefined) {
        finish(payment);
        book = removePayment(book, payment);
      }
    } else if (kind === 3) {
      const depositor = DEPOSITORS[Number(value % 3n)] ?? "a";
      book = addDeposit(settle(book, height), { depositor, height, remaining: (value % 90n) + 1n, fromGrant: false });
    }
    const sum = book.account.deposits.reduce((left, each) => left + each.remaining, 0n);
    if (sum !== book.account.balance || book.account.balance < 0n) throw new Error(`deposits ${sum} are no balance`);
    if (book.account.exhaustsAt !== NEVER && book.account.exhaustsAt < height) throw new Error("exhausted too early");
  }
  book = settle(book, height);
  book.payments.forEach(finish);
  return { earned, refunds: refunds(book.account.deposits), ends };
}

/** The same schedule by walking blocks: a block is served when the exact cost of all payments up to it is covered. */
function runModel(words: readonly number[]): Outcome {
  interface Running {
    readonly name: number;
    readonly rate: bigint;
    readonly start: bigint;
  }
  const UNIT = 10n ** 18n;
  let height = 10n;
  const deposits = [{ depositor: "a", amount: BigInt((words[0] ?? 0) % 500) + 1n }];
  let running: Running[] = [];
  const earned: bigint[] = [];
  const ends: bigint[] = [];
  let started = 0;
  const sum = (values: readonly bigint[]): bigint => values.reduce((total, each) => total + each, 0n);
  const paid = (): bigint => sum(earned.filter((each) => each !== undefined));
  const deposited = (): bigint => sum(deposits.map((each) => each.amount));
  const floorEarned = (each: Running): bigint => (each.rate * (height - each.start)) / UNIT;
  const balance = (): bigint => deposited() - paid() - sum(running.map(floorEarned));
  const finish = (each: Running): void => {
    earned[each.name] = floorEarned(each);
  };
  for (const word of words) {
    const { blocks, kind, value } = stepOf(word);
    for (let i = 0n; i < blocks; i += 1n) {
      const next = sum(running.map((each) => each.rate * (height + 1n - each.start)));
      if (running.length > 0 && next > (deposited() - paid()) * UNIT) {
        ends.push(height);
        running.forEach(finish);
        running = [];
      }
      height += 1n;
    }
    if (kind === 0 || kind === 1) {
      const rate = rateOf(value);
      if (balance() * UNIT >= rate) {
        running.push({ name: started, rate, start: height });
        started += 1;
      }
    } else if (kind === 2 && running.length > 0) {
      const each = running[Number(value) % running.length];
      if (each !== undefined) finish(each);
      running = running.filter((other) => other !== each);
    } else if (kind === 3) {
      deposits.push({ depositor: DEPOSITORS[Number(value % 3n)] ?? "a", amount: (value % 90n) + 1n });
    }
  }
  running.forEach(finish);
  let left = paid();
  const rest = new Map<string, bigint>();
  for (const { depositor, amount } of deposits) {
    const unused = amount > left ? amount - left : 0n;
    left -= amount - unused;
    if (unused > 0n) rest.set(depositor, (rest.get(depositor) ?? 0n) + unused);
  }
  return { earned, refunds: [...rest].map(([depositor, amount]) => ({ depositor, amount })), ends };
}

const RUNS = Number(process.env.SETTLEMENT_RUNS ?? 100_000);
const SEED = Number(process.env.SETTLEMENT_SEED ?? 20_260_101);

describe("settlement", () => {
  it("gives the same payouts, refunds and ends for every schedule of settling and withdrawing", {
    timeout: 120_000,
  }, () => {
    console.log(`settlement: seed ${SEED}, ${RUNS} schedules`);
    const text = (outcome: Outcome): string =>
      `${outcome.earned.join()}|${outcome.ends.join()}|${outcome.refunds.map((each) => each.depositor + each.amount).join()}`;
    let ended = 0;
    const words = fc.array(fc.nat({ max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(words, (schedule) => {
        const quiet = runLedger(schedule, false);
        ended += quiet.ends.length;
        if (text(runLedger(schedule, true)) !== text(quiet)) throw new Error("depends on the schedule");
        if (text(runModel(schedule)) !== text(quiet)) throw new Error("differs from the model");
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(ended).toBeGreaterThan(RUNS / 10);
  });

  it("never earns less later", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 28n), fc.nat(10_000), (rate, height) => {
        const payment = { rate, startedAt: 5n };
        expect(earnedBy(payment, BigInt(height) + 1n)).toBeGreaterThanOrEqual(earnedBy(payment, BigInt(height)));
      }),
      { seed: SEED },
    );
  });
});
