import { useComputed } from "@preact/signals";
import { blockSeconds } from "../../client/index.ts";
import { priceOverTime } from "../../sdl/index.ts";
import { useAsk } from "../live/ask.ts";
import { newest } from "../live/blocks/head.ts";
import { chain } from "../live/chain.ts";
import { link } from "../live/route.ts";
import { Command, Known, Section, Table } from "../parts/blocks.tsx";
import { DeploymentLink } from "../parts/market.tsx";
import { Per } from "../parts/price.tsx";
import { Amount, None, State, Strange } from "../parts/text.tsx";
import { deploymentWords } from "../text/deployment.ts";
import { manage } from "../text/manage.ts";
import { type Funds, type Held, lastBlock, leftAt, loadOwn, rateOf } from "./funds.ts";
import { End } from "./top-up.tsx";

const WORDS = manage;

type Row = Omit<Held, "depositors">;

/** The active deployments of an account: state, cost, and until when their money lasts. */
export function OwnDeployments({ owner }: { owner: string }) {
  const answer = useAsk(
    async () => {
      const [rows, seconds] = await Promise.all([loadOwn(chain, owner), blockSeconds(chain)]);
      return { rows, seconds };
    },
    { key: owner, isLive: true },
  );
  return (
    <>
      <Section title={WORDS.own}>
        <Known answer={answer}>
          {({ rows, seconds }) =>
            rows.length === 0 ? <NoneYet /> : <Rows owner={owner} rows={rows} seconds={seconds} />
          }
        </Known>
        <p>
          <a href={`${link("deployments")}?state=all&owner=${owner}`}>{WORDS.everyOne}</a>
        </p>
        <Command program="svc deploy" words={["ps", "--from", owner]} />
      </Section>
      <h2 class="next">{WORDS.others}</h2>
    </>
  );
}

function NoneYet() {
  return (
    <p class="none">
      {WORDS.noneOwn} <a href={link("deploy")}>{WORDS.makeOne}</a>
    </p>
  );
}

function Rows({ owner, rows, seconds }: { owner: string; rows: readonly Row[]; seconds: number }) {
  return (
    <Table
      name={WORDS.own}
      columns={[
        { head: deploymentWords.id, isNumber: true },
        deploymentWords.groups,
        WORDS.state,
        { head: WORDS.costDay, isNumber: true },
        { head: WORDS.costMonth, isNumber: true },
        { head: WORDS.now, isNumber: true },
        WORDS.lasts,
      ]}
      rows={rows}
      keyOf={({ deployment }) => String(deployment.dseq)}
      cells={(row) => [
        <DeploymentLink key="id" id={{ owner, dseq: row.deployment.dseq }} />,
        <Strange key="groups" text={row.deployment.groups.map(({ spec }) => spec.name).join(", ")} isName max={120} />,
        <Groups key="state" row={row} />,
        ...costs(row.funds, seconds),
        <Now key="now" funds={row.funds} />,
        <Until key="until" funds={row.funds} seconds={seconds} />,
      ]}
    />
  );
}

/** The state of each group. A group that is open without a lease waits for a bid. */
function Groups({ row: { deployment, leases } }: { row: Row }) {
  return (
    <span class="stack">
      {deployment.groups.map(({ gseq, state }) => {
        const isLeased = leases.some(({ id }) => id.gseq === gseq);
        const word = state !== "open" ? state.replaceAll("_", " ") : isLeased ? WORDS.leased : WORDS.waiting;
        return <State key={gseq} word={word} kind={isLeased ? "good" : state === "open" ? "calm" : "bad"} />;
      })}
    </span>
  );
}

function costs(funds: Funds, seconds: number) {
  const amount = rateOf(funds);
  if (amount === 0n) return [<None key="day" />, <None key="month" />];
  const price = priceOverTime({ denom: funds.denom, amount }, seconds);
  return [<Per key="day" price={price} span="perDay" />, <Per key="month" price={price} span="perMonth" />];
}

/** The money at the newest block, counted on from the answer. */
function Now({ funds }: { funds: Funds }) {
  const left = useComputed(() => {
    const height = newest.value?.height ?? funds.height;
    const now = leftAt(funds, height > funds.height ? height : funds.height);
    return now > 0n ? now : 0n;
  });
  return <Amount coin={{ denom: funds.denom, amount: left.value }} />;
}

function Until({ funds, seconds }: { funds: Funds; seconds: number }) {
  const block = lastBlock(funds);
  return block === undefined ? <None /> : <End block={block} seconds={seconds} />;
}
