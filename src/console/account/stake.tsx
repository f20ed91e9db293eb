import { timestampDate } from "@bufbuild/protobuf/wkt";
import { NATIVE_DENOM } from "../../util/index.ts";
import { Query as StakingQuery } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import type { DelegationResponse, UnbondingDelegationEntry } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { MsgCancelUnbondingDelegationSchema, MsgUndelegateSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { packAny } from "../../wire/index.ts";
import { useAsk } from "../live/ask.ts";
import { chain } from "../live/chain.ts";
import { Act, amountWord, Field, mustCoin } from "../parts/act.tsx";
import { Facts, Items, Known, Section } from "../parts/blocks.tsx";
import { Address, Amount, Height, Time } from "../parts/text.tsx";
import { account as accountWords, views } from "../text/account.ts";
import { t } from "../text/index.ts";

const WORDS = views;
const PAGE = { limit: 200n };
const DAY_SECONDS = 86_400;

/** Delegations of an account, each with the way out of it, and the tokens that are on their way back. */
export function Stake({ address }: { address: string }) {
  const { method } = StakingQuery;
  const answer = useAsk(
    async () => {
      const [{ params }, held, leaving] = await Promise.all([
        chain.query.call(method.params, {}),
        chain.query.call(method.delegatorDelegations, { delegatorAddr: address, pagination: PAGE }),
        chain.query.call(method.delegatorUnbondingDelegations, { delegatorAddr: address, pagination: PAGE }),
      ]);
      const seconds = Number(params?.unbondingTime?.seconds ?? 0n);
      return { seconds, delegations: held.delegationResponses, leaving: leaving.unbondingResponses };
    },
    { key: address, isLive: true },
  );
  return (
    <Known answer={answer}>
      {({ seconds, delegations, leaving }) => (
        <>
          <Section title={accountWords.delegations}>
            {delegations.length === 0 && <p class="none">{t.state.none}</p>}
            <Items of={delegations}>
              {(each) => <Delegation key={each.delegation?.validatorAddress} held={each} seconds={seconds} />}
            </Items>
          </Section>
          <Section title={accountWords.unbonding}>
            {leaving.length === 0 && <p class="none">{t.state.none}</p>}
            <Items
              of={leaving.flatMap(({ validatorAddress: validator, entries }) =>
                entries.map((entry, at) => ({ validator, entry, key: `${validator}/${at}` })),
              )}
            >
              {({ key, validator, entry }) => <Leaving key={key} validator={validator} entry={entry} />}
            </Items>
          </Section>
        </>
      )}
    </Known>
  );
}

function Delegation({ held: { delegation, balance }, seconds }: { held: DelegationResponse; seconds: number }) {
  const validatorAddress = delegation?.validatorAddress ?? "";
  return (
    <article class="message">
      <Facts
        rows={[
          [accountWords.validator, <Address key="validator" text={validatorAddress} />],
          [accountWords.amount, <Amount key="amount" coin={balance} />],
        ]}
      />
      <details>
        <summary>{WORDS.unbond}</summary>
        <p class="notice">{WORDS.unbondTime((seconds / DAY_SECONDS).toFixed(1).replace(/\.0$/, ""))}</p>
        <Act
          label={WORDS.unbondNow}
          command={(fields) => ["staking", "unbond", validatorAddress, amountWord(fields)]}
          messages={(delegatorAddress, fields) => [
            packAny(MsgUndelegateSchema, { delegatorAddress, validatorAddress, amount: mustCoin(fields) }),
          ]}
        >
          <Field name="amount" label={t.wallet.amount} />
        </Act>
      </details>
    </article>
  );
}

interface LeavingProps {
  readonly validator: string;
  readonly entry: UnbondingDelegationEntry;
}

/** Tokens that come back later, and the way to delegate them again before. */
function Leaving({ validator: validatorAddress, entry }: LeavingProps) {
  const { balance, completionTime, creationHeight } = entry;
  const amount = { denom: NATIVE_DENOM, amount: balance };
  return (
    <article class="message">
      <Facts
        rows={[
          [accountWords.validator, <Address key="validator" text={validatorAddress} />],
          [accountWords.amount, <Amount key="amount" coin={amount} />],
          [
            accountWords.due,
            <Time key="due" time={completionTime === undefined ? undefined : timestampDate(completionTime)} />,
          ],
          [WORDS.begunAt, <Height key="begun" height={creationHeight} />],
        ]}
      />
      <Act
        label={WORDS.cancelUnbond}
        command={() => [
          ...["staking", "cancel-unbond", validatorAddress],
          ...[`${balance}${NATIVE_DENOM}`, String(creationHeight)],
        ]}
        messages={(delegatorAddress) => [
          packAny(MsgCancelUnbondingDelegationSchema, { delegatorAddress, validatorAddress, amount, creationHeight }),
        ]}
      />
    </article>
  );
}
