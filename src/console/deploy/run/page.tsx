import { useComputed } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { WEB_GATEWAY } from "../../../client/index.ts";
import { priceOverTime } from "../../../sdl/index.ts";
import { deployErrors, type Note, type Offer, type Wait } from "../../../tenant/index.ts";
import { formatCoin, isOneOf } from "../../../util/index.ts";
import type { DeploymentKey } from "../../../wire/index.ts";
import { latest, useAsk } from "../../live/ask.ts";
import { chainId } from "../../live/blocks/head.ts";
import { lost } from "../../live/chain.ts";
import { link, type PageProps } from "../../live/route.ts";
import { wallet } from "../../live/wallet.ts";
import { Command, Items, Known, Section, Table } from "../../parts/blocks.tsx";
import { Fault } from "../../parts/fault.tsx";
import { Per } from "../../parts/price.tsx";
import { Address, grouped, Heading, Out, Strange } from "../../parts/text.tsx";
import { deploy } from "../../text/deploy.ts";
import { deploying } from "../../text/deploying.ts";
import { deploymentWords } from "../../text/deployment.ts";
import { t } from "../../text/index.ts";
import type { RunRecord } from "./records.ts";
import { forget, goOn, openRun, type Run, STEPS } from "./runs.ts";

interface ConnectProps {
  /** The ways to connect an account. */
  readonly Connect: ComponentType;
}

/** A deployment on its way from a file to running services; it goes on here after any interruption. */
export function Deploying({ words: [id = ""], Connect }: PageProps & ConnectProps) {
  const answer = useAsk(() => openRun(id), { key: id });
  return (
    <Known answer={answer}>{(run) => (run === undefined ? <Absent /> : <Kept run={run} Connect={Connect} />)}</Known>
  );
}

function Absent() {
  return (
    <>
      <Heading title={deploy.title} />
      <p class="none">{deploying.absent}</p>
      <a href={link("deployments")}>{deploying.list}</a>
    </>
  );
}

function Kept({ run, Connect }: { run: Run } & ConnectProps) {
  const { name, owner, progress } = run.record.value;
  return (
    <>
      <Heading title={deploying.title(name)}>
        {progress !== undefined && <DeploymentLink owner={owner} dseq={progress.dseq} />}
      </Heading>
      <Result run={run} />
      <Steps run={run} />
      <Situation run={run} Connect={Connect} />
      <Choice run={run} />
      <Notes run={run} />
      <details>
        <summary>{deploying.file}</summary>
        <pre class="raw">
          <Strange text={run.record.value.text} max={100_000} />
        </pre>
      </details>
      <Command program="svc deploy" words={wordsOf(run.record.value)} />
    </>
  );
}

function DeploymentLink({ owner, dseq }: DeploymentKey) {
  return <a href={link("deployment", owner, dseq)}>{deploymentWords.title(dseq.toString())}</a>;
}

function wordsOf({ name, owner, deposit, isChosen }: RunRecord): string[] {
  const choice = isChosen ? [] : ["--bid", "cheapest"];
  const own = deposit === undefined ? [] : ["--deposit", formatCoin(deposit)];
  return [name, ...choice, ...own, "--from", owner];
}

function Steps({ run }: { run: Run }) {
  const done = run.done.value;
  const isOver = done === STEPS.length;
  return (
    <Section title={deploying.steps}>
      <ol class="steps">
        {STEPS.map((step, at) => {
          const state = at < done ? "done" : at === done ? "now" : "later";
          return (
            <li key={step} data-state={state} aria-current={state === "now" ? "step" : undefined}>
              <span>{deploying.step[step]}</span> <small>{deploying.state[state]}</small>
              {step === "lease" && <Chosen record={run.record.value} />}
            </li>
          );
        })}
      </ol>
      <div aria-live="polite">{!isOver && <Waiting run={run} />}</div>
      {!isOver && <Beyond run={run} />}
    </Section>
  );
}

/** The providers that have the leases, or are about to. */
function Chosen({ record: { progress } }: { record: RunRecord }) {
  return (
    <>
      {(progress?.chosen ?? []).map(({ gseq, provider }) => (
        <Address key={gseq} text={provider} />
      ))}
    </>
  );
}

function Waiting({ run }: { run: Run }) {
  if (run.state.value.kind !== "running") return null;
  if (lost.value !== undefined) return <p class="waiting">{deploying.wait.node} …</p>;
  const stage = run.stage.value;
  const waiting = run.waiting.value;
  if (stage === "session") return <p class="waiting">{deploying.session} …</p>;
  if (stage !== undefined) return <p class="waiting">{t.wallet.stages[stage]} …</p>;
  if (waiting === undefined) return <p class="waiting">{deploying.starting} …</p>;
  const detail = detailOf(waiting);
  return (
    <p class="waiting">
      {waitText(waiting.wait)} {waiting.wait.for !== "user" && "… "}
      {"provider" in waiting.wait && <Address text={waiting.wait.provider} />}{" "}
      <small>{detail !== "" && <Strange text={detail} max={600} />}</small>
    </p>
  );
}

/** The remedy where the awaited provider has no address for browsers, and the way to end what is paid for. */
function Beyond({ run }: { run: Run }) {
  const wait = run.waiting.value?.wait;
  const provider = wait !== undefined && "provider" in wait ? wait.provider : "";
  const answer = useAsk(() => isBeyond(provider), { key: provider, isLive: true });
  const { owner, progress } = run.record.value;
  if (latest(answer.value)?.value !== true) return null;
  return (
    <p class="notice" role="status">
      {deploying.beyond}{" "}
      {progress !== undefined && <a href={link("deployment", owner, progress.dseq)}>{deploying.closeIt}</a>}
    </p>
  );
}

/** Providers are read by a script that the first steps load anyway. */
async function isBeyond(provider: string): Promise<boolean> {
  if (provider === "") return false;
  const { isInReach } = await import("../offers.ts");
  return !(await isInReach(provider));
}

function waitText(wait: Wait): string {
  if (wait.for === "more-bids") return deploying.wait.moreBids(grouped(wait.until), wait.bids);
  if (wait.for !== "bids") return deploying.wait[wait.for];
  const orders = wait.orders.map(({ dseq, gseq, oseq }) => `${dseq}/${gseq}/${oseq}`);
  return deploying.wait.bids(orders.join(", "), grouped(wait.height));
}

/** The part that the page's own words do not say: why a provider or the node keeps it waiting, or the missing services. */
function detailOf({ wait, sentence }: { readonly wait: Wait; readonly sentence: string }): string {
  if (wait.for === "services") return sentence;
  return "reason" in wait ? (wait.reason ?? "") : "";
}

/** Who has to do something so that it goes on. */
function Situation({ run, Connect }: { run: Run } & ConnectProps) {
  const { owner, chainId: chain, progress } = run.record.value;
  const account = wallet.value;
  const state = run.state.value;
  const isDone = run.done.value === STEPS.length;
  const isOurs = account?.address === owner && account.lacks.transaction === undefined;
  useEffect(() => {
    if (account !== undefined && isOurs && !isDone && chainId.value === chain) void goOn(run, account);
  }, [run, account, state.kind, chainId.value]);
  if (isDone || chainId.value === undefined) return null;
  if (chainId.value !== chain) return <p class="notice bad">{deploying.otherChain(chain)}</p>;
  if (!isOurs)
    return (
      <>
        <p class="notice">
          {deploying.connect} <Address text={owner} />
        </p>
        {account === undefined && <Connect />}
      </>
    );
  if (state.kind === "elsewhere") return <p class="notice">{deploying.elsewhere}</p>;
  if (state.kind !== "stopped" && state.kind !== "outage") return null;
  const isOver = progress === undefined || isOneOf([deployErrors.closed, deployErrors.changed], state.error);
  return (
    <>
      <Fault error={state.error} title={deploying.stopped} />
      <p>{state.kind === "stopped" ? deploying.kept : deploying.outage}</p>
      <p class="row">
        <button type="button" onClick={() => run.goOn()}>
          {deploying.goOn}
        </button>
        {isOver && (
          <button type="button" onClick={() => void forget(run).then(() => location.assign(link("deploy")))}>
            {deploying.forget}
          </button>
        )}
      </p>
    </>
  );
}

function Result({ run }: { run: Run }) {
  const state = run.state.value;
  if (run.done.value < STEPS.length) return null;
  const ports = state.kind === "done" ? state.result.ports : [];
  const { addresses, owner, progress } = run.record.value;
  return (
    <Section title={state.kind === "done" ? deploying.result : deploying.addresses}>
      <ul class="remarks">
        <Items of={addresses}>
          {(url) => (
            <li key={url}>
              <Out url={url} isPlain />
            </li>
          )}
        </Items>
        <Items of={ports}>
          {({ service, host, port, proto }) => (
            <li key={`${host} ${port} ${proto}`}>
              <Strange text={`${service}: ${proto.toLowerCase()}://${host}:${port}`} isName max={400} />
            </li>
          )}
        </Items>
      </ul>
      {addresses.length + ports.length === 0 && <p class="none">{deploying.noAddresses}</p>}
      {progress !== undefined && (
        <p>
          <DeploymentLink owner={owner} dseq={progress.dseq} />
        </p>
      )}
    </Section>
  );
}

/** The bids of each group, and the choice among them where it is the owner's. */
function Choice({ run }: { run: Run }) {
  const shown = useComputed(() => {
    const byGroup = new Map<string, Extract<Note, { kind: "bids" }>>();
    for (const { note } of run.notes.value) if (note.kind === "bids") byGroup.set(note.group, note);
    return [...byGroup.values()];
  });
  return (
    <>
      {shown.value.map(({ group, offers, blockSeconds }) => (
        <Section key={group} title={deploying.bids(group)}>
          <BidTable run={run} group={group} offers={offers} seconds={blockSeconds} />
        </Section>
      ))}
    </>
  );
}

interface BidTableProps {
  readonly run: Run;
  readonly group: string;
  readonly offers: readonly Offer[];
  readonly seconds: number;
}

function BidTable({ run, group, offers, seconds }: BidTableProps) {
  const question = run.question.value;
  const accept = question?.group === group ? question : undefined;
  return (
    <Table
      name={deploying.bids(group)}
      columns={[
        ...(accept === undefined ? [] : [deploying.accept]),
        deploying.provider,
        { head: deploy.hour, isNumber: true },
        { head: deploy.day, isNumber: true },
        { head: deploy.month, isNumber: true },
        deploying.attributes,
        deploying.auditors,
      ]}
      rows={offers}
      keyOf={({ bid }) => bid.id.provider}
      cells={(offer) => [
        ...(accept === undefined ? [] : [<Accept key="accept" offer={offer} question={accept} />]),
        <span key="provider" class="stack">
          <Address text={offer.bid.id.provider} />
          <small>
            <Strange text={offer.host} isName max={200} />
          </small>
        </span>,
        ...pricesOf(offer, seconds),
        <Tags key="attributes" texts={attributesOf(offer)} />,
        <Tags key="auditors" texts={offer.auditors} />,
      ]}
    />
  );
}

function pricesOf({ bid }: Offer, seconds: number): ComponentChildren[] {
  const price = priceOverTime(bid.price, seconds);
  return (["perHour", "perDay", "perMonth"] as const).map((span) => <Per key={span} price={price} span={span} />);
}

/** Attributes that people choose by; the others are for programs. */
function attributesOf({ attributes }: Offer): string[] {
  const shown = attributes.filter(({ key }) => key !== WEB_GATEWAY && !key.startsWith("capabilities/"));
  return shown.map(({ key, value }) => `${key}=${value}`);
}

/** Bids of providers whose gateway has not answered cannot be accepted. */
function Accept({ offer, question }: { offer: Offer; question: NonNullable<Run["question"]["value"]> }) {
  const { provider } = offer.bid.id;
  const isReached = question.offers.some(({ bid }) => bid.id.provider === provider);
  return (
    <button
      type="button"
      disabled={!isReached}
      aria-label={deploying.acceptOf(provider)}
      onClick={() => question.accept(offer)}
    >
      {deploying.accept}
    </button>
  );
}

const MAX_TAGS = 12;

function Tags({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return <Strange text="" />;
  return (
    <span class="tags">
      {texts.slice(0, MAX_TAGS).map((text) => (
        <span key={text}>
          <Strange text={text} isName max={120} />
        </span>
      ))}
      {texts.length > MAX_TAGS && <em class="cut">{t.value.items(texts.length - MAX_TAGS)}</em>}
    </span>
  );
}

/** Why providers do not bid, or cannot be used, and whatever else there is to know. */
function Notes({ run }: { run: Run }) {
  const refusals = run.notes.value.findLast(({ note }) => note.kind === "refusals")?.note;
  const others = run.notes.value.filter(({ note }) => note.kind === "unusable" || note.kind === "text");
  return (
    <>
      {refusals?.kind === "refusals" && (
        <Section title={deploying.refusals}>
          <Table
            name={deploying.refusals}
            columns={[deploying.provider, deploying.reason, deploying.remedy]}
            rows={refusals.refusals}
            keyOf={({ provider, reason }) => `${provider} ${reason}`}
            cells={({ provider, reason, remedy = "" }) => [
              <Address key="provider" text={provider} />,
              <Strange key="reason" text={reason} max={400} />,
              <Strange key="remedy" text={remedy} max={400} />,
            ]}
          />
        </Section>
      )}
      {others.length > 0 && (
        <Section title={deploying.notes}>
          <ul class="remarks">
            {others.map(({ sentence }, i) => (
              <li key={i}>
                <Strange text={sentence.trim()} max={1000} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
