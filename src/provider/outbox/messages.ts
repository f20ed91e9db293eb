import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { DecimalCoin, IntCoin } from "../../util/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import {
  MsgCloseBidSchema,
  MsgCreateBidSchema,
  MsgWithdrawLeasesSchema,
} from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { encodeMessage, type LeaseKey, type OrderKey, typeUrlOf } from "../../wire/index.ts";
import type { GiveUpReason } from "../leases/index.ts";
import type { OutMessage } from "./outbox.ts";

/** The messages that a provider sends. */

export interface BidTerms {
  readonly provider: string;
  readonly price: DecimalCoin;
  readonly deposit: IntCoin;
}

export function bidMessage(order: OrderKey, { provider, price, deposit }: BidTerms): OutMessage {
  return message(MsgCreateBidSchema, {
    order: pick(order),
    provider,
    // On the wire a decimal is the digits of its value times 10^18.
    price: { denom: price.denom, amount: price.amount.toString() },
    deposit: { denom: deposit.denom, amount: deposit.amount.toString() },
  });
}

/** Withdraws an open bid. The chain refuses that once the bid has won, so that it never ends a lease. */
export function withdrawBidMessage(bid: LeaseKey): OutMessage {
  return message(MsgCloseBidSchema, { bidId: { ...pick(bid), provider: bid.provider }, openOnly: true });
}

/** Ends the lease that a bid won. */
export function closeBidMessage(bid: LeaseKey, why: GiveUpReason): OutMessage {
  return message(MsgCloseBidSchema, { bidId: { ...pick(bid), provider: bid.provider }, reason: Closed_Reason[why] });
}

/**
 * Leases that one message collects from: the chain takes about two hundred, and without names always the first ones.
 */
const LEASES_AT_A_TIME = 100;

/** Collects what the provider's active leases have earned; they are named if one message does not reach them all. */
export function withdrawMessages(provider: string, leases: readonly LeaseKey[]): OutMessage[] {
  if (leases.length === 0) return [];
  if (leases.length <= LEASES_AT_A_TIME) return [message(MsgWithdrawLeasesSchema, { provider })];
  return Array.from({ length: Math.ceil(leases.length / LEASES_AT_A_TIME) }, (_, i) => {
    const part = leases.slice(i * LEASES_AT_A_TIME, (i + 1) * LEASES_AT_A_TIME);
    return message(MsgWithdrawLeasesSchema, { provider, ids: part.map((id) => ({ ...pick(id), provider })) });
  });
}

function pick({ owner, dseq, gseq, oseq }: OrderKey): OrderKey {
  return { owner, dseq, gseq, oseq };
}

function message<D extends DescMessage>(schema: D, init: MessageInitShape<D>): OutMessage {
  return { typeUrl: typeUrlOf(schema), value: encodeMessage(schema, create(schema, init)) };
}
