import { DEFAULT_LIMITS } from "../../sdl/index.ts";
import type { PageResponse } from "../../wire/gen/sdk/base/query/v1beta1/pagination_pb.js";
import { type AuditedAttributes, Query as AuditQuery } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { Query as CertQuery } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { Query as DeploymentQuery } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { Query as ProviderQuery } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import type { DeploymentKey, GroupKey, LeaseKey, OrderKey } from "../../wire/index.ts";
import type { QueryClient } from "../chain/query.ts";
import { clientErrors } from "../errors.ts";
import { found } from "./not-found.ts";
import {
  readBid,
  readCertificate,
  readCoin,
  readDeployment,
  readGroup,
  readLease,
  readOrder,
  readProvider,
} from "./records.ts";
import type {
  BidRecord,
  CertificateRecord,
  DeploymentRecord,
  DepositTerms,
  GroupRecord,
  LeaseRecord,
  MarketParams,
  OrderRecord,
  PaidLease,
  ProviderRecord,
} from "./types.ts";

/** Rows requested at once. */
const PAGE_ROWS = 500n;
/** A list with this many pages is considered endless. */
const MAX_PAGES = 10_000;

/**
 * The query client that a reader needs: rejects with the chain's codespace and code, or with any error if it got no
 * answer.
 */
export type ChainQuery = Pick<QueryClient, "call">;

/** Selects rows that match all given fields; a field that is left out, empty or 0 matches everything. */
export interface MarketFilter<State extends string> {
  readonly owner?: string;
  readonly dseq?: bigint;
  readonly gseq?: number;
  readonly oseq?: number;
  readonly provider?: string;
  readonly state?: State;
}

type OrderFilter = Omit<MarketFilter<OrderRecord["state"]>, "provider">;

/** A part of a list of orders. */
export interface OrderPage {
  readonly orders: readonly OrderRecord[];
  readonly nextKey: Uint8Array;
}

/**
 * The marketplace as the chain knows it. `undefined` means that the chain answered and has no such record; every call
 * rejects if the chain could not be queried, so a failed query never proves that something is gone.
 */
export interface MarketReader {
  depositTerms(): Promise<DepositTerms>;
  marketParams(): Promise<MarketParams>;
  deployment(id: DeploymentKey): Promise<DeploymentRecord | undefined>;
  /**
   * The height of the state by which a deployment was closed so long ago that the chain no longer keeps it: nothing of it is in
   * force, and its number is never used again. Undefined where the chain says otherwise.
   */
  prunedAt(id: DeploymentKey): Promise<bigint | undefined>;
  /** Oldest first. */
  deployments(
    filter: Pick<MarketFilter<DeploymentRecord["state"] | "">, "owner" | "state">,
  ): Promise<readonly DeploymentRecord[]>;
  group(id: GroupKey): Promise<GroupRecord | undefined>;
  order(id: OrderKey): Promise<OrderRecord | undefined>;
  orders(filter: OrderFilter): Promise<readonly OrderRecord[]>;
  /** One page of orders: the first for an empty key, otherwise the page of `nextKey`, which is empty after the last. */
  orderPage(filter: OrderFilter, key: Uint8Array): Promise<OrderPage>;
  bid(id: LeaseKey): Promise<BidRecord | undefined>;
  bids(filter: MarketFilter<BidRecord["state"]>): Promise<readonly BidRecord[]>;
  lease(id: LeaseKey): Promise<PaidLease | undefined>;
  leases(filter: MarketFilter<LeaseRecord["state"]>): Promise<readonly PaidLease[]>;
  provider(address: string): Promise<ProviderRecord | undefined>;
  providers(): Promise<readonly ProviderRecord[]>;
  /** The provider's attributes that auditors have signed. */
  audits(provider: string): Promise<readonly AuditedAttributes[]>;
  certificate(owner: string, serial: string): Promise<CertificateRecord | undefined>;
  /** Certificates that are not revoked; they may have expired. */
  validCertificates(owner: string): Promise<readonly CertificateRecord[]>;
}

/** The reader over a query client. */
export function marketReader(query: ChainQuery): MarketReader {
  return { ...deploymentReader(query), ...tradeReader(query), ...providerReader(query) };
}

function deploymentReader(
  query: ChainQuery,
): Pick<MarketReader, "depositTerms" | "deployment" | "deployments" | "group" | "prunedAt"> {
  const rpc = DeploymentQuery.method;
  return {
    async depositTerms() {
      const { params, numberBase } = await query.call(rpc.params, {});
      return {
        minDeposits: (params?.minDeposits ?? []).map(readCoin),
        startBlocks: params?.minStartBlocks ?? 0n,
        numberBase,
        limits: params?.limits ?? DEFAULT_LIMITS,
      };
    },
    async deployment(id) {
      const answer = await found(query.call(rpc.deployment, { id }));
      return answer?.deployment === undefined ? undefined : readDeployment(answer);
    },
    async prunedAt({ owner, dseq }) {
      const { pruned, height } = await query.call(rpc.pruned, { id: { owner, dseq } });
      return pruned && height > 0n ? height : undefined;
    },
    async deployments(filters) {
      const pages = await allPages((pagination) => query.call(rpc.deployments, { filters, pagination }));
      return pages.flatMap(({ deployments }) => deployments.map(readDeployment));
    },
    async group(id) {
      const answer = await found(query.call(rpc.group, { id }));
      return answer?.group === undefined ? undefined : readGroup(answer.group);
    },
  };
}

type TradeReader = Pick<
  MarketReader,
  "marketParams" | "order" | "orders" | "orderPage" | "bid" | "bids" | "lease" | "leases"
>;

function tradeReader(query: ChainQuery): TradeReader {
  const rpc = MarketQuery.method;
  return {
    async marketParams() {
      const { params } = await query.call(rpc.params, {});
      return {
        orderMaxBids: params?.orderMaxBids ?? 0,
        bidMinDeposits: (params?.bidMinDeposits ?? []).map(readCoin),
      };
    },
    async order(id) {
      const answer = await found(query.call(rpc.order, { id }));
      return answer?.order === undefined ? undefined : readOrder(answer.order);
    },
    async orders(filters) {
      const pages = await allPages((pagination) => query.call(rpc.orders, { filters, pagination }));
      return pages.flatMap(({ orders }) => orders.map(readOrder));
    },
    async orderPage(filters, key) {
      const page = { key: new Uint8Array(key), limit: PAGE_ROWS };
      const { orders, pagination } = await query.call(rpc.orders, { filters, pagination: page });
      return { orders: orders.map(readOrder), nextKey: new Uint8Array(pagination?.nextKey ?? []) };
    },
    async bid(id) {
      const answer = await found(query.call(rpc.bid, { id }));
      return answer?.bid === undefined ? undefined : readBid(answer.bid);
    },
    async bids(filters) {
      const pages = await allPages((pagination) => query.call(rpc.bids, { filters, pagination }));
      return pages.flatMap(({ bids }) => bids.map(({ bid }) => readBid(bid)));
    },
    async lease(id) {
      const answer = await found(query.call(rpc.lease, { id }));
      return answer?.lease === undefined ? undefined : readLease(answer);
    },
    async leases(filters) {
      const pages = await allPages((pagination) => query.call(rpc.leases, { filters, pagination }));
      return pages.flatMap(({ leases }) => leases.map(readLease));
    },
  };
}

function providerReader(
  query: ChainQuery,
): Pick<MarketReader, "provider" | "providers" | "audits" | "certificate" | "validCertificates"> {
  return {
    async provider(address) {
      const answer = await found(query.call(ProviderQuery.method.provider, { owner: address }));
      return answer?.provider === undefined ? undefined : readProvider(answer.provider);
    },
    async providers() {
      const pages = await allPages((pagination) => query.call(ProviderQuery.method.providers, { pagination }));
      return pages.flatMap(({ providers }) => providers.map(readProvider));
    },
    async audits(provider) {
      const rpc = AuditQuery.method.providerAttributes;
      const pages = await found(allPages((pagination) => query.call(rpc, { owner: provider, pagination })));
      return (pages ?? []).flatMap(({ providers }) => providers);
    },
    async certificate(owner, serial) {
      const answer = await found(query.call(CertQuery.method.certificates, { filter: { owner, serial } }));
      const row = answer?.certificates.find((each) => each.serial === serial)?.certificate;
      return row === undefined ? undefined : readCertificate(row);
    },
    async validCertificates(owner) {
      const filter = { owner, state: "valid" };
      const pages = await allPages((pagination) => query.call(CertQuery.method.certificates, { filter, pagination }));
      const rows = pages.flatMap(({ certificates }) => certificates);
      return rows.flatMap(({ certificate }) => (certificate === undefined ? [] : [readCertificate(certificate)]));
    },
  };
}

interface PageInit {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly limit: bigint;
}

/** All pages of a list. A page may be short or empty and still not be the last. */
async function allPages<T extends { readonly pagination?: PageResponse | undefined }>(
  ask: (pagination: PageInit) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  let key: Uint8Array<ArrayBuffer> = new Uint8Array();
  do {
    const answer = await ask({ key, limit: PAGE_ROWS });
    answers.push(answer);
    if (answers.length > MAX_PAGES) throw clientErrors.badAnswer("the node's list does not end");
    key = new Uint8Array(answer.pagination?.nextKey ?? []);
  } while (key.length > 0);
  return answers;
}
