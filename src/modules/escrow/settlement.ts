import { DEC_ONE, type Dec } from "../../util/index.ts";

/**
 * The arithmetic of escrow, without store access. Earnings of a payment depend only on its rate and start block, and
 * the block at which the funds run out only on deposits, rates and start blocks: no schedule of settling or withdrawing
 * changes either. Every amount is an integer; earnings are rounded down and the rest stays in the account.
 */

/** `exhaustsAt` of an account without payments. */
export const NEVER = 0n;

/** Heights are signed 64-bit numbers on the wire. */
export const MAX_HEIGHT = 2n ** 63n - 1n;

/** Money of one depositor; the oldest deposit is drawn first. */
export interface Deposit {
  readonly depositor: string;
  readonly height: bigint;
  readonly remaining: bigint;
  readonly fromGrant: boolean;
}

/** Fields of an account that settling reads and changes. */
export interface AccountBook {
  /** Deposits minus refunds minus earnings, at `settledAt`. */
  readonly balance: bigint;
  /** Earned by payments, paid out or not. */
  readonly transferred: bigint;
  readonly settledAt: bigint;
  /** In the order of the first deposits; together they are the balance. */
  readonly deposits: readonly Deposit[];
  /** Sum of the rates of the open payments. */
  readonly rateTotal: Dec;
  /** The last block that the money covers, or `NEVER`. */
  readonly exhaustsAt: bigint;
}

/** Fields of an open payment that settling reads and changes. */
export interface PaymentBook {
  /** Per block. */
  readonly rate: Dec;
  /** The first block earned is the one after it. */
  readonly startedAt: bigint;
  /** Earned but not yet paid out. */
  readonly balance: bigint;
  /** Paid out. */
  readonly withdrawn: bigint;
}

/** An account with its open payments. */
export interface Ledger<A extends AccountBook, P extends PaymentBook> {
  readonly account: A;
  readonly payments: readonly P[];
}

/** Earnings of a payment by the end of a block, rounded down. */
export function earnedBy(payment: Pick<PaymentBook, "rate" | "startedAt">, height: bigint): bigint {
  return height <= payment.startedAt ? 0n : (payment.rate * (height - payment.startedAt)) / DEC_ONE;
}

/**
 * The last block that `funds` cover: H = floor((funds x 10^18 + C) / R) with R the sum of the rates and C the sum of
 * rate x start block. `funds` are deposits minus refunds minus the earnings of closed payments.
 */
export function exhaustionHeight(funds: bigint, payments: readonly Pick<PaymentBook, "rate" | "startedAt">[]): bigint {
  let rate = 0n;
  let offset = 0n;
  for (const payment of payments) {
    rate += payment.rate;
    offset += payment.rate * payment.startedAt;
  }
  if (rate === 0n) return NEVER;
  const height = (funds * DEC_ONE + offset) / rate;
  if (height > MAX_HEIGHT) return MAX_HEIGHT;
  return height;
}

/** Whether the funds ran out before this block and the account still waits to be ended. */
export function isOverdue(account: Pick<AccountBook, "exhaustsAt">, height: bigint): boolean {
  return account.exhaustsAt !== NEVER && account.exhaustsAt < height;
}

/** Moves everything earned by the end of a block, or of the last block the money covers, from account to payments. */
export function settle<A extends AccountBook, P extends PaymentBook>(
  ledger: Ledger<A, P>,
  height: bigint,
): Ledger<A, P> {
  const end = isOverdue(ledger.account, height) ? ledger.account.exhaustsAt : height;
  const payments = ledger.payments.map((each) => ({ ...each, balance: earnedBy(each, end) - each.withdrawn }));
  const due = total(payments) - total(ledger.payments);
  const { account } = ledger;
  return {
    account: {
      ...account,
      balance: account.balance - due,
      transferred: account.transferred + due,
      settledAt: end,
      deposits: draw(account.deposits, due),
    },
    payments,
  };
}

/** Adds money, merged with an earlier deposit of the same depositor and source. The ledger must be settled. */
export function addDeposit<A extends AccountBook, P extends PaymentBook>(
  ledger: Ledger<A, P>,
  deposit: Deposit,
): Ledger<A, P> {
  const { account, payments } = ledger;
  const { depositor, fromGrant, remaining } = deposit;
  const known = account.deposits.find((each) => each.depositor === depositor && each.fromGrant === fromGrant);
  const deposits =
    known === undefined
      ? [...account.deposits, deposit]
      : account.deposits.map((each) => (each === known ? { ...known, remaining: known.remaining + remaining } : each));
  return withPayments({ ...account, balance: account.balance + deposit.remaining, deposits }, payments);
}

/** Starts a payment. The ledger must be settled. */
export function addPayment<A extends AccountBook, P extends PaymentBook>(
  ledger: Ledger<A, P>,
  payment: P,
): Ledger<A, P> {
  return withPayments(ledger.account, [...ledger.payments, payment]);
}

/** Ends a payment; its earnings so far no longer belong to the funds. The ledger must be settled. */
export function removePayment<A extends AccountBook, P extends PaymentBook>(
  ledger: Ledger<A, P>,
  payment: P,
): Ledger<A, P> {
  return withPayments(
    ledger.account,
    ledger.payments.filter((each) => each !== payment),
  );
}

/** The ledger with the sum of rates and the exhaustion height that follow from its payments. */
export function withPayments<A extends AccountBook, P extends PaymentBook>(
  account: A,
  payments: readonly P[],
): Ledger<A, P> {
  const earned = payments.reduce((sum, each) => sum + each.balance + each.withdrawn, 0n);
  return {
    account: {
      ...account,
      rateTotal: payments.reduce((sum, each) => sum + each.rate, 0n),
      exhaustsAt: exhaustionHeight(account.balance + earned, payments),
    },
    payments,
  };
}

/** The rest of the deposits, per depositor in the order of their first deposit. */
export function refunds(deposits: readonly Deposit[]): { readonly depositor: string; readonly amount: bigint }[] {
  const sums = new Map<string, bigint>();
  for (const { depositor, remaining } of deposits) sums.set(depositor, (sums.get(depositor) ?? 0n) + remaining);
  return [...sums].map(([depositor, amount]) => ({ depositor, amount }));
}

/** Units needed to pay a rate for a number of blocks. */
export function costOf(rate: Dec, blocks: bigint): bigint {
  return (rate * blocks + DEC_ONE - 1n) / DEC_ONE;
}

/** Takes an amount out of the deposits, oldest first; used-up entries leave the list. */
function draw(deposits: readonly Deposit[], amount: bigint): readonly Deposit[] {
  let left = amount;
  let index = 0;
  for (const { remaining } of deposits) {
    if (remaining > left) break;
    left -= remaining;
    index += 1;
  }
  const rest = deposits.slice(index);
  const [first] = rest;
  return first === undefined || left === 0n
    ? rest
    : [{ ...first, remaining: first.remaining - left }, ...rest.slice(1)];
}

function total(payments: readonly PaymentBook[]): bigint {
  return payments.reduce((sum, each) => sum + each.balance, 0n);
}
