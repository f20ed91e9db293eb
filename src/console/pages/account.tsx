import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useComputed } from "@preact/signals";
import { accountInfo } from "../../client/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as DistributionQuery } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as StakingQuery } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { Certificate_State, Query as CertQuery } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { Account_State, Query as EscrowQuery } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { Query as ProviderQuery } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { isAddress } from "../../wire/index.ts";
import { latest, useAsk } from "../live/ask.ts";
import { txRow } from "../live/blocks/txs.ts";
import { chain } from "../live/chain.ts";
import { link, type PageProps } from "../live/route.ts";
import { Command, Facts, Known, Section, Table } from "../parts/blocks.tsx";
import { Missing } from "../parts/fault.tsx";
import { TxList } from "../parts/lists.tsx";
import { Bids, DeploymentTable, Leases, MarketState } from "../parts/market.tsx";
import { Address, Amount, Amounts, Code, grouped, Heading, Out, Strange, Time } from "../parts/text.tsx";
import { account as accountWords, provider as providerWords } from "../text/account.ts";
import { deploymentWords } from "../text/deployment.ts";
import { t } from "../text/index.ts";

const PAGE = { limit: 50n };
/** Transactions of each kind that are searched. */
const TXS = 20;
/** Rewards have 18 decimal places. */
const PLACES = 18;

export function Account({ words: [address = ""] }: PageProps) {
  return isAddress(address) ? <OneAccount address={address} /> : <Missing />;
}

function OneAccount({ address }: { address: string }) {
  return (
    <>
      <Heading title={accountWords.title} />
      <Facts rows={[[accountWords.address, <Code key="address" text={address} />]]} />
      <Numbers address={address} />
      <Section title={accountWords.balances}>
        <Balances address={address} />
      </Section>
      <Stake address={address} />
      <Section title={accountWords.deployments}>
        <DeploymentTable filters={{ owner: address, state: "" }} />
      </Section>
      <Section title={accountWords.leases}>
        <Leases filters={{ owner: address }} />
      </Section>
      <ProviderPart address={address} />
      <Section title={accountWords.escrow}>
        <Escrow owner={address} />
      </Section>
      <Section title={accountWords.certificates}>
        <Certificates owner={address} />
      </Section>
      <Section title={accountWords.txs}>
        <Txs address={address} />
      </Section>
      <Command words={["bank", "balances", address]} />
    </>
  );
}

function Numbers({ address }: { address: string }) {
  const answer = useAsk(() => accountInfo(chain.query, address), { key: address, isLive: true });
  return (
    <Known answer={answer}>
      {({ accountNumber, sequence }) => (
        <Facts
          rows={[
            [accountWords.number, grouped(accountNumber)],
            [accountWords.sequence, grouped(sequence)],
          ]}
        />
      )}
    </Known>
  );
}

export function Balances({ address }: { address: string }) {
  const answer = useAsk(() => chain.query.call(BankQuery.method.allBalances, { address, pagination: PAGE }), {
    key: address,
    isLive: true,
  });
  return <Known answer={answer}>{({ balances }) => <Amounts coins={balances} />}</Known>;
}

/** Delegations, what is unbonding, and rewards: one question each. */
export function Stake({ address }: { address: string }) {
  return (
    <>
      <Section title={accountWords.delegations}>
        <Delegations address={address} />
      </Section>
      <Section title={accountWords.unbonding}>
        <Unbonding address={address} />
      </Section>
      <Section title={accountWords.rewards}>
        <Rewards address={address} />
      </Section>
    </>
  );
}

function Delegations({ address: delegatorAddr }: { address: string }) {
  const answer = useAsk(
    () => chain.query.call(StakingQuery.method.delegatorDelegations, { delegatorAddr, pagination: PAGE }),
    { key: delegatorAddr, isLive: true },
  );
  return (
    <Known answer={answer}>
      {({ delegationResponses }) => (
        <Table
          name={accountWords.delegations}
          columns={[accountWords.validator, { head: accountWords.amount, isNumber: true }]}
          rows={delegationResponses}
          keyOf={({ delegation }) => delegation?.validatorAddress ?? ""}
          cells={({ delegation, balance }) => [
            <Address key="validator" text={delegation?.validatorAddress ?? ""} />,
            <Amount key="amount" coin={balance} />,
          ]}
        />
      )}
    </Known>
  );
}

function Unbonding({ address: delegatorAddr }: { address: string }) {
  const answer = useAsk(
    () => chain.query.call(StakingQuery.method.delegatorUnbondingDelegations, { delegatorAddr, pagination: PAGE }),
    { key: delegatorAddr, isLive: true },
  );
  return (
    <Known answer={answer}>
      {({ unbondingResponses }) => (
        <Table
          name={accountWords.unbonding}
          columns={[accountWords.validator, accountWords.due, { head: accountWords.amount, isNumber: true }]}
          rows={unbondingResponses.flatMap(({ validatorAddress, entries }) =>
            entries.map((entry, i) => ({ validatorAddress, entry, name: `${validatorAddress}/${i}` })),
          )}
          keyOf={({ name }) => name}
          cells={({ validatorAddress, entry: { completionTime, balance } }) => [
            <Address key="validator" text={validatorAddress} />,
            <Time key="due" time={completionTime === undefined ? undefined : timestampDate(completionTime)} />,
            <Amount key="amount" coin={{ denom: NATIVE_DENOM, amount: balance }} />,
          ]}
        />
      )}
    </Known>
  );
}

function Rewards({ address: delegatorAddress }: { address: string }) {
  const answer = useAsk(() => chain.query.call(DistributionQuery.method.delegationTotalRewards, { delegatorAddress }), {
    key: delegatorAddress,
    isLive: true,
  });
  return <Known answer={answer}>{({ total }) => <Amounts coins={total} scale={PLACES} />}</Known>;
}

/** The provider's record with its leases and bids; nothing for accounts that are no provider. */
function ProviderPart({ address: owner }: { address: string }) {
  const answer = useAsk(() => chain.query.call(ProviderQuery.method.provider, { owner }), { key: owner });
  return (
    <>
      <Section title={accountWords.provider}>
        <Known answer={answer}>
          {({ provider }) => (
            <Facts
              rows={[
                [
                  accountWords.isProvider,
                  <a key="page" href={link("provider", owner)}>
                    {providerWords.title}
                  </a>,
                ],
                [providerWords.host, <Out key="host" url={provider?.hostUri ?? ""} />],
              ]}
            />
          )}
        </Known>
      </Section>
      <Section title={accountWords.provided}>
        <Leases filters={{ provider: owner }} />
      </Section>
      <Section title={accountWords.bids}>
        <Bids filters={{ provider: owner }} />
      </Section>
    </>
  );
}

function Escrow({ owner }: { owner: string }) {
  const answer = useAsk(() => chain.query.call(EscrowQuery.method.accounts, { owner, pagination: PAGE }), {
    key: owner,
    isLive: true,
  });
  return (
    <Known answer={answer}>
      {({ accounts }) => (
        <Table
          name={accountWords.escrow}
          columns={[
            accountWords.title,
            accountWords.state,
            { head: deploymentWords.balance, isNumber: true },
            { head: deploymentWords.transferred, isNumber: true },
          ]}
          rows={accounts}
          keyOf={({ id }) => `${id?.scope}/${id?.xid}`}
          cells={(each) => [
            <Strange key="id" text={`${each.id?.scope}/${each.id?.xid}`} isName max={200} />,
            <MarketState key="state" names={Account_State} value={each.state} />,
            <Amount key="balance" coin={each.balance} />,
            <Amount key="paid" coin={each.transferred} />,
          ]}
        />
      )}
    </Known>
  );
}

function Certificates({ owner }: { owner: string }) {
  const answer = useAsk(
    () => chain.query.call(CertQuery.method.certificates, { filter: { owner }, pagination: PAGE }),
    { key: owner, isLive: true },
  );
  return (
    <Known answer={answer}>
      {({ certificates }) => (
        <Table
          name={accountWords.certificates}
          columns={[accountWords.serial, accountWords.state]}
          rows={certificates}
          keyOf={({ serial }) => serial}
          cells={({ serial, certificate }) => [
            <Strange key="serial" text={serial} isName max={200} />,
            <MarketState key="state" names={Certificate_State} value={certificate?.state ?? 0} />,
          ]}
        />
      )}
    </Known>
  );
}

/** The newest transactions that the account paid for or sent, or that paid to it. */
export function Txs({ address }: { address: string }) {
  const answer = useAsk(
    async () => {
      const searched = ["tx.fee_payer", "message.sender", "transfer.recipient"].map((key) =>
        chain.node.txSearch(`${key}='${address}'`, { perPage: TXS, order: "desc" }),
      );
      const found = (await Promise.all(searched)).flatMap(({ txs }) => txs);
      const distinct = [...new Map(found.map((tx) => [tx.hash, tx])).values()];
      return distinct.sort((a, b) => Number(b.height - a.height) || b.index - a.index).map(txRow);
    },
    { key: address, isLive: true },
  );
  const rows = useComputed(() => latest(answer.value)?.value ?? []);
  return (
    <Known answer={answer}>
      {(all) => (all.length === 0 ? <p class="none">{t.state.none}</p> : <TxList rows={rows} />)}
    </Known>
  );
}
