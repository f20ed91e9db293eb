import { describe, expect, it } from "vitest";
import { type Book, opened, withdrawn } from "../../../test/support/books.ts";
import { parseDec } from "../../util/index.ts";
import {
  addDeposit,
  addPayment,
  costOf,
  exhaustionHeight,
  isOverdue,
  NEVER,
  refunds,
  settle,
  withPayments,
} from "./settlement.ts";

function paying(book: Book, rate: string | bigint, height: bigint): Book {
  const scaled = typeof rate === "string" ? parseDec(rate) : rate;
  const payment = { name: book.payments.length, rate: scaled, startedAt: height, balance: 0n, withdrawn: 0n };
  return addPayment(settle(book, height), payment);
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

  it("counts each payment from its own start: 1 from block 100 and 1 from block 200 on 1000 end with block 650", () => {
    const book = paying(paying(opened(1000n, 100n), "1", 100n), "1", 200n);
    expect(book.account.exhaustsAt).toBe(650n);
    expect(earnings(settle(book, 650n))).toEqual([550n, 450n]);
    expect(settle(book, 650n).account.balance).toBe(0n);
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

  it("keeps one entry a depositor, draws whoever came first, and refunds each", () => {
    const deposit = (depositor: string, remaining: bigint) => ({ depositor, height: 1n, remaining, fromGrant: false });
    let book = opened(10n, 1n);
    for (const each of [deposit("b", 5n), deposit("a", 7n), deposit("a", 1n)]) book = addDeposit(book, each);
    expect(book.account.deposits.map(({ remaining }) => remaining)).toEqual([18n, 5n]);
    const end = settle(paying(book, "20", 1n), 2n);
    expect(end.account.deposits.map(({ remaining }) => remaining)).toEqual([3n]);
    expect(refunds(end.account.deposits)).toEqual([{ depositor: "b", amount: 3n }]);
    const used = settle(paying(opened(12n, 1n), "12", 1n), 2n);
    expect(used.account.deposits).toEqual([]);
  });

  it("rounds the cost of a lease's first blocks up", () => {
    expect(costOf(parseDec("1.25"), 100n)).toBe(125n);
    expect(costOf(parseDec("0.001"), 100n)).toBe(1n);
  });
});
