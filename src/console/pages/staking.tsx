import { sha256 } from "../../crypto/index.ts";
import { NATIVE_DENOM, tryParseInt } from "../../util/index.ts";
import { Query as DistributionQuery } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as SlashingQuery } from "../../wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { Query as StakingQuery } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import type { BondStatus, Validator as ValidatorRecord } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { MsgBeginRedelegateSchema, MsgDelegateSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { accountOfValidator, encodeAddress, isAddress, packAny } from "../../wire/index.ts";
import { useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { link, type PageProps } from "../live/route.ts";
import { wallet } from "../live/wallet.ts";
import { Act, amountWord, Field, mustCoin, textOf } from "../parts/act.tsx";
import { Command, Facts, Known, Pages, pageKey, Section, Table } from "../parts/blocks.tsx";
import { Missing } from "../parts/fault.tsx";
import {
  Address,
  Amount,
  Amounts,
  Code,
  grouped,
  Heading,
  Height,
  None,
  Out,
  percent,
  State,
  Strange,
} from "../parts/text.tsx";
import { account as accountWords } from "../text/account.ts";
import { t } from "../text/index.ts";
import { staking } from "../text/staking.ts";

const PAGE = 100n;

const tokensOf = (validator: ValidatorRecord): bigint => tryParseInt(validator.tokens) ?? 0n;

export function Validators() {
  const key = pageKey();
  const answer = useAsk(() => chain.query.call(StakingQuery.method.validators, { pagination: { key, limit: PAGE } }), {
    key: String(key),
    isLive: true,
  });
  return (
    <>
      <Heading title={staking.list} />
      <Known answer={answer}>
        {({ validators, pagination }) => (
          <>
            <ValidatorTable validators={validators} />
            <Pages next={pagination?.nextKey} />
          </>
        )}
      </Known>
      <Command words={["staking", "validators"]} />
    </>
  );
}

function ValidatorTable({ validators }: { validators: readonly ValidatorRecord[] }) {
  const all = validators.reduce((sum, each) => sum + tokensOf(each), 0n);
  const share = (validator: ValidatorRecord): string =>
    all === 0n ? "–" : percent((tokensOf(validator) * 10n ** 18n) / all);
  return (
    <Table
      name={staking.list}
      columns={[
        staking.moniker,
        staking.status,
        { head: staking.tokens, isNumber: true },
        { head: staking.share, isNumber: true },
        { head: staking.commission, isNumber: true },
      ]}
      rows={[...validators].sort((a, b) => (tokensOf(a) < tokensOf(b) ? 1 : -1))}
      keyOf={({ operatorAddress }) => operatorAddress}
      cells={(each) => [
        <a key="name" href={link("validator", each.operatorAddress)}>
          <Strange text={each.description?.moniker || each.operatorAddress} isName max={100} />
        </a>,
        <Status key="status" validator={each} />,
        <Amount key="tokens" coin={{ denom: NATIVE_DENOM, amount: each.tokens }} />,
        share(each),
        percent(each.commission?.commissionRates?.rate ?? ""),
      ]}
    />
  );
}

function Status({ validator }: { validator: Pick<ValidatorRecord, "jailed" | "status"> }) {
  if (validator.jailed) return <State word={staking.jailed} kind="bad" />;
  const kind = validator.status === BONDED ? "good" : "calm";
  return <State word={staking.states[validator.status]} kind={kind} />;
}

const BONDED: BondStatus = 3;

export function Validator({ words: [address = ""] }: PageProps) {
  return isAddress(address, "valoper") ? <OneValidator address={address} /> : <Missing />;
}

function OneValidator({ address }: { address: string }) {
  const answer = useAsk(() => chain.query.call(StakingQuery.method.validator, { validatorAddr: address }), {
    key: address,
    isLive: true,
  });
  return (
    <>
      <Heading title={staking.title} />
      <Known answer={answer}>
        {({ validator }) => (validator === undefined ? <None /> : <ValidatorFacts validator={validator} />)}
      </Known>
      <Section title={t.wallet.delegate}>
        <Delegate address={address} />
      </Section>
      <Rewards address={address} />
      <Delegators address={address} />
      <Command words={["staking", "validator", address]} />
    </>
  );
}

function ValidatorFacts({ validator }: { validator: ValidatorRecord }) {
  const { description, commission } = validator;
  const rates = commission?.commissionRates;
  return (
    <>
      <Facts
        rows={[
          [staking.moniker, <Strange key="name" text={description?.moniker ?? ""} isName />],
          [staking.status, <Status key="status" validator={validator} />],
          [staking.operator, <Address key="operator" text={validator.operatorAddress} />],
          [staking.account, <Address key="account" text={accountOfValidator(validator.operatorAddress)} />],
          [staking.tokens, <Amount key="tokens" coin={{ denom: NATIVE_DENOM, amount: validator.tokens }} />],
          [staking.commission, percent(rates?.rate ?? "")],
          [staking.maxCommission, `${percent(rates?.maxRate ?? "")}, ${percent(rates?.maxChangeRate ?? "")}`],
          [staking.selfBond, <Amount key="self" coin={{ denom: NATIVE_DENOM, amount: validator.minSelfDelegation }} />],
          [staking.identity, <Strange key="identity" text={description?.identity ?? ""} isName />],
          [staking.website, <Out key="website" url={description?.website ?? ""} />],
          [staking.contact, <Strange key="contact" text={description?.securityContact ?? ""} isName />],
          [staking.details, <Strange key="details" text={description?.details ?? ""} />],
        ]}
      />
      <Signing validator={validator} />
    </>
  );
}

/** The consensus address of an ed25519 key, whose message is two bytes and the key. */
function consensusAddress({ consensusPubkey: key }: ValidatorRecord): string | undefined {
  if (key === undefined || !key.typeUrl.endsWith(".ed25519.PubKey") || key.value.length !== 34) return undefined;
  return encodeAddress(sha256(key.value.slice(2)).slice(0, 20), "valcons");
}

function Signing({ validator }: { validator: ValidatorRecord }) {
  const consAddress = consensusAddress(validator);
  const answer = useAsk(
    async () =>
      consAddress === undefined ? undefined : chain.query.call(SlashingQuery.method.signingInfo, { consAddress }),
    { key: consAddress ?? "", isLive: true },
  );
  return (
    <Known answer={answer}>
      {(found) => (
        <Facts
          rows={[
            [staking.consensus, <Code key="consensus" text={consAddress ?? ""} />],
            [staking.missed, grouped(found?.valSigningInfo?.missedBlocksCounter ?? "–")],
            [staking.since, <Height key="since" height={found?.valSigningInfo?.startHeight ?? 0n} />],
          ]}
        />
      )}
    </Known>
  );
}

/** Forms for the connected account: delegating here, and moving a delegation from here to another validator. */
function Delegate({ address: validatorAddress }: { address: string }) {
  return (
    <>
      <Act
        label={t.wallet.delegate}
        command={(fields) => ["staking", "delegate", validatorAddress, amountWord(fields)]}
        messages={(delegatorAddress, fields) => [
          packAny(MsgDelegateSchema, { delegatorAddress, validatorAddress, amount: mustCoin(fields) }),
        ]}
      >
        <Field name="amount" label={t.wallet.amount} />
      </Act>
      {wallet.value !== undefined && (
        <details>
          <summary>{t.wallet.redelegate}</summary>
          <Redelegate from={validatorAddress} />
        </details>
      )}
    </>
  );
}

function Redelegate({ from }: { from: string }) {
  return (
    <Act
      label={t.wallet.redelegate}
      command={(fields) => ["staking", "redelegate", from, textOf(fields, "target") || "VALIDATOR", amountWord(fields)]}
      messages={(delegatorAddress, fields) => {
        const target = textOf(fields, "target");
        if (!isAddress(target, "valoper")) throw new Error(t.wallet.badTarget);
        const validators = { validatorSrcAddress: from, validatorDstAddress: target };
        return [packAny(MsgBeginRedelegateSchema, { delegatorAddress, ...validators, amount: mustCoin(fields) })];
      }}
    >
      <Field name="target" label={t.wallet.target} />
      <Field name="amount" label={t.wallet.amount} />
    </Act>
  );
}

/** Decimal amounts of the chain's own rewards have 18 places. */
const PLACES = 18;

function Rewards({ address: validatorAddress }: { address: string }) {
  const { method } = DistributionQuery;
  const answer = useAsk(
    async () => {
      const [outstanding, earned] = await Promise.all([
        chain.query.call(method.validatorOutstandingRewards, { validatorAddress }),
        chain.query.call(method.validatorCommission, { validatorAddress }),
      ]);
      return { outstanding: outstanding.rewards?.rewards ?? [], earned: earned.commission?.commission ?? [] };
    },
    { key: validatorAddress },
  );
  return (
    <Known answer={answer}>
      {({ outstanding, earned }) => (
        <Facts
          rows={[
            [staking.outstanding, <Amounts key="outstanding" coins={outstanding} scale={PLACES} />],
            [staking.earned, <Amounts key="earned" coins={earned} scale={PLACES} />],
          ]}
        />
      )}
    </Known>
  );
}

function Delegators({ address }: { address: string }) {
  const key = pageKey();
  const answer = useAsk(
    () =>
      chain.query.call(StakingQuery.method.validatorDelegations, {
        validatorAddr: address,
        pagination: { key, limit: PAGE },
      }),
    { key: `${address}${key}` },
  );
  return (
    <Section title={staking.delegations}>
      <Known answer={answer}>
        {({ delegationResponses, pagination }) => (
          <>
            <Table
              name={staking.delegations}
              columns={[staking.delegator, { head: accountWords.amount, isNumber: true }]}
              rows={delegationResponses}
              keyOf={({ delegation }) => delegation?.delegatorAddress ?? ""}
              cells={({ delegation, balance }) => [
                <Address key="delegator" text={delegation?.delegatorAddress ?? ""} />,
                <Amount key="amount" coin={balance} />,
              ]}
            />
            <Pages next={pagination?.nextKey} />
          </>
        )}
      </Known>
    </Section>
  );
}
