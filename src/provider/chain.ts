import {
  type BidRecord,
  type CertificateRecord,
  type ChainQuery,
  type DeploymentRecord,
  found,
  type GroupRecord,
  type LeaseRecord,
  type MarketParams,
  marketReader,
  type OrderRecord,
  type PaymentRecord,
  type ProviderRecord,
} from "../client/index.ts";
import type { Dec } from "../util/index.ts";
import { Query as AuthQuery, BaseAccountSchema } from "../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import type { AuditedAttributes } from "../wire/gen/svc/audit/v1beta1/audit_pb.js";
import {
  type DeploymentKey,
  type GroupKey,
  type LeaseKey,
  type OrderKey,
  type PublicKey,
  publicKeyFromAny,
  unpackAs,
} from "../wire/index.ts";
import { type OpenOrders, openOrderList } from "./open-orders.ts";

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
  lease(id: LeaseKey): Promise<LeaseRecord | undefined>;
  activeLeases(filter: LeaseFilter): Promise<readonly LeaseRecord[]>;
  deployment(id: DeploymentKey): Promise<DeploymentRecord | undefined>;
  /** The height at which the chain said that it has pruned a closed deployment: the only proof of that. */
  prunedAt(id: DeploymentKey): Promise<bigint | undefined>;
  group(id: GroupKey): Promise<GroupRecord | undefined>;
  payment(id: LeaseKey): Promise<PaymentRecord | undefined>;
  certificate(owner: string, serial: string): Promise<CertificateRecord | undefined>;
  /** The key of an account; also undefined if the account has not signed anything yet. */
  publicKey(address: string): Promise<PublicKey | undefined>;
  provider(address: string): Promise<ProviderRecord | undefined>;
  auditedAttributes(provider: string): Promise<readonly AuditedAttributes[]>;
  openOrders(): Promise<OpenOrders>;
  order(id: OrderKey): Promise<OrderRecord | undefined>;
  bid(id: LeaseKey): Promise<BidRecord | undefined>;
  openBids(provider: string): Promise<readonly BidRecord[]>;
  /** Prices of the open bids on the order. */
  openBidPrices(id: OrderKey): Promise<readonly Dec[]>;
  marketParams(): Promise<MarketParams>;
}

/** The view over a query client; records that money and workloads depend on come through proven queries, if there are any. */
export function chainView(client: ChainQuery, proven: ChainQuery = client): ChainView {
  const { leases, provider, audits, order, bid, bids, marketParams, prunedAt, orderPage } = marketReader(client);
  const { lease, deployment, group, certificate } = marketReader(proven);
  return {
    lease,
    deployment,
    prunedAt,
    group,
    certificate,
    provider,
    order,
    bid,
    marketParams,
    auditedAttributes: audits,
    activeLeases: (filter) => leases({ ...filter, state: "active" }),
    payment: async (id) => (await lease(id))?.payment,
    openOrders: openOrderList((key) => orderPage({ state: "open" }, key)),
    openBids: (address) => bids({ provider: address, state: "open" }),
    openBidPrices: async ({ owner, dseq, gseq, oseq }) =>
      (await bids({ owner, dseq, gseq, oseq, state: "open" })).map(({ price }) => price.amount),
    async publicKey(address) {
      const answer = await found(proven.call(AuthQuery.method.account, { address }));
      const key = answer?.account && unpackAs(BaseAccountSchema, answer.account)?.pubKey;
      return key === undefined ? undefined : publicKeyFromAny(key);
    },
  };
}
