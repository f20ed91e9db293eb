import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type NamedPayment, opened, withdrawn } from "../../../test/support/books.ts";
import { sized } from "../../../test/support/runs.ts";
import {
  addDeposit,
  addPayment,
  costOf,
  earnedBy,
  NEVER,
  refunds,
  removePayment,
  settle,
  withPayments,
} from "./settlement.ts";

/**
 * A schedule is a list of 32-bit numbers, each one step: the number of blocks that pass, and the operation then. The
 * same schedule runs on the ledger with and without additional settling and withdrawing, and on a model that walks
 * every block.
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
  const finish = (payment: NamedPayment): void => {
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
    if (sum !== book.account.balance || book.account.balance < 0n) throw new Error(`deposits ${sum} are not a balance`);
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
  let deposits = [{ depositor: "a", amount: BigInt((words[0] ?? 0) % 500) + 1n }];
  /** Put in and drawn so far. */
  let putIn = deposits[0]?.amount ?? 0n;
  let drawn = 0n;
  let running: Running[] = [];
  const earned: bigint[] = [];
  const ends: bigint[] = [];
  let started = 0;
  const sum = (values: readonly bigint[]): bigint => values.reduce((total, each) => total + each, 0n);
  const paid = (): bigint => sum(earned.filter((each) => each !== undefined));
  const deposited = (): bigint => putIn;
  const floorEarned = (each: Running): bigint => (each.rate * (height - each.start)) / UNIT;
  const balance = (): bigint => deposited() - paid() - sum(running.map(floorEarned));
  const finish = (each: Running): void => {
    earned[each.name] = floorEarned(each);
  };
  /** Takes the earnings since the last call from the deposits in their order. */
  const useUp = (): void => {
    let left = paid() + sum(running.map(floorEarned)) - drawn;
    drawn += left;
    for (const each of deposits) {
      const part = each.amount < left ? each.amount : left;
      each.amount -= part;
      left -= part;
    }
    deposits = deposits.filter(({ amount }) => amount > 0n);
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
      const depositor = DEPOSITORS[Number(value % 3n)] ?? "a";
      const amount = (value % 90n) + 1n;
      useUp();
      putIn += amount;
      const known = deposits.find((each) => each.depositor === depositor);
      if (known === undefined) deposits.push({ depositor, amount });
      else known.amount += amount;
    }
  }
  running.forEach(finish);
  running = [];
  useUp();
  return { earned, refunds: deposits, ends };
}

const RUNS = Number(process.env.SETTLEMENT_RUNS ?? sized(3_000, 100_000));
const SEED = Number(process.env.SETTLEMENT_SEED ?? 20_260_101);

describe("settlement", () => {
  it("gives the same payouts, refunds and ends for every schedule of settling and withdrawing", () => {
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
