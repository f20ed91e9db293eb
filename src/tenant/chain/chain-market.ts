import { type QueryClient, queryFault } from "../../client/index.ts";
import { DEFAULT_LIMITS } from "../../sdl/index.ts";
import { isOneOf } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import type { PageResponse } from "../../wire/gen/sdk/base/query/v1beta1/pagination_pb.js";
import { Query as AuditQuery } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { Query as DeploymentQuery } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { type Provider, Query as ProviderQuery } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { NOT_FOUND_ERRORS } from "../../wire/index.ts";
import type { Market, ProviderRecord } from "../session/market.ts";
import { readBid, readCoin, readDeployment, readLease, readOrder } from "./records.ts";

/** The parts of a market that are not queries: time and transactions. */
export type MarketEnds = Pick<Market, "owner" | "chainId" | "height" | "nextBlock" | "blockSeconds" | "fee" | "send">;

const PAGE_ROWS = 500n;
const MAX_PAGES = 1000;

/** The marketplace of a chain, through its queries. */
export function chainMarket(query: Pick<QueryClient, "call">, ends: MarketEnds): Market {
  const { owner } = ends;
  const market = MarketQuery.method;
  return {
    ...ends,
    async terms() {
      const { params } = await query.call(DeploymentQuery.method.params, {});
      return {
        minDeposits: (params?.minDeposits ?? []).map(readCoin),
        startBlocks: params?.minStartBlocks ?? 0n,
        limits: params?.limits ?? DEFAULT_LIMITS,
      };
    },
    async balance(denom) {
      return readCoin((await query.call(BankQuery.method.balance, { address: owner, denom })).balance).amount;
    },
    async deployment(dseq) {
      const answer = await found(query.call(DeploymentQuery.method.deployment, { id: { owner, dseq } }));
      return answer === undefined ? undefined : readDeployment(answer);
    },
    async deployments(state) {
      const pages = await allPages((pagination) =>
        query.call(DeploymentQuery.method.deployments, { filters: { owner, state }, pagination }),
      );
      return pages.flatMap(({ deployments }) => deployments).flatMap((each) => readDeployment(each) ?? []);
    },
    async openOrders(dseq) {
      const filters = { owner, dseq, state: "open" };
      const pages = await allPages((pagination) => query.call(market.orders, { filters, pagination }));
      return pages.flatMap(({ orders }) => orders).flatMap(readOrder);
    },
    async openBids(dseq) {
      const filters = { owner, dseq, state: "open" };
      const pages = await allPages((pagination) => query.call(market.bids, { filters, pagination }));
      return pages.flatMap(({ bids }) => bids).flatMap(({ bid }) => readBid(bid));
    },
    async leases(dseq) {
      const filters = { owner, dseq };
      const pages = await allPages((pagination) => query.call(market.leases, { filters, pagination }));
      return pages.flatMap(({ leases }) => leases).flatMap(readLease);
    },
    async providers() {
      const pages = await allPages((pagination) => query.call(ProviderQuery.method.providers, { pagination }));
      return pages.flatMap(({ providers }) => providers).map(readProvider);
    },
    async provider(address) {
      const answer = await found(query.call(ProviderQuery.method.provider, { owner: address }));
      return answer?.provider === undefined ? undefined : readProvider(answer.provider);
    },
    async auditors(provider) {
      const method = AuditQuery.method.providerAttributes;
      const pages = await found(allPages((pagination) => query.call(method, { owner: provider, pagination })));
      return (pages ?? []).flatMap(({ providers }) => providers.map(({ auditor }) => auditor));
    },
  };
}

function readProvider({ owner, hostUri, attributes }: Provider): ProviderRecord {
  return { address: owner, hostUri, attributes };
}

async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isOneOf(NOT_FOUND_ERRORS, error) || queryFault(error) === "NotFound") return undefined;
    throw error;
  }
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
    if (answers.length > MAX_PAGES) throw new Error("the node answers with pages without end");
    key = new Uint8Array(answer.pagination?.nextKey ?? []);
  } while (key.length > 0);
  return answers;
}
