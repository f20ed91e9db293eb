import type { DecimalCoin, IntCoin } from "../../util/index.ts";
import type { Coin, DecCoin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type Certificate, Certificate_State } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { Deployment_State, type Group, Group_State } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { QueryDeploymentResponse } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import type { Account } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import {
  type Bid,
  Bid_State,
  type Lease,
  Lease_State,
  type Order,
  Order_State,
} from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import type { QueryLeaseResponse } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import type { Provider } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import type { LeaseKey } from "../../wire/index.ts";
import { clientErrors } from "../errors.ts";
import type {
  BidRecord,
  CertificateRecord,
  DeploymentRecord,
  EscrowRecord,
  GroupRecord,
  LeaseRecord,
  OrderRecord,
  PaidLease,
  PaymentRecord,
  ProviderRecord,
} from "./types.ts";

/** The chain's messages as records. One that lacks a part, or has an unknown state, proves nothing: it is refused. */

export function readDeployment({ deployment, groups, escrowAccount }: QueryDeploymentResponse): DeploymentRecord {
  const { deploymentId: id, state, version, createdAt } = need(deployment, "deployment");
  return {
    dseq: need(id, "deployment id").dseq,
    state: known(DEPLOYMENT_STATES, state, "deployment"),
    version,
    createdAt,
    groups: groups.map(readGroup),
    escrow: escrowAccount === undefined ? undefined : readEscrow(escrowAccount),
  };
}

const DEPLOYMENT_STATES: ReadonlyMap<number, DeploymentRecord["state"]> = new Map([
  [Deployment_State.active, "active"],
  [Deployment_State.closed, "closed"],
]);

const GROUP_STATES: ReadonlyMap<number, GroupRecord["state"]> = new Map([
  [Group_State.open, "open"],
  [Group_State.paused, "paused"],
  [Group_State.insufficient_funds, "insufficient_funds"],
  [Group_State.closed, "closed"],
]);

export function readGroup({ groupId, state, groupSpec, closeReason }: Group): GroupRecord {
  return {
    gseq: need(groupId, "group id").gseq,
    state: known(GROUP_STATES, state, "group"),
    spec: need(groupSpec, "group spec"),
    closeReason: reasonName(closeReason),
  };
}

function readEscrow({ balance, transferred, exhaustsAt }: Account): EscrowRecord {
  const { denom, amount } = readCoin(balance);
  return { denom, balance: amount, transferred: readCoin(transferred).amount, exhaustsAt };
}

/**
 * The money of a deployment at the height of the answers: the balance of the last settlement, less earnings since. A close at
 * that height returns it to the depositors.
 */
export function balanceNow(
  escrow: Pick<EscrowRecord, "balance"> | undefined,
  leases: readonly Pick<PaidLease, "payment">[],
): bigint {
  const earned = leases.reduce((sum, { payment }) => sum + payment.accrued - payment.settled, 0n);
  return (escrow?.balance ?? 0n) - earned;
}

const ORDER_STATES: ReadonlyMap<number, OrderRecord["state"]> = new Map([
  [Order_State.open, "open"],
  [Order_State.active, "active"],
  [Order_State.closed, "closed"],
]);

export function readOrder({ orderId, state, spec, createdAt, expiresAt }: Order): OrderRecord {
  const { owner, dseq, gseq, oseq } = need(orderId, "order id");
  return {
    id: { owner, dseq, gseq, oseq },
    state: known(ORDER_STATES, state, "order"),
    spec: need(spec, "group of an order"),
    createdAt,
    expiresAt,
  };
}

const BID_STATES: ReadonlyMap<number, BidRecord["state"]> = new Map([
  [Bid_State.open, "open"],
  [Bid_State.active, "active"],
  [Bid_State.lost, "lost"],
  [Bid_State.closed, "closed"],
]);

export function readBid(bid: Bid | undefined): BidRecord {
  const { bidId, state, price, createdAt } = need(bid, "bid");
  return { id: leaseKey(bidId), state: known(BID_STATES, state, "bid"), price: readPrice(price), createdAt };
}

const LEASE_STATES: ReadonlyMap<number, LeaseRecord["state"]> = new Map([
  [Lease_State.active, "active"],
  [Lease_State.insufficient_funds, "insufficient_funds"],
  [Lease_State.closed, "closed"],
]);

export function readLease({ lease, escrowPayment }: QueryLeaseResponse): PaidLease {
  return { ...leaseRecord(need(lease, "lease")), payment: readPayment(escrowPayment) };
}

function leaseRecord({ leaseId, state, price, createdAt, closedOn, closeReason }: Lease): LeaseRecord {
  return {
    id: leaseKey(leaseId),
    state: known(LEASE_STATES, state, "lease"),
    price: readPrice(price),
    createdAt,
    closedOn,
    closeReason: reasonName(closeReason),
  };
}

function readPayment(payment: QueryLeaseResponse["escrowPayment"]): PaymentRecord {
  return {
    rate: readPrice(payment?.rate),
    withdrawn: readCoin(payment?.withdrawn).amount,
    accrued: readCoin(payment?.accrued).amount,
    settled: readCoin(payment?.balance).amount,
  };
}

export function readProvider({ owner, hostUri, attributes }: Provider): ProviderRecord {
  return { address: owner, hostUri, attributes };
}

/** Attribute of a provider under which pages in browsers reach its gateway: `https://host`, perhaps with a port. */
export const WEB_GATEWAY = "web-gateway";

/** The address of that attribute; undefined if the provider has none, or it is no such address. */
export function webGateway({ attributes }: Pick<ProviderRecord, "attributes">): string | undefined {
  const text = attributes.find(({ key }) => key === WEB_GATEWAY)?.value ?? "";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" && url.href === `${url.origin}/` ? url.origin : undefined;
}

export function readCertificate({ state, cert }: Certificate): CertificateRecord {
  return { state: state === Certificate_State.valid ? "valid" : "revoked", pem: cert };
}

export function readCoin(coin: Coin | undefined): IntCoin {
  return { denom: coin?.denom ?? "", amount: digits(coin?.amount) };
}

/** On the wire a decimal is the digits of its value times 10^18, which is also its form here. */
function readPrice(coin: DecCoin | undefined): DecimalCoin {
  return { denom: coin?.denom ?? "", amount: digits(coin?.amount) };
}

function digits(text: string | undefined): bigint {
  return BigInt(text === undefined || text === "" ? "0" : text);
}

function leaseKey(id: LeaseKey | undefined): LeaseKey {
  const { owner, dseq, gseq, oseq, provider } = need(id, "id of a bid or a lease");
  return { owner, dseq, gseq, oseq, provider };
}

function reasonName(reason: Closed_Reason): string {
  return Closed_Reason[reason] ?? `reason ${reason}`;
}

function need<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw clientErrors.badAnswer(`the node answered without the ${name}`);
  return part;
}

/** An unknown number is not a proof that something has ended. */
function known<S>(states: ReadonlyMap<number, S>, state: number, name: string): S {
  const word = states.get(state);
  if (word === undefined) throw clientErrors.badAnswer(`the node answered with an unknown ${name} state ${state}`);
  return word;
}
