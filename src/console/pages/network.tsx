import { useSignal } from "@preact/signals";
import * as v from "valibot";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as DistributionQuery } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as MintQuery } from "../../wire/gen/sdk/mint/v1beta1/query_pb.js";
import { Query as UpgradeQuery } from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { useAsk } from "../live/ask.ts";
import { chain, jsonOf, session } from "../live/chain.ts";
import { Command, Facts, Known, Section } from "../parts/blocks.tsx";
import { Json } from "../parts/json.tsx";
import { Amounts, Code, grouped, Heading, Height, percent, State, Strange } from "../parts/text.tsx";
import { t } from "../text/index.ts";
import { network } from "../text/staking.ts";

export function Network() {
  return (
    <>
      <Heading title={network.title} />
      <Node />
      <Money />
      <Section title={network.plan}>
        <Plan />
      </Section>
      <Section title={network.params}>
        <Modules />
      </Section>
      {session.value?.mode !== "console" && (
        <Section title={network.info}>
          <ChainInfo />
        </Section>
      )}
      <Command words={["upgrade", "plan"]} />
    </>
  );
}

const netInfo = v.object({ n_peers: v.pipe(v.union([v.string(), v.number()]), v.transform(String)) });

function Node() {
  const answer = useAsk(
    async () => {
      const [status, genesis] = await Promise.all([chain.node.status(), chain.node.genesisHash()]);
      return { ...status, genesis };
    },
    { key: "status" },
  );
  const peers = useAsk(async () => v.parse(netInfo, await chain.rpc.call("net_info")), { key: "peers" });
  return (
    <Known answer={answer}>
      {(status) => (
        <Facts
          rows={[
            [network.chain, <Strange key="chain" text={status.chainId} isName />],
            [network.node, <Strange key="node" text={status.moniker} isName max={200} />],
            [network.version, <Strange key="version" text={status.version} isName max={60} />],
            [network.earliest, <Height key="earliest" height={status.earliestHeight} />],
            [network.genesis, <Code key="genesis" text={status.genesis} />],
            [
              network.syncing,
              <State
                key="sync"
                word={status.catchingUp ? t.state.yes : t.state.no}
                kind={status.catchingUp ? "bad" : "good"}
              />,
            ],
            [
              network.peers,
              <Known key="peers" answer={peers}>
                {({ n_peers: count }) => grouped(count)}
              </Known>,
            ],
          ]}
        />
      )}
    </Known>
  );
}

/** Rewards and the pool have 18 decimal places. */
const PLACES = 18;

function Money() {
  const supply = useAsk(() => chain.query.call(BankQuery.method.totalSupply, {}), { key: "supply", isLive: true });
  const pool = useAsk(() => chain.query.call(DistributionQuery.method.communityPool, {}), {
    key: "pool",
    isLive: true,
  });
  const inflation = useAsk(() => chain.query.call(MintQuery.method.inflation, {}), { key: "inflation" });
  return (
    <Facts
      rows={[
        [
          network.supply,
          <Known key="supply" answer={supply}>
            {({ supply: coins }) => <Amounts coins={coins} />}
          </Known>,
        ],
        [
          network.pool,
          <Known key="pool" answer={pool}>
            {({ pool: coins }) => <Amounts coins={coins} scale={PLACES} />}
          </Known>,
        ],
        [
          network.inflation,
          <Known key="inflation" answer={inflation}>
            {({ inflation: share }) => percent(typeof share === "string" ? share : new TextDecoder().decode(share))}
          </Known>,
        ],
      ]}
    />
  );
}

function Plan() {
  const answer = useAsk(() => chain.query.call(UpgradeQuery.method.currentPlan, {}), { key: "plan", isLive: true });
  return (
    <Known answer={answer}>
      {({ plan }) =>
        plan === undefined ? (
          <p class="none">{network.noPlan}</p>
        ) : (
          <p>
            <Strange text={plan.name} isName max={200} />, {t.value.height(plan.height)}
            <br />
            <Strange text={plan.info} max={1000} />
          </p>
        )
      }
    </Known>
  );
}

/** Parameters by module; each is asked for when it is opened. */
function Modules() {
  const answer = useAsk(async () => (await import("../live/messages.ts")).modulesWithParams(), { key: "modules" });
  return (
    <Known answer={answer}>
      {(modules) => modules.map(([name, place]) => <Params key={name} name={name} place={place} />)}
    </Known>
  );
}

function Params({ name, place }: { name: string; place: string }) {
  const isOpen = useSignal(false);
  return (
    <details
      onToggle={() => {
        isOpen.value = true;
      }}
    >
      <summary>{name}</summary>
      {isOpen.value && <OpenParams place={place} />}
    </details>
  );
}

function OpenParams({ place }: { place: string }) {
  const answer = useAsk(async () => (await import("../live/messages.ts")).paramsOf(place), { key: place });
  return <Known answer={answer}>{(params) => <Json value={params} />}</Known>;
}

/** For wallets, which `svc console` does not let in: they have no cookie of it. */
function ChainInfo() {
  const answer = useAsk(async () => JSON.stringify(await jsonOf("chain.json"), undefined, 2), { key: "info" });
  return (
    <details>
      <summary>chain.json</summary>
      <Known answer={answer}>
        {(text) => (
          <pre class="raw">
            <Strange text={text} />
          </pre>
        )}
      </Known>
    </details>
  );
}
