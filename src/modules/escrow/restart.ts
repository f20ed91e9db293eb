import { create } from "@bufbuild/protobuf";
import { movedDue, movedHeight, type RestartPart } from "../../runtime/index.ts";
import { type GenesisState, GenesisStateSchema } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import type { EscrowKeeper } from "./keeper.ts";
import { accountKey } from "./keys.ts";
import { type Account, accountMessage, accountOf, type Payment, paymentMessage, paymentOf } from "./records.ts";
import { settle, withPayments } from "./settlement.ts";

/** Payments continue as they were: the same amount a block, and the same number of blocks until the funds run out. */
export function escrowRestart(keeper: EscrowKeeper): RestartPart<GenesisState> {
  return { prepare: (ctx) => keeper.endAll(ctx), move: moved };
}

function moved(state: GenesisState, last: bigint): GenesisState {
  const payments = state.payments.map(paymentOf);
  const open = new Map<string, Payment[]>();
  for (const payment of payments.filter((each) => each.open)) {
    const key = accountKey(payment.account);
    open.set(key, [...(open.get(key) ?? []), payment]);
  }
  const ledgers = state.accounts.map((message) => {
    const account = accountOf(message);
    return movedLedger(account, open.get(accountKey(account.id)) ?? [], last);
  });
  const closed = payments.filter((each) => !each.open).map((payment) => movedPayment(payment, last));
  const running = ledgers.flatMap((each) => each.payments);
  return create(GenesisStateSchema, {
    ...state,
    accounts: ledgers.map(({ account }) => accountMessage(account)),
    payments: [...closed, ...running].map((each) => paymentMessage(each)),
    retries: state.retries.map((retry) => ({ ...retry, height: movedDue(retry.height, last) })),
  });
}

/** Everything is earned up to the last block, so later earnings belong to the new chain. */
function movedLedger(account: Account, payments: readonly Payment[], last: bigint) {
  const settled = account.open ? settle({ account, payments }, last) : { account, payments };
  const deposits = settled.account.deposits.map((deposit) => ({
    ...deposit,
    height: movedHeight(deposit.height, last),
  }));
  return withPayments(
    { ...settled.account, deposits, settledAt: 0n },
    settled.payments.map((payment) => movedPayment(payment, last)),
  );
}

/**
 * The start may lie before the chain's: what a payment has earned is counted from there, to the last digit. One that ended in the
 * last block ends like its lease a block before the new chain, where 0 means that nothing has ended, and lasted as long as it did.
 */
function movedPayment(payment: Payment, last: bigint): Payment {
  const zero = !payment.open && payment.closedAt === last ? last + 1n : last;
  const closedAt = payment.open ? 0n : movedHeight(payment.closedAt, zero);
  return { ...payment, startedAt: movedHeight(payment.startedAt, zero), closedAt };
}
