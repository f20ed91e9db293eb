import type { ComponentType } from "preact";
import { queryFault } from "../../client/index.ts";
import { fromUtf8, toHex, tryParseInt } from "../../util/index.ts";
import { Closed_Reason, type ResourceUnits, type ResourceValue } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { Deployment_State, type Group, Group_State } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  Query as DeploymentQuery,
  type QueryDeploymentResponse,
} from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { type DeploymentKey, isAddress } from "../../wire/index.ts";
import { Continue } from "../deploy/run/continue.tsx";
import { useAsk } from "../live/ask.ts";
import { blocksPerDay, newest } from "../live/blocks/head.ts";
import { chain } from "../live/chain.ts";
import { link, type PageProps, readHeight, route } from "../live/route.ts";
import { wallet } from "../live/wallet.ts";
import { Command, Facts, Known, Section, Table } from "../parts/blocks.tsx";
import { Missing } from "../parts/fault.tsx";
import { Bids, DeploymentTable, Leases, MarketState, Orders, wordOf } from "../parts/market.tsx";
import { Address, Amount, Code, decimal, grouped, Heading, Height, None, Strange } from "../parts/text.tsx";
import { Truths } from "../parts/truths.tsx";
import { Events } from "../running/events.tsx";
import { Running } from "../running/status.tsx";
import { deploymentWords } from "../text/deployment.ts";
import { runningWords } from "../text/running.ts";

/** Deployments of any owner; `state` and `owner` of the address narrow the list. */
export function Deployments() {
  const { search } = route.value;
  const state = search.get("state") === "closed" ? "closed" : search.get("state") === "all" ? "" : "active";
  const owner = search.get("owner") ?? "";
  return (
    <>
      <Heading title={deploymentWords.list}>
        <nav class="pages" aria-label={deploymentWords.filter}>
          {FILTERS.map(([name, word]) => (
            <a
              key={name}
              href={`${link("deployments")}?state=${name}`}
              aria-current={(state || "all") === name ? "true" : undefined}
            >
              {word}
            </a>
          ))}
        </nav>
      </Heading>
      {wallet.value !== undefined && <OwnList owner={wallet.value.address} />}
      <DeploymentTable filters={{ state, owner: isAddress(owner) ? owner : "" }} />
      <Command
        words={[
          "deployment",
          "list",
          ...(state === "" ? [] : ["--state", state]),
          ...(owner === "" ? [] : ["--owner", owner]),
        ]}
      />
    </>
  );
}

/** The deployments of the connected account come first. */
function OwnList({ owner }: { owner: string }) {
  const answer = useAsk(() => import("../manage/own.tsx"), { key: "own" });
  return <Known answer={answer}>{({ OwnDeployments }) => <OwnDeployments owner={owner} />}</Known>;
}

const FILTERS = [
  ["active", deploymentWords.active],
  ["closed", deploymentWords.closedState],
  ["all", deploymentWords.all],
] as const;

export function Deployment({ words: [owner = "", number = "", view = "", ...more] }: PageProps) {
  const dseq = readHeight(number);
  if (!isAddress(owner) || dseq === undefined || more.length > 0) return <Missing />;
  const View = Object.hasOwn(VIEWS, view) ? VIEWS[view] : undefined;
  if (View === undefined) return <Missing />;
  return (
    <>
      <Heading title={deploymentWords.title(String(dseq))}>
        <nav class="pages" aria-label={runningWords.views}>
          {VIEW_NAMES.map(([name, word]) => (
            <a
              key={name}
              href={name === "" ? link("deployment", owner, dseq) : link("deployment", owner, dseq, name)}
              aria-current={name === view ? "page" : undefined}
            >
              {word}
            </a>
          ))}
        </nav>
      </Heading>
      <View id={{ owner, dseq }} />
    </>
  );
}

type View = ComponentType<{ id: DeploymentKey }>;

const VIEWS: Readonly<Record<string, View>> = {
  "": OneDeployment,
  logs: ({ id }) => <Later load={async () => (await import("../running/logs.tsx")).Logs} id={id} />,
  events: Events,
  shell: ({ id }) => <Later load={async () => (await import("../running/shell.tsx")).Shell} id={id} />,
};

/** A view that is loaded when it is opened. */
function Later({ load, id }: { load: () => Promise<View>; id: DeploymentKey }) {
  const answer = useAsk(load, { key: "view" });
  return <Known answer={answer}>{(Found) => <Found id={id} />}</Known>;
}

const VIEW_NAMES = [
  ["", runningWords.overview],
  ["logs", runningWords.logs],
  ["events", runningWords.events],
  ["shell", runningWords.shell],
] as const;

/** The record; or the height before which it was closed, if the chain no longer keeps it. */
async function load(id: { owner: string; dseq: bigint }): Promise<QueryDeploymentResponse | bigint> {
  try {
    return await chain.query.call(DeploymentQuery.method.deployment, { id });
  } catch (error) {
    if (queryFault(error) !== "NotFound") throw error;
    const { pruned, height } = await chain.query.call(DeploymentQuery.method.pruned, { id });
    if (!pruned) throw error;
    return height;
  }
}

function OneDeployment({ id: { owner, dseq } }: { id: DeploymentKey }) {
  const answer = useAsk(() => load({ owner, dseq }), { key: `${owner}/${dseq}`, isLive: true });
  const filters = { owner, dseq };
  return (
    <>
      <Known answer={answer}>
        {(found) =>
          typeof found === "bigint" ? <p class="none">{deploymentWords.pruned(found)}</p> : <Found record={found} />
        }
      </Known>
      <Truths owner={owner} dseq={dseq} />
      <Running id={{ owner, dseq }} />
      {wallet.value?.address === owner && <Own owner={owner} dseq={dseq} />}
      <Section title={deploymentWords.leases}>
        <Leases filters={filters} />
      </Section>
      <Section title={deploymentWords.bids}>
        <Bids filters={filters} />
      </Section>
      <Section title={deploymentWords.orders}>
        <Orders filters={filters} />
      </Section>
      <Command words={["deployment", "get", "--owner", owner, "--dseq", dseq]} />
    </>
  );
}

/** The parts that change and end a deployment are loaded for its owner. */
function Own(id: DeploymentKey) {
  const answer = useAsk(() => import("../manage/manage.tsx"), { key: "manage" });
  return <Known answer={answer}>{({ Manage }) => <Manage {...id} />}</Known>;
}

function Found({ record: { deployment, groups, escrowAccount } }: { record: QueryDeploymentResponse }) {
  if (deployment === undefined) return <None />;
  const isClosed = deployment.closedOn > 0n;
  return (
    <>
      <Facts
        rows={[
          [deploymentWords.owner, <Address key="owner" text={deployment.deploymentId?.owner ?? ""} />],
          [deploymentWords.state, <MarketState key="state" names={Deployment_State} value={deployment.state} />],
          [deploymentWords.reason, isClosed ? wordOf(Closed_Reason, deployment.closeReason) : undefined],
          [deploymentWords.created, <Height key="created" height={deployment.createdAt} />],
          [deploymentWords.closed, isClosed ? <Height key="closed" height={deployment.closedOn} /> : undefined],
          [deploymentWords.balance, <Amount key="balance" coin={escrowAccount?.balance} />],
          [deploymentWords.transferred, <Amount key="paid" coin={escrowAccount?.transferred} />],
          [
            deploymentWords.exhausted,
            escrowAccount?.exhaustsAt ? <Lasts key="lasts" until={escrowAccount.exhaustsAt} /> : undefined,
          ],
          [deploymentWords.version, <Code key="hash" text={toHex(deployment.version)} />],
        ]}
      />
      {deployment.deploymentId !== undefined && !isClosed && (
        <Continue {...deployment.deploymentId} version={deployment.version} />
      )}
      <Section title={deploymentWords.groups}>
        <Groups groups={groups} />
      </Section>
    </>
  );
}

/** A height to come, and the days until then at the pace of the last hundred blocks. */
function Lasts({ until }: { until: bigint }) {
  const days = Number(until - (newest.value?.height ?? until)) / (blocksPerDay.value ?? Number.POSITIVE_INFINITY);
  return (
    <>
      {grouped(until)} {days > 0 && <small>{deploymentWords.days(days.toFixed(1))}</small>}
    </>
  );
}

function Groups({ groups }: { groups: readonly Group[] }) {
  return (
    <Table
      name={deploymentWords.groups}
      columns={[deploymentWords.group, deploymentWords.state, deploymentWords.resources]}
      rows={groups}
      keyOf={({ groupId }) => String(groupId?.gseq)}
      cells={({ groupId, groupSpec, state }) => [
        <Strange key="name" text={`${groupId?.gseq ?? "?"} ${groupSpec?.name ?? ""}`} isName max={120} />,
        <MarketState key="state" names={Group_State} value={state} />,
        <span key="resources" class="stack">
          {(groupSpec?.resources ?? []).slice(0, 20).map(({ count, resources }, i) => (
            <span key={i}>{resourceText(count, resources)}</span>
          ))}
        </span>,
      ]}
    />
  );
}

const MIB = 1024n * 1024n;

/** Quantities are decimal digits in bytes. */
function quantity(value: ResourceValue | undefined): bigint {
  return value === undefined ? 0n : (tryParseInt(fromUtf8(value.val)) ?? 0n);
}

function resourceText(count: number, units: ResourceUnits | undefined): string {
  const cpu = decimal(quantity(units?.cpu?.units), 3);
  const memory = `${quantity(units?.memory?.quantity) / MIB} MiB`;
  return deploymentWords.resource(count, cpu, memory, String(quantity(units?.gpu?.units)));
}
