import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { defineGenesis, type GenesisPart, movedDue, movedHeight, type RestartPart } from "../../runtime/index.ts";
import { equalBytes } from "../../util/index.ts";
import {
  type Account as AccountMessage,
  AccountSchema,
  type GenesisState,
  GenesisStateSchema,
  type Params,
  ParamsSchema,
  type Payment as PaymentMessage,
  PaymentSchema,
} from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { escrowErrors as errors } from "../../wire/index.ts";
import { type EscrowKeeper, STORE } from "./keeper.ts";
import { accountKey, paymentKey } from "./keys.ts";
import { type Account, accountMessage, accountOf, type Payment, paymentMessage, paymentOf } from "./records.ts";
import { settle, withPayments } from "./settlement.ts";

/** About one day at six seconds a block. */
const LOW_BALANCE_BLOCKS = 14_400n;
const MAX_ENDBLOCK_RECORDS = 200;
/** More would make the end of one block take minutes. */
const MOST_ENDBLOCK_RECORDS = 100_000;
/** Above this, the height of a notice would not fit into 64 bits. */
const MOST_LOW_BALANCE_BLOCKS = 2n ** 40n;

export function defaultParams(): Params {
  return create(ParamsSchema, { maxEndblockRecords: MAX_ENDBLOCK_RECORDS, lowBalanceBlocks: LOW_BALANCE_BLOCKS });
}

export function escrowGenesis(keeper: EscrowKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    init(ctx, state) {
      const store = ctx.store(STORE);
      keeper.params.set(store, checked(state.params ?? defaultParams()));
      for (const message of state.accounts) {
        const account = readAccount(message);
        const key = accountKey(account.id);
        if (keeper.accounts.has(store, key)) throw errors.accountExists(key);
        if (account.settledAt > ctx.height)
          throw errors.invalidAccount(`${key}: settled_at ${account.settledAt} is in the future`);
        keeper.restore(ctx, account);
      }
      for (const message of state.payments) {
        const payment = readPayment(message);
        const key = paymentKey(payment.account, payment.id);
        if (keeper.payments.has(store, key)) throw errors.paymentExists(key);
        if (!keeper.account(ctx, payment.account).open && payment.open) throw errors.invalidPayment(key);
        keeper.restorePayment(ctx, payment);
      }
      for (const id of state.lateNotices) keeper.restoreLateNotice(ctx, id);
      for (const failed of state.retries) keeper.restoreFailedEnd(ctx, failed);
    },
    export(ctx) {
      const store = ctx.store(STORE);
      return create(GenesisStateSchema, {
        accounts: [...keeper.accounts.values(store)].map(accountMessage),
        payments: [...keeper.payments.values(store)].map((each) => paymentMessage(each)),
        params: keeper.getParams(ctx),
        lateNotices: keeper.lateNotices(ctx),
        retries: keeper.failedEnds(ctx),
      });
    },
    restart: escrowRestart(keeper),
  });
}

/** An account in exactly the form in which it is stored and exported: nothing of it may be lost silently. */
function readAccount(message: AccountMessage): Account {
  const account = read(() => accountOf(message));
  if (account !== undefined && isSame(AccountSchema, accountMessage(account), message)) return account;
  throw errors.invalidAccount(`${message.id?.scope}/${message.id?.xid}: an amount, denomination or state is malformed`);
}

function readPayment(message: PaymentMessage): Payment {
  const payment = read(() => paymentOf(message));
  if (payment !== undefined && isSame(PaymentSchema, paymentMessage(payment), message)) return payment;
  const id = `${message.accountId?.scope}/${message.accountId?.xid}/${message.paymentId}`;
  throw errors.invalidPayment(`${id}: an amount, denomination or state is malformed`);
}

function read<T>(convert: () => T): T | undefined {
  try {
    return convert();
  } catch {
    return undefined;
  }
}

function isSame<D extends DescMessage>(schema: D, one: MessageShape<D>, other: MessageShape<D>): boolean {
  return equalBytes(toBinary(schema, one), toBinary(schema, other));
}

function checked(params: Params): Params {
  const [problem] = paramsProblems(params);
  if (problem !== undefined) throw errors.invalidParams(problem);
  return params;
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  const { maxEndblockRecords: records, lowBalanceBlocks: blocks, messageGas } = params;
  return [
    ...(messageGas.length > 0 ? ["message_gas must be empty: accounts send no messages to this module"] : []),
    ...(records < 1 || records > MOST_ENDBLOCK_RECORDS
      ? [`max_endblock_records must be at least 1 and at most ${MOST_ENDBLOCK_RECORDS}`]
      : []),
    ...(blocks < 0n || blocks > MOST_LOW_BALANCE_BLOCKS
      ? [`low_balance_blocks must not be negative and at most ${MOST_LOW_BALANCE_BLOCKS}`]
      : []),
  ];
}

/** Payments continue as they were: the same amount a block, and the same number of blocks until the funds run out. */
function escrowRestart(keeper: EscrowKeeper): RestartPart<GenesisState> {
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
