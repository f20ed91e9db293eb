import {
  type AccountBook,
  addDeposit,
  type Ledger,
  NEVER,
  type PaymentBook,
  settle,
} from "../../src/modules/escrow/settlement.ts";

/** A payment with a name by which tests find it again. */
export type NamedPayment = PaymentBook & { readonly name: number };
export type Book = Ledger<AccountBook, NamedPayment>;

/** An account with one deposit. */
export function opened(amount: bigint, height: bigint): Book {
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

/** Pays out what every payment has earned. */
export function withdrawn(book: Book, height: bigint): Book {
  const { account, payments } = settle(book, height);
  const paid = payments.map((each) => ({ ...each, balance: 0n, withdrawn: each.withdrawn + each.balance }));
  return { account, payments: paid };
}
