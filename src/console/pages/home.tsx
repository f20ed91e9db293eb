import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { NATIVE_DENOM } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as StakingQuery } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { Query as DeploymentQuery } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { Query as ProviderQuery } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { useAsk } from "../live/ask.ts";
import { KINDS } from "../live/blocks/changes.ts";
import { MAX_TXS } from "../live/blocks/digest.ts";
import { blocks, newest, paceMs, txs } from "../live/blocks/head.ts";
import { chain } from "../live/chain.ts";
import { link } from "../live/route.ts";
import { Command, Known, Section } from "../parts/blocks.tsx";
import { BlockList, TxList } from "../parts/lists.tsx";
import { Amount, Amounts, grouped, Heading, Time } from "../parts/text.tsx";
import { t } from "../text/index.ts";

/** Asks for one row and the number of all. */
const COUNT = { limit: 1n, countTotal: true };

const height = computed(() => (newest.value === undefined ? "–" : grouped(newest.value.height)));

const pace = computed(() => {
  const seconds = (paceMs.value ?? 0) / 1000;
  return seconds === 0 ? "–" : t.home.seconds(seconds.toFixed(seconds < 10 ? 2 : 0));
});

const newestBlocks = computed(() => blocks.value.slice(0, MAX_TXS));

export function Home() {
  return (
    <>
      <Heading title={t.home.title} />
      <div class="cards">
        <Card name={t.home.height} to={link("blocks")}>
          {height}
        </Card>
        <Card name={t.home.time}>
          <NewestTime />
        </Card>
        <Card name={t.home.pace}>{pace}</Card>
        <Facts />
      </div>
      <div class="columns">
        <Section title={t.home.blocks}>
          <BlockList rows={newestBlocks} />
        </Section>
        <Section title={t.home.txs}>
          <TxList rows={txs} />
          <NoTxs />
        </Section>
      </div>
      <Command words={["blocks"]} />
    </>
  );
}

function NewestTime() {
  return <Time time={newest.value?.time} />;
}

function NoTxs() {
  return newest.value !== undefined && txs.value.length === 0 ? <p class="none">{t.home.noTxs}</p> : null;
}

/** Counts and sums of the chain, each asked for by itself: one that is not known hides no other. */
function Facts() {
  const query = chain.query;
  const market = { filters: { state: "active" }, pagination: COUNT };
  return (
    <>
      <Count
        name={t.home.leases}
        changedBy={KINDS.market}
        to={link("providers")}
        ask={async () => (await query.call(MarketQuery.method.leases, market)).pagination?.total}
      />
      <Count
        name={t.home.deployments}
        changedBy={KINDS.deployments}
        to={link("deployments")}
        ask={async () => (await query.call(DeploymentQuery.method.deployments, market)).pagination?.total}
      />
      <Count
        name={t.home.providers}
        changedBy={KINDS.providers}
        to={link("providers")}
        ask={async () => (await query.call(ProviderQuery.method.providers, { pagination: COUNT })).pagination?.total}
      />
      <Count
        name={t.home.validators}
        changedBy={KINDS.staking}
        to={link("validators")}
        ask={async () =>
          (await query.call(StakingQuery.method.validators, { status: "BOND_STATUS_BONDED", pagination: COUNT }))
            .pagination?.total
        }
      />
      <Supply />
      <Bonded />
    </>
  );
}

function Card({ name, to, children }: { name: string; to?: string; children: ComponentChildren }) {
  return (
    <div class="card">
      <h2>{to === undefined ? name : <a href={to}>{name}</a>}</h2>
      <div class="value">{children}</div>
    </div>
  );
}

interface CountProps {
  readonly name: string;
  readonly to: string;
  readonly changedBy: readonly string[];
  readonly ask: () => Promise<bigint | undefined>;
}

function Count({ name, to, changedBy, ask }: CountProps) {
  const answer = useAsk(ask, { key: name, changedBy });
  return (
    <Card name={name} to={to}>
      <Known answer={answer}>{(total) => (total === undefined ? t.fault.unknown : grouped(total))}</Known>
    </Card>
  );
}

/** Each block mints a little. */
const SUPPLY_MS = 10_000;

function Supply() {
  const answer = useAsk(() => chain.query.call(BankQuery.method.totalSupply, {}), {
    key: "supply",
    changedBy: KINDS.supply,
    leastMs: SUPPLY_MS,
  });
  return (
    <Card name={t.home.supply} to={link("network")}>
      <Known answer={answer}>{({ supply }) => <Amounts coins={supply} />}</Known>
    </Card>
  );
}

function Bonded() {
  const answer = useAsk(() => chain.query.call(StakingQuery.method.pool, {}), {
    key: "pool",
    changedBy: KINDS.staking,
  });
  return (
    <Card name={t.home.bonded} to={link("validators")}>
      <Known answer={answer}>
        {({ pool }) => (
          <Amount coin={pool === undefined ? undefined : { denom: NATIVE_DENOM, amount: pool.bondedTokens }} />
        )}
      </Known>
    </Card>
  );
}
