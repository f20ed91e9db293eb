import type { DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type Dec, isOneOf, SvcError } from "../util/index.ts";
import { Query as AuthQuery, BaseAccountSchema } from "../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import type { PageResponse } from "../wire/gen/sdk/base/query/v1beta1/pagination_pb.js";
import type { Coin, DecCoin } from "../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { type AuditedAttributes, Query as AuditQuery } from "../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { type Attribute, Closed_Reason } from "../wire/gen/svc/base/v1beta1/base_pb.js";
import { Certificate_State, Query as CertQuery } from "../wire/gen/svc/cert/v1beta1/cert_pb.js";
import {
  Deployment_State,
  type Group,
  Group_State,
  type GroupSpec,
} from "../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query as DeploymentQuery } from "../wire/gen/svc/deployment/v1beta1/query_pb.js";
import type { Account, Payment } from "../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import {
  Bid_State,
  type Lease,
  Lease_State,
  type Order,
  Order_State,
} from "../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../wire/gen/svc/market/v1beta1/query_pb.js";
import { type Provider, Query as ProviderQuery } from "../wire/gen/svc/provider/v1beta1/provider_pb.js";
import {
  type DeploymentKey,
  type GroupKey,
  type LeaseKey,
  NOT_FOUND_ERRORS,
  type OrderKey,
  type PublicKey,
  publicKeyFromAny,
  unpackAs,
} from "../wire/index.ts";

/** An amount per block. */
export interface ChainPrice {
  readonly denom: string;
  readonly amount: Dec;
}

/** An amount of whole units. */
export interface ChainCoin {
  readonly denom: string;
  readonly amount: bigint;
}

export interface ChainLease {
  readonly id: LeaseKey;
  /** Both states beside `active` are final. */
  readonly state: "active" | "insufficient_funds" | "closed";
  readonly price: ChainPrice;
  readonly createdAt: bigint;
  /** Height at which it ended, 0 while it is active. */
  readonly closedOn: bigint;
  readonly closeReason: string;
}

export interface ChainDeployment {
  readonly state: "active" | "closed";
  /** Hash of the manifest, 32 bytes. */
  readonly version: Uint8Array;
  readonly groups: readonly ChainGroup[];
  readonly escrow: ChainEscrow | undefined;
}

export interface ChainGroup {
  readonly gseq: number;
  readonly state: "open" | "paused" | "insufficient_funds" | "closed";
  readonly spec: GroupSpec;
}

/** The tenant's money behind a deployment. */
export interface ChainEscrow {
  readonly balance: ChainCoin;
  readonly settledAt: bigint;
  readonly rate: ChainPrice;
  /** Height at which the money ends; 0 while nothing is paid. */
  readonly exhaustsAt: bigint;
}

/** What a lease has earned. */
export interface ChainPayment {
  readonly rate: ChainPrice;
  /** Earned and not yet paid out. */
  readonly accrued: ChainCoin;
  readonly withdrawn: ChainCoin;
}

export interface ChainCertificate {
  readonly state: "valid" | "revoked";
  /** The certificate as it was published. */
  readonly pem: Uint8Array;
}

export interface ChainOrder {
  readonly id: OrderKey;
  readonly spec: GroupSpec;
  readonly createdAt: bigint;
  readonly expiresAt: bigint;
}

export interface ChainBid {
  readonly state: "open" | "active" | "lost" | "closed";
  readonly price: ChainPrice;
  readonly createdAt: bigint;
}

export interface MarketParams {
  readonly orderMaxBids: number;
  readonly bidMinDeposits: readonly ChainCoin[];
}

export interface LeaseFilter {
  readonly provider: string;
  readonly owner?: string;
  readonly dseq?: bigint;
}

/**
 * The chain as the provider sees it. `undefined` means that the chain answered and has no such record; every call rejects
 * when the chain could not be asked, so a failed query never proves that something is gone.
 */
export interface ChainView {
  lease(id: LeaseKey): Promise<ChainLease | undefined>;
  activeLeases(filter: LeaseFilter): Promise<readonly ChainLease[]>;
  deployment(id: DeploymentKey): Promise<ChainDeployment | undefined>;
  group(id: GroupKey): Promise<ChainGroup | undefined>;
  payment(id: LeaseKey): Promise<ChainPayment | undefined>;
  certificate(owner: string, serial: string): Promise<ChainCertificate | undefined>;
  /** The key of an account; undefined also where the account has not signed anything yet. */
  publicKey(address: string): Promise<PublicKey | undefined>;
  provider(address: string): Promise<Provider | undefined>;
  auditedAttributes(provider: string): Promise<readonly AuditedAttributes[]>;
  openOrders(): Promise<readonly ChainOrder[]>;
  order(id: OrderKey): Promise<(ChainOrder & { readonly state: string }) | undefined>;
  bid(id: LeaseKey): Promise<ChainBid | undefined>;
  openBids(provider: string): Promise<readonly (ChainBid & { readonly id: LeaseKey })[]>;
  /** How many bids on the order are open. */
  openBidCount(id: OrderKey): Promise<number>;
  marketParams(): Promise<MarketParams>;
}

/** What is needed of a query client: rejects with the chain's codespace and code, or with anything when it got no answer. */
export interface ChainQuery {
  call<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): Promise<MessageShape<M["output"]>>;
}

/** Rows asked for at once. */
const PAGE = 500n;
const MAX_PAGES = 10_000;

/** The view over a query client. */
export function chainView(client: ChainQuery): ChainView {
  const market = MarketQuery.method;
  return {
    async lease(id) {
      const answer = await found(client.call(market.lease, { id }));
      return answer?.lease === undefined ? undefined : readLease(answer.lease);
    },
    async activeLeases({ provider, owner = "", dseq = 0n }) {
      const filters = { provider, owner, dseq, state: "active" };
      const rows = await pages((pagination) => client.call(market.leases, { filters, pagination }));
      return rows.flatMap(({ leases }) =>
        leases.flatMap(({ lease }) => (lease === undefined ? [] : [readLease(lease)])),
      );
    },
    async deployment(id) {
      const answer = await found(client.call(DeploymentQuery.method.deployment, { id }));
      if (answer?.deployment === undefined) return undefined;
      const { deployment, groups, escrowAccount } = answer;
      return {
        state: deployment.state === Deployment_State.active ? "active" : "closed",
        version: deployment.version,
        groups: groups.map(readGroup),
        escrow: escrowAccount === undefined ? undefined : readEscrow(escrowAccount),
      };
    },
    async group(id) {
      const answer = await found(client.call(DeploymentQuery.method.group, { id }));
      return answer?.group === undefined ? undefined : readGroup(answer.group);
    },
    async payment(id) {
      const answer = await found(client.call(market.lease, { id }));
      return answer?.escrowPayment === undefined ? undefined : readPayment(answer.escrowPayment);
    },
    async certificate(owner, serial) {
      const answer = await found(client.call(CertQuery.method.certificates, { filter: { owner, serial } }));
      const row = answer?.certificates.find((each) => each.serial === serial)?.certificate;
      if (row === undefined) return undefined;
      return { state: row.state === Certificate_State.valid ? "valid" : "revoked", pem: row.cert };
    },
    async publicKey(address) {
      const answer = await found(client.call(AuthQuery.method.account, { address }));
      const key = answer?.account && unpackAs(BaseAccountSchema, answer.account)?.pubKey;
      return key === undefined ? undefined : publicKeyFromAny(key);
    },
    async provider(address) {
      return (await found(client.call(ProviderQuery.method.provider, { owner: address })))?.provider;
    },
    async auditedAttributes(provider) {
      const method = AuditQuery.method.providerAttributes;
      const rows = await found(pages((pagination) => client.call(method, { owner: provider, pagination })));
      return (rows ?? []).flatMap(({ providers }) => providers);
    },
    async openOrders() {
      const filters = { state: "open" };
      const rows = await pages((pagination) => client.call(market.orders, { filters, pagination }));
      return rows.flatMap(({ orders }) => orders.map(readOrder));
    },
    async order(id) {
      const answer = await found(client.call(market.order, { id }));
      if (answer?.order === undefined) return undefined;
      return { ...readOrder(answer.order), state: Order_State[answer.order.state] };
    },
    async bid(id) {
      const bid = (await found(client.call(market.bid, { id })))?.bid;
      if (bid === undefined) return undefined;
      return { state: bidState(bid.state), price: readPrice(bid.price), createdAt: bid.createdAt };
    },
    async openBids(provider) {
      const filters = { provider, state: "open" };
      const rows = await pages((pagination) => client.call(market.bids, { filters, pagination }));
      const bids = rows.flatMap((page) => page.bids.flatMap(({ bid }) => (bid === undefined ? [] : [bid])));
      return bids.map(({ bidId, state, price, createdAt }) => ({
        id: needId(bidId),
        state: bidState(state),
        price: readPrice(price),
        createdAt,
      }));
    },
    async openBidCount({ owner, dseq, gseq, oseq }) {
      const filters = { owner, dseq, gseq, oseq, state: "open" };
      const rows = await pages((pagination) => client.call(market.bids, { filters, pagination }));
      return rows.reduce((sum, page) => sum + page.bids.length, 0);
    },
    async marketParams() {
      const { params } = await client.call(market.params, {});
      return {
        orderMaxBids: params?.orderMaxBids ?? 0,
        bidMinDeposits: (params?.bidMinDeposits ?? []).map(readCoin),
      };
    },
  };
}

/** Whether the chain itself said that the record does not exist. */
function saysNotFound(error: unknown): boolean {
  return error instanceof SvcError && isOneOf(NOT_FOUND_ERRORS, error);
}

async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (saysNotFound(error)) return undefined;
    throw error;
  }
}

interface PageInit {
  readonly key: Uint8Array;
  readonly limit: bigint;
}

/** All pages of a list. A page may be short or empty and still not be the last. */
async function pages<T extends { readonly pagination?: PageResponse | undefined }>(
  ask: (pagination: PageInit) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  let key: Uint8Array = new Uint8Array();
  do {
    const answer = await ask({ key, limit: PAGE });
    answers.push(answer);
    if (answers.length > MAX_PAGES) throw new Error("the node answers with pages without end");
    key = answer.pagination?.nextKey ?? new Uint8Array();
  } while (key.length > 0);
  return answers;
}

function readLease(lease: Lease): ChainLease {
  return {
    id: needId(lease.leaseId),
    state: leaseState(lease.state),
    price: readPrice(lease.price),
    createdAt: lease.createdAt,
    closedOn: lease.closedOn,
    closeReason: Closed_Reason[lease.closeReason] ?? "unspecified",
  };
}

/** An unknown number is no proof that the lease has ended. */
function leaseState(state: Lease_State): ChainLease["state"] {
  if (state === Lease_State.active) return "active";
  if (state === Lease_State.insufficient_funds) return "insufficient_funds";
  if (state === Lease_State.closed) return "closed";
  throw new Error(`the node answered with an unknown lease state ${state}`);
}

function bidState(state: Bid_State): ChainBid["state"] {
  if (state === Bid_State.open) return "open";
  if (state === Bid_State.active) return "active";
  return state === Bid_State.lost ? "lost" : "closed";
}

const GROUP_STATES = new Map<Group_State, ChainGroup["state"]>([
  [Group_State.open, "open"],
  [Group_State.paused, "paused"],
  [Group_State.insufficient_funds, "insufficient_funds"],
]);

function readGroup({ groupId, state, groupSpec }: Group): ChainGroup {
  if (groupId === undefined || groupSpec === undefined) throw new Error("the node answered with half a group");
  return { gseq: groupId.gseq, state: GROUP_STATES.get(state) ?? "closed", spec: groupSpec };
}

function readOrder({ orderId, spec, createdAt, expiresAt }: Order): ChainOrder {
  if (orderId === undefined || spec === undefined) throw new Error("the node answered with half an order");
  return { id: orderId, spec, createdAt, expiresAt };
}

function readEscrow({ balance, settledAt, rateTotal, exhaustsAt }: Account): ChainEscrow {
  return { balance: readCoin(balance), settledAt, rate: readPrice(rateTotal), exhaustsAt };
}

function readPayment({ rate, accrued, withdrawn }: Payment): ChainPayment {
  return { rate: readPrice(rate), accrued: readCoin(accrued), withdrawn: readCoin(withdrawn) };
}

function needId(id: LeaseKey | undefined): LeaseKey {
  if (id === undefined) throw new Error("the node answered with a record that has no id");
  const { owner, dseq, gseq, oseq, provider } = id;
  return { owner, dseq, gseq, oseq, provider };
}

function readCoin(coin: Coin | undefined): ChainCoin {
  return { denom: coin?.denom ?? "", amount: BigInt(coin?.amount ?? "0") };
}

/** On the wire a decimal is the digits of its value times 10^18, which is also its form here. */
function readPrice(coin: DecCoin | undefined): ChainPrice {
  return { denom: coin?.denom ?? "", amount: BigInt(coin?.amount === "" ? "0" : (coin?.amount ?? "0")) };
}

/** The provider's own attributes. */
export function providerAttributes(provider: Provider | undefined): readonly Attribute[] {
  return provider?.attributes ?? [];
}
