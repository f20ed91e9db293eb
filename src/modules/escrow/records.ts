import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ValueCodec } from "../../store/index.ts";
import type { Coin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  Account_State,
  type Account as AccountMessage,
  AccountSchema,
  Payment_State,
  type Payment as PaymentMessage,
  PaymentSchema,
} from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import type { AccountKey, AccountScope } from "../../wire/index.ts";
import type { AccountBook, PaymentBook } from "./settlement.ts";

/** Money of one deployment or bid, held by the module's account. One denomination. */
export interface Account extends AccountBook {
  readonly id: AccountKey;
  /** bech32. */
  readonly owner: string;
  readonly open: boolean;
  readonly denom: string;
}

/** Money flowing from an account to a provider, per block. */
export interface Payment extends PaymentBook {
  readonly account: AccountKey;
  /** `<gseq>/<oseq>/<provider>` */
  readonly id: string;
  /** The provider, bech32. */
  readonly owner: string;
  readonly open: boolean;
  readonly denom: string;
  /** The last block that was earned; 0 while open. */
  readonly closedAt: bigint;
}

/** The account as the wire has it. */
export function accountMessage(account: Account): AccountMessage {
  const coin = (amount: bigint) => ({ denom: account.denom, amount: amount.toString() });
  return create(AccountSchema, {
    id: account.id,
    owner: account.owner,
    state: account.open ? Account_State.open : Account_State.closed,
    balance: coin(account.balance),
    transferred: coin(account.transferred),
    settledAt: account.settledAt,
    deposits: account.deposits.map((each) => ({ ...each, remaining: coin(each.remaining) })),
    rateTotal: coin(account.rateTotal),
    exhaustsAt: account.exhaustsAt,
  });
}

export function accountOf(message: AccountMessage): Account {
  return {
    id: { scope: scopeOf(message.id?.scope ?? ""), xid: message.id?.xid ?? "" },
    owner: message.owner,
    open: message.state === Account_State.open,
    denom: message.balance?.denom ?? "",
    balance: amountOf(message.balance),
    transferred: amountOf(message.transferred),
    settledAt: message.settledAt,
    deposits: message.deposits.map(({ depositor, height, remaining, fromGrant }) => ({
      depositor,
      height,
      remaining: amountOf(remaining),
      fromGrant,
    })),
    rateTotal: amountOf(message.rateTotal),
    exhaustsAt: message.exhaustsAt,
  };
}

/** The payment's message; `accrued` is the unpaid earning, if known. */
export function paymentMessage(payment: Payment, accrued?: bigint): PaymentMessage {
  const coin = (amount: bigint) => ({ denom: payment.denom, amount: amount.toString() });
  return create(PaymentSchema, {
    accountId: payment.account,
    paymentId: payment.id,
    owner: payment.owner,
    state: payment.open ? Payment_State.open : Payment_State.closed,
    rate: coin(payment.rate),
    balance: coin(payment.balance),
    withdrawn: coin(payment.withdrawn),
    startedAt: payment.startedAt,
    closedAt: payment.closedAt,
    ...(accrued === undefined ? {} : { accrued: coin(accrued) }),
  });
}

export function paymentOf(message: PaymentMessage): Payment {
  return {
    account: { scope: scopeOf(message.accountId?.scope ?? ""), xid: message.accountId?.xid ?? "" },
    id: message.paymentId,
    owner: message.owner,
    open: message.state === Payment_State.open,
    denom: message.rate?.denom ?? "",
    rate: amountOf(message.rate),
    startedAt: message.startedAt,
    closedAt: message.closedAt,
    balance: amountOf(message.balance),
    withdrawn: amountOf(message.withdrawn),
  };
}

export const accountValue: ValueCodec<Account> = {
  encode: (account) => toBinary(AccountSchema, accountMessage(account)),
  decode: (bytes) => accountOf(fromBinary(AccountSchema, bytes)),
};

export const paymentValue: ValueCodec<Payment> = {
  encode: (payment) => toBinary(PaymentSchema, paymentMessage(payment)),
  decode: (bytes) => paymentOf(fromBinary(PaymentSchema, bytes)),
};

export function isScope(text: string): text is AccountScope {
  return text === "deployment" || text === "bid";
}

function scopeOf(text: string): AccountScope {
  if (!isScope(text)) throw new Error(`escrow account of scope "${text}"`);
  return text;
}

/** Coins and decimal coins both carry the digits of an integer. */
function amountOf(coin: Pick<Coin, "amount"> | undefined): bigint {
  return BigInt(coin?.amount ?? "0");
}
