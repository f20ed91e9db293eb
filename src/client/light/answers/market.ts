import { create } from "@bufbuild/protobuf";
import { DEC_ONE } from "../../../util/index.ts";
import { CoinSchema } from "../../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  Certificate_State,
  CertificateSchema,
  Query as CertQuery,
} from "../../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import {
  type Account,
  Query as EscrowQuery,
  type Payment,
  Payment_State,
  PaymentSchema,
} from "../../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { BidSchema, LeaseSchema, OrderSchema } from "../../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../../wire/gen/svc/market/v1beta1/query_pb.js";
import { Query as ProviderQuery, ProviderSchema } from "../../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import {
  type BidKey,
  certErrors,
  formatBidId,
  formatDeploymentId,
  formatLeaseId,
  formatOrderId,
  formatPaymentId,
  marketErrors,
  providerErrors,
} from "../../../wire/index.ts";
import { addressPart, bidPart, escrowPart, orderPart, recordKey, serialPart } from "../keys.ts";
import { findRecord, type ProvenAnswer, provenAnswer } from "./answer.ts";
import { findAccount, findSpec } from "./deployments.ts";

const STORE = "market";
const NO_KEY = new Uint8Array();
const NO_ID: BidKey = { owner: "", dseq: 0n, gseq: 0, oseq: 0, provider: "" };

/** Orders, bids and leases, and the money and people behind them. */
export const answers: readonly ProvenAnswer[] = [
  provenAnswer(MarketQuery.method.order, async (state, { id = NO_ID }) => {
    const [order, spec] = await Promise.all([
      findRecord(state, OrderSchema, { store: STORE, key: recordKey(0x10, orderPart(id)) }),
      findSpec(state, id),
    ]);
    if (order === undefined) throw marketErrors.orderNotFound(formatOrderId(id));
    return { order: { ...order, ...(spec === undefined ? {} : { spec }) } };
  }),
  provenAnswer(MarketQuery.method.bid, async (state, { id = NO_ID }) => {
    const [bid, escrowAccount] = await Promise.all([
      findRecord(state, BidSchema, { store: STORE, key: recordKey(0x20, bidPart(id)) }),
      findAccount(state, { scope: "bid", xid: formatBidId(id) }),
    ]);
    if (bid === undefined) throw marketErrors.bidNotFound(formatBidId(id));
    return { bid, ...(escrowAccount === undefined ? {} : { escrowAccount }) };
  }),
  provenAnswer(MarketQuery.method.lease, async (state, { id = NO_ID }) => {
    const account = { scope: "deployment", xid: formatDeploymentId(id) } as const;
    const paymentKey = recordKey(0x04, escrowPart(account, formatPaymentId(id)));
    const [lease, payment, from] = await Promise.all([
      findRecord(state, LeaseSchema, { store: STORE, key: recordKey(0x30, bidPart(id)) }),
      findRecord(state, PaymentSchema, { store: "escrow", key: paymentKey }),
      findAccount(state, account),
    ]);
    if (lease === undefined) throw marketErrors.leaseNotFound(formatLeaseId(id));
    if (payment === undefined || from === undefined) return { lease };
    const amount = `${accruedBy(payment, from, state.height)}`;
    const accrued = create(CoinSchema, { denom: payment.rate?.denom ?? "", amount });
    return { lease, escrowPayment: create(PaymentSchema, { ...payment, accrued }) };
  }),
  provenAnswer(EscrowQuery.method.accounts, async (state, request) => {
    const { scope, xid, owner, state: wanted, pagination } = request;
    // A page of one account: any other is a list.
    const { offset = 0n, key = NO_KEY, countTotal = false } = pagination ?? { countTotal: true };
    const isOne = scope === "deployment" && /^[^/]+\/\d+\/?$/.test(xid) && owner === "" && wanted === "";
    if (!isOne || offset !== 0n || key.length > 0) return undefined;
    const account = await findAccount(state, { scope, xid: xid.replace(/\/$/, "") });
    const accounts = account === undefined ? [] : [account];
    return { accounts, pagination: { total: countTotal ? BigInt(accounts.length) : 0n } };
  }),
  provenAnswer(ProviderQuery.method.provider, async (state, { owner }) => {
    const key = recordKey(0x01, addressPart(owner));
    const provider = await findRecord(state, ProviderSchema, { store: "provider", key });
    if (provider === undefined) throw providerErrors.notFound(owner);
    return { provider };
  }),
  provenAnswer(CertQuery.method.certificates, async (state, { filter }) => {
    const { owner = "", serial = "", state: wanted = "" } = filter ?? {};
    if (owner === "" || !/^\d{1,49}$/.test(serial)) return undefined;
    const key = recordKey(0x01, addressPart(owner), serialPart(BigInt(serial)));
    const certificate = await findRecord(state, CertificateSchema, { store: "cert", key });
    if (certificate === undefined) throw certErrors.notFound(`${owner}/${serial}`);
    const isWanted = wanted === "" || Certificate_State[certificate.state] === wanted;
    return { certificates: isWanted ? [{ certificate, serial }] : [] };
  }),
];

/** Earned by the height, or by the last block that the account's money covers, and not paid out; rounded down. */
function accruedBy(payment: Payment, { exhaustsAt }: Account, height: bigint): bigint {
  const amount = (coin: { readonly amount: string } | undefined) => BigInt(coin?.amount ?? "0");
  if (payment.state !== Payment_State.open) return amount(payment.balance);
  const end = exhaustsAt !== 0n && exhaustsAt < height ? exhaustsAt : height;
  const { startedAt } = payment;
  const earned = end <= startedAt ? 0n : (amount(payment.rate) * (end - startedAt)) / DEC_ONE;
  return earned - amount(payment.withdrawn);
}
