import { tryParseInt } from "../../util/index.ts";
import type { DecCoin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { Deployment_State } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query as DeploymentQuery } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { Bid_State, Lease_State, type LeaseID, Order_State } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { useAsk } from "../live/ask.ts";
import { blocksPerDay } from "../live/blocks/head.ts";
import { chain } from "../live/chain.ts";
import { link } from "../live/route.ts";
import { deploymentWords } from "../text/deployment.ts";
import { t } from "../text/index.ts";
import { Known, Pages, pageKey, Table } from "./blocks.tsx";
import { Address, Amount, decimal, Height, None, State } from "./text.tsx";

/** Rows of a list of the market that a page shows; further ones have the command. */
const ROWS = 50n;
/** Deployments of one page of their list. */
const DEPLOYMENTS = 50n;
/** Prices have 18 decimal places. */
const PLACES = 18;

/** Which records of the market are wanted. */
export interface MarketFilters {
  readonly owner?: string;
  readonly provider?: string;
  readonly dseq?: bigint;
  readonly state?: string;
}

/** The word of a state, from the names of the proto file; the number where a newer chain has more states. */
export function wordOf(names: Readonly<Record<number, string>>, value: number): string {
  return (names[value] ?? String(value)).replaceAll("_", " ");
}

/** A state as a coloured word. */
export function MarketState({ names, value }: { names: Readonly<Record<number, string>>; value: number }) {
  const word = wordOf(names, value);
  return <State word={word} kind={word === "active" ? "good" : word === "insufficient funds" ? "bad" : "calm"} />;
}

const keyOf = (filters: MarketFilters): string => Object.values(filters).join("/");

export function DeploymentLink({ id }: { id: { readonly owner: string; readonly dseq: bigint } | undefined }) {
  if (id === undefined) return <None />;
  return (
    <a class="number" href={link("deployment", id.owner, id.dseq)}>
      {String(id.dseq)}
    </a>
  );
}

function OrderName({ id }: { id: Pick<LeaseID, "owner" | "dseq" | "gseq" | "oseq"> | undefined }) {
  if (id === undefined) return <None />;
  return (
    <a class="number" href={link("deployment", id.owner, id.dseq)}>
      {`${id.dseq}/${id.gseq}/${id.oseq}`}
    </a>
  );
}

/** A price per block as what it comes to in a day at the pace of the last hundred blocks; the exact price appears on hover. */
function Price({ coin }: { coin: DecCoin | undefined }) {
  const amount = tryParseInt(coin?.amount ?? "");
  const blocks = blocksPerDay.value;
  if (coin === undefined || amount === undefined || blocks === undefined) {
    return <Amount coin={coin} scale={PLACES} />;
  }
  return (
    <span title={t.value.perBlock(`${decimal(amount, PLACES)} ${coin.denom}`)}>
      ≈ <Amount coin={{ denom: coin.denom, amount: (amount * BigInt(blocks)) / 10n ** BigInt(PLACES) }} />{" "}
      <small>{deploymentWords.perDay}</small>
    </span>
  );
}

export function DeploymentTable({ filters }: { filters: { readonly state: string; readonly owner: string } }) {
  const key = pageKey();
  const answer = useAsk(
    () => chain.query.call(DeploymentQuery.method.deployments, { filters, pagination: { key, limit: DEPLOYMENTS } }),
    { key: `${filters.state}/${filters.owner}/${key}`, isLive: true },
  );
  return (
    <Known answer={answer}>
      {({ deployments, pagination }) => (
        <>
          <Table
            name={deploymentWords.list}
            columns={[
              { head: deploymentWords.id, isNumber: true },
              deploymentWords.owner,
              deploymentWords.state,
              { head: deploymentWords.groups, isNumber: true },
              { head: deploymentWords.balance, isNumber: true },
              deploymentWords.created,
            ]}
            rows={deployments}
            keyOf={({ deployment }) => `${deployment?.deploymentId?.owner}/${deployment?.deploymentId?.dseq}`}
            cells={({ deployment, groups, escrowAccount }) => [
              <DeploymentLink key="id" id={deployment?.deploymentId} />,
              <Address key="owner" text={deployment?.deploymentId?.owner ?? ""} />,
              <span key="state" class="stack">
                <MarketState names={Deployment_State} value={deployment?.state ?? 0} />
                {deployment !== undefined && deployment.closedOn > 0n && (
                  <small>{wordOf(Closed_Reason, deployment.closeReason)}</small>
                )}
              </span>,
              String(groups.length),
              <Amount key="funds" coin={escrowAccount?.balance} />,
              <Height key="created" height={deployment?.createdAt ?? 0n} />,
            ]}
          />
          <Pages next={pagination?.nextKey} />
        </>
      )}
    </Known>
  );
}

export function Leases({ filters }: { filters: MarketFilters }) {
  const pagination = { limit: ROWS, reverse: true };
  const answer = useAsk(() => chain.query.call(MarketQuery.method.leases, { filters, pagination }), {
    key: keyOf(filters),
    isLive: true,
  });
  return (
    <Known answer={answer}>
      {({ leases }) => (
        <Table
          name={deploymentWords.leases}
          columns={[
            deploymentWords.order,
            deploymentWords.owner,
            deploymentWords.provider,
            deploymentWords.state,
            { head: deploymentWords.price, isNumber: true },
            deploymentWords.created,
          ]}
          rows={leases.flatMap(({ lease }) => (lease === undefined ? [] : [lease]))}
          keyOf={({ leaseId: id }) => `${id?.owner}${id?.dseq}/${id?.gseq}/${id?.oseq}${id?.provider}`}
          cells={(lease) => [
            <OrderName key="order" id={lease.leaseId} />,
            <Address key="owner" text={lease.leaseId?.owner ?? ""} />,
            <Address key="provider" text={lease.leaseId?.provider ?? ""} />,
            <MarketState key="state" names={Lease_State} value={lease.state} />,
            <Price key="price" coin={lease.price} />,
            <Height key="created" height={lease.createdAt} />,
          ]}
        />
      )}
    </Known>
  );
}

export function Bids({ filters }: { filters: MarketFilters }) {
  const pagination = { limit: ROWS, reverse: true };
  const answer = useAsk(() => chain.query.call(MarketQuery.method.bids, { filters, pagination }), {
    key: keyOf(filters),
    isLive: true,
  });
  return (
    <Known answer={answer}>
      {({ bids }) => (
        <Table
          name={deploymentWords.bids}
          columns={[
            deploymentWords.order,
            deploymentWords.provider,
            deploymentWords.state,
            { head: deploymentWords.price, isNumber: true },
            deploymentWords.created,
          ]}
          rows={bids.flatMap(({ bid }) => (bid === undefined ? [] : [bid]))}
          keyOf={({ bidId: id }) => `${id?.owner}${id?.dseq}/${id?.gseq}/${id?.oseq}${id?.provider}`}
          cells={(bid) => [
            <OrderName key="order" id={bid.bidId} />,
            <Address key="provider" text={bid.bidId?.provider ?? ""} />,
            <MarketState key="state" names={Bid_State} value={bid.state} />,
            <Price key="price" coin={bid.price} />,
            <Height key="created" height={bid.createdAt} />,
          ]}
        />
      )}
    </Known>
  );
}

export function Orders({ filters }: { filters: MarketFilters }) {
  const pagination = { limit: ROWS, reverse: true };
  const answer = useAsk(() => chain.query.call(MarketQuery.method.orders, { filters, pagination }), {
    key: keyOf(filters),
    isLive: true,
  });
  return (
    <Known answer={answer}>
      {({ orders }) => (
        <Table
          name={deploymentWords.orders}
          columns={[deploymentWords.order, deploymentWords.state, deploymentWords.created]}
          rows={orders}
          keyOf={({ orderId: id }) => `${id?.owner}${id?.dseq}/${id?.gseq}/${id?.oseq}`}
          cells={(order) => [
            <OrderName key="order" id={order.orderId} />,
            <MarketState key="state" names={Order_State} value={order.state} />,
            <Height key="created" height={order.createdAt} />,
          ]}
        />
      )}
    </Known>
  );
}
