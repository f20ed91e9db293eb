import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { NATIVE_DENOM } from "../../util/index.ts";
import type {
  Proposal as ProposalRecord,
  ProposalStatus,
  TallyResult,
  WeightedVoteOption,
} from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query as GovQuery } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import { MsgVoteSchema } from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { packAny } from "../../wire/index.ts";
import { useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { link, type PageProps, readHeight } from "../live/route.ts";
import { wallet } from "../live/wallet.ts";
import { Act, Connect } from "../parts/act.tsx";
import { Command, Facts, Known, Pages, pageKey, Section, Table } from "../parts/blocks.tsx";
import { Missing } from "../parts/fault.tsx";
import { Address, Amount, Amounts, Heading, None, percent, State, Strange, Time } from "../parts/text.tsx";
import { account as accountWords } from "../text/account.ts";
import { t } from "../text/index.ts";
import { gov } from "../text/staking.ts";
import { Messages } from "./tx.tsx";

const PAGE = 50n;
const PASSED = 3;
const REJECTED = 4;

/** The list, or the proposal that the address names. */
export function Gov({ words: [text] }: PageProps) {
  const id = readHeight(text ?? "");
  if (text === undefined) return <Proposals />;
  return id === undefined ? <Missing /> : <OneProposal id={id} />;
}

function Proposals() {
  const key = pageKey();
  const pagination = { key, limit: PAGE, reverse: true };
  const answer = useAsk(() => chain.query.call(GovQuery.method.proposals, { pagination }), {
    key: String(key),
    isLive: true,
  });
  return (
    <>
      <Heading title={gov.list} />
      <Known answer={answer}>
        {({ proposals, pagination }) => (
          <>
            <Table
              name={gov.list}
              columns={[{ head: "#", isNumber: true }, gov.name, gov.status, gov.votingEnds]}
              rows={proposals}
              keyOf={({ id }) => String(id)}
              cells={(each) => [
                <a key="id" href={link("gov", each.id)}>
                  {String(each.id)}
                </a>,
                <a key="title" href={link("gov", each.id)}>
                  <Strange text={each.title || gov.title(String(each.id))} isName max={200} />
                </a>,
                <Status key="status" proposal={each} />,
                <Moment key="ends" time={each.votingEndTime} />,
              ]}
            />
            <Pages next={pagination?.nextKey} />
          </>
        )}
      </Known>
      <Command words={["gov", "proposals"]} />
    </>
  );
}

function Moment({ time }: { time: Timestamp | undefined }) {
  return <Time time={time === undefined ? undefined : timestampDate(time)} />;
}

function Status({ proposal: { status } }: { proposal: ProposalRecord }) {
  const kind = status === PASSED ? "good" : status >= REJECTED ? "bad" : "calm";
  return <State word={gov.states[status]} kind={kind} />;
}

function OneProposal({ id }: { id: bigint }) {
  const answer = useAsk(() => chain.query.call(GovQuery.method.proposal, { proposalId: id }), {
    key: String(id),
    isLive: true,
  });
  return (
    <>
      <Heading title={gov.title(String(id))} />
      <Known answer={answer}>
        {({ proposal }) => (proposal === undefined ? <None /> : <Found proposal={proposal} />)}
      </Known>
      <Votes id={id} />
      <Deposits id={id} />
      <Command words={["gov", "proposal", id]} />
    </>
  );
}

function Found({ proposal }: { proposal: ProposalRecord }) {
  return (
    <>
      <Facts
        rows={[
          [gov.name, <Strange key="title" text={proposal.title} isName max={300} />],
          [gov.status, <Status key="status" proposal={proposal} />],
          [gov.proposer, <Address key="proposer" text={proposal.proposer} />],
          [gov.submitted, <Moment key="submitted" time={proposal.submitTime} />],
          [gov.depositEnds, <Moment key="deposit" time={proposal.depositEndTime} />],
          [gov.votingEnds, <Moment key="voting" time={proposal.votingEndTime} />],
          [gov.deposit, <Amounts key="amount" coins={proposal.totalDeposit} />],
          [gov.expedited, proposal.expedited ? t.state.yes : t.state.no],
          [gov.summary, <Strange key="summary" text={proposal.summary} />],
          [gov.failed, proposal.failedReason === "" ? undefined : <Strange key="why" text={proposal.failedReason} />],
        ]}
      />
      <Tally proposal={proposal} />
      <Contents proposal={proposal} />
    </>
  );
}

/** A button for each option. They come with the changes of the proposal, which stand above. */
function Vote({ id: proposalId }: { id: bigint }) {
  if (wallet.value === undefined) return <Connect />;
  return (
    <div class="row">
      {OPTIONS.map(([option, word]) => (
        <Act
          key={word}
          label={gov.options[word]}
          command={() => ["gov", "vote", String(proposalId), COMMAND_WORDS[word]]}
          messages={(voter) => [packAny(MsgVoteSchema, { proposalId, voter, option })]}
        />
      ))}
    </div>
  );
}

const VOTING: ProposalStatus = 2;
const OPTIONS = [
  [1, "yes"],
  [3, "no"],
  [2, "abstain"],
  [4, "veto"],
] as const;
/** The options as commands name them. */
const COMMAND_WORDS = { yes: "yes", no: "no", abstain: "abstain", veto: "no_with_veto" } as const;

/** Votes as counted now; the final count once voting has ended. */
function Tally({ proposal: { id: proposalId, status, finalTallyResult } }: { proposal: ProposalRecord }) {
  const isOver = status >= PASSED;
  const answer = useAsk(
    async () =>
      isOver ? finalTallyResult : (await chain.query.call(GovQuery.method.tallyResult, { proposalId })).tally,
    { key: `${proposalId}${status}`, isLive: true },
  );
  return (
    <Section title={gov.tally}>
      <Known answer={answer}>{(tally) => (tally === undefined ? <None /> : <Bars tally={tally} />)}</Known>
    </Section>
  );
}

function Bars({ tally }: { tally: TallyResult }) {
  const rows = [
    ["yes", tally.yesCount],
    ["no", tally.noCount],
    ["abstain", tally.abstainCount],
    ["veto", tally.noWithVetoCount],
  ] as const;
  const all = rows.reduce((sum, [, count]) => sum + BigInt(count || 0), 0n);
  const share = (count: string): bigint => (all === 0n ? 0n : (BigInt(count || 0) * 10n ** 18n) / all);
  return (
    <dl class="facts">
      {rows.map(([name, count]) => (
        <div key={name}>
          <dt>{gov.options[name]}</dt>
          <dd>
            <meter value={Number(share(count) / 10n ** 14n)} max={10_000} aria-label={gov.options[name]} />{" "}
            {percent(share(count))} <Amount coin={{ denom: NATIVE_DENOM, amount: count || "0" }} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Messages of the proposal, and the parameters that it changes from what is in force now. */
function Contents({ proposal }: { proposal: ProposalRecord }) {
  const answer = useAsk(
    async () => {
      const { parameterChanges, readMessage } = await import("../live/messages.ts");
      const messages = proposal.messages.map(readMessage);
      const changes = await Promise.all(messages.map(parameterChanges));
      return {
        messages,
        changes: changes.some((each) => each !== undefined) ? changes.flatMap((each) => each ?? []) : undefined,
      };
    },
    { key: `${proposal.id}${proposal.status}` },
  );
  return (
    <Known answer={answer}>
      {({ messages, changes }) => (
        <>
          {changes !== undefined && (
            <Section title={gov.changes}>
              {changes.length === 0 ? (
                <p class="none">{gov.same}</p>
              ) : (
                <Table
                  name={gov.changes}
                  columns={[gov.parameter, gov.before, gov.after]}
                  rows={changes}
                  keyOf={({ name }) => name}
                  cells={({ name, before, after }) => [
                    <Strange key="name" text={name} isName max={200} />,
                    before === undefined ? t.fault.unknown : <Strange key="before" text={before} max={500} />,
                    <Strange key="after" text={after} max={500} />,
                  ]}
                />
              )}
            </Section>
          )}
          <Section title={gov.messages}>
            <Messages messages={messages} />
          </Section>
          {proposal.status === VOTING && (
            <Section title={t.wallet.vote}>
              <Vote id={proposal.id} />
            </Section>
          )}
        </>
      )}
    </Known>
  );
}

function Votes({ id: proposalId }: { id: bigint }) {
  const key = pageKey();
  const answer = useAsk(
    () => chain.query.call(GovQuery.method.votes, { proposalId, pagination: { key, limit: PAGE } }),
    { key: `${proposalId}${key}`, isLive: true },
  );
  return (
    <Section title={gov.votes}>
      <Known answer={answer}>
        {({ votes, pagination }) => (
          <>
            <Table
              name={gov.votes}
              columns={[gov.voter, gov.option]}
              rows={votes}
              keyOf={({ voter }) => voter}
              cells={({ voter, options }) => [
                <Address key="voter" text={voter} />,
                <Strange key="options" text={options.slice(0, MAX_OPTIONS).map(optionWords).join(", ")} max={200} />,
              ]}
            />
            <Pages next={pagination?.nextKey} />
          </>
        )}
      </Known>
    </Section>
  );
}

/** A vote has each option once at most. */
const MAX_OPTIONS = 4;

function optionWords({ option, weight }: WeightedVoteOption): string {
  return `${gov.votesOf[option]} ${percent(decimalDigits(weight))}`;
}

/** Weights come as digits times 10^18, or as a decimal such as `0.5`. */
function decimalDigits(text: string): string {
  const [whole = "", rest] = text.split(".");
  return rest === undefined ? text : `${whole}${rest.padEnd(18, "0").slice(0, 18)}`;
}

function Deposits({ id: proposalId }: { id: bigint }) {
  const answer = useAsk(() => chain.query.call(GovQuery.method.deposits, { proposalId, pagination: { limit: PAGE } }), {
    key: String(proposalId),
    isLive: true,
  });
  return (
    <Section title={gov.deposits}>
      <Known answer={answer}>
        {({ deposits }) => (
          <Table
            name={gov.deposits}
            columns={[gov.depositor, { head: accountWords.amount, isNumber: true }]}
            rows={deposits}
            keyOf={({ depositor }) => depositor}
            cells={({ depositor, amount }) => [
              <Address key="depositor" text={depositor} />,
              <Amounts key="amount" coins={amount} />,
            ]}
          />
        )}
      </Known>
    </Section>
  );
}
