import { type ReadonlySignal, useComputed } from "@preact/signals";
import { errorText } from "../../util/index.ts";
import { session } from "../live/chain.ts";
import { Command, Facts as FactList, Section, Table } from "../parts/blocks.tsx";
import { Address, Heading, State, Strange, Time } from "../parts/text.tsx";
import { t } from "../text/index.ts";
import { operator } from "../text/operator.ts";
import { type Told, useFacts, useRows } from "./facts.ts";
import { Capacity, Income, Leases } from "./leases.tsx";
import { Orders, Own } from "./orders.tsx";
import { Prices } from "./prices.tsx";

/** The provider on the machine of `svc console --provider`, for its operator. */
export function Operator() {
  const { value } = session;
  return (
    <>
      <Heading title={operator.title} />
      {value === undefined ? <Waiting /> : value.provider === undefined ? <Closed /> : <Followed />}
    </>
  );
}

function Waiting() {
  return <p class="waiting">{t.state.loading} …</p>;
}

function Closed() {
  return (
    <>
      <p>{operator.closed}</p>
      <p>{operator.open}</p>
      <Command program="svc console --provider HOME" words={[]} />
    </>
  );
}

function Followed() {
  const told = useFacts();
  const state = useComputed(() => {
    const { facts, error } = told.value;
    if (error !== undefined) return "down";
    return facts === undefined ? "waiting" : "known";
  });
  if (state.value === "waiting") return <Waiting />;
  return state.value === "down" ? <Down told={told} /> : <Known told={told} />;
}

/** No facts are shown while there are none of now. */
function Down({ told }: { told: ReadonlySignal<Told> }) {
  return (
    <div class="fault" role="status">
      <p>{operator.down}</p>
      <p>
        <Strange text={errorText(told.value.error)} max={1000} />
      </p>
      <p>{operator.back}</p>
    </div>
  );
}

function Known({ told }: { told: ReadonlySignal<Told> }) {
  return (
    <>
      <Head told={told} />
      <Section title={operator.orders}>
        <Orders told={told} />
      </Section>
      <Section title={operator.capacity}>
        <Capacity told={told} />
      </Section>
      <Section title={operator.income}>
        <Income told={told} />
      </Section>
      <Section title={operator.leases}>
        <Leases told={told} />
      </Section>
      <Section title={operator.prices}>
        <Prices told={told} />
      </Section>
      <Section title={operator.checks}>
        <Checks told={told} />
      </Section>
    </>
  );
}

function Head({ told }: { told: ReadonlySignal<Told> }) {
  const rows = useRows(
    told,
    ({ provider, started_at: since, draining, obstacles, probe, ports_left: ports, checks }) => [
      {
        provider,
        since,
        draining,
        obstacles,
        probe,
        ports,
        failed: checks?.filter(({ state }) => state === "failed").length,
      },
    ],
  );
  const [now] = rows.value;
  if (now === undefined) return null;
  const isBidding = now.obstacles.length === 0 && !now.draining;
  return (
    <>
      <FactList
        rows={[
          [operator.address, <Address key="address" text={now.provider} />],
          [operator.started, <Time key="since" time={now.since} />],
          [
            operator.bidding,
            <State key="bids" word={isBidding ? operator.bids : operator.noBids} kind={isBidding ? "good" : "bad"} />,
          ],
          [operator.probe, <Probe key="probe" state={now.probe} />],
          [operator.checks, <Verdict key="checks" failed={now.failed} />],
          [operator.ports, String(now.ports)],
        ]}
      />
      {!isBidding && <Obstacles obstacles={now.obstacles} isDraining={now.draining} />}
    </>
  );
}

function Verdict({ failed }: { failed: number | undefined }) {
  if (failed === undefined) return <State word={t.gateway.notKnown} />;
  return <State word={operator.failed(failed)} kind={failed === 0 ? "good" : "bad"} />;
}

function Probe({ state }: { state: string | undefined }) {
  const { passed, failed, probing } = operator.probes;
  if (state === "passed") return <State word={passed} kind="good" />;
  if (state === "failed") return <State word={failed} kind="bad" />;
  return <State word={state === "probing" ? probing : t.gateway.notKnown} />;
}

function Obstacles({ obstacles, isDraining }: { obstacles: readonly string[]; isDraining: boolean }) {
  return (
    <Section title={operator.obstacles}>
      <ul>
        {obstacles.map((text) => (
          <li key={text}>
            <Strange text={text} max={600} />
          </li>
        ))}
      </ul>
      {isDraining && <Own words={["drain", "--undo"]} />}
    </Section>
  );
}

const KINDS = { ok: "good", failed: "bad", unknown: "calm" } as const;

function Checks({ told }: { told: ReadonlySignal<Told> }) {
  const rows = useRows(told, ({ checks }) => checks ?? []);
  const at = useComputed(() => told.value.facts?.checked_at);
  const account = useComputed(() => told.value.facts?.provider);
  return (
    <>
      {at.value === undefined ? (
        <p class="none">{operator.checking}</p>
      ) : (
        <p>
          {operator.checkedAt} <Time time={at.value} />
        </p>
      )}
      {at.value !== undefined && (
        <Table
          name={operator.checks}
          columns={[operator.check, operator.result, operator.detail, operator.fix]}
          rows={rows.value}
          keyOf={({ check }) => check}
          cells={({ check, state, detail, fix }) => [
            check,
            <State key="state" word={operator.states[state]} kind={KINDS[state]} />,
            <Strange key="detail" text={detail} max={400} />,
            <Strange key="fix" text={fix ?? ""} max={600} />,
          ]}
        />
      )}
      <p>{operator.checkFlags}</p>
      <Own words={["check", "--from", account.value ?? ""]} asksNode />
    </>
  );
}
