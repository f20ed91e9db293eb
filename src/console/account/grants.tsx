import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Query as AuthzQuery } from "../../wire/gen/sdk/authz/v1beta1/query_pb.js";
import { MsgGrantSchema, MsgRevokeSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { BasicAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { Query as FeegrantQuery } from "../../wire/gen/sdk/feegrant/v1beta1/query_pb.js";
import { MsgGrantAllowanceSchema, MsgRevokeAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { DepositDeploymentAuthorizationSchema } from "../../wire/gen/svc/deployment/v1beta1/authz_pb.js";
import { type Any, isAddress, isObject, packAny } from "../../wire/index.ts";
import { useAsk } from "../live/ask.ts";
import { shortType } from "../live/blocks/txs.ts";
import { chain } from "../live/chain.ts";
import type { ReadMessage } from "../live/messages.ts";
import { wallet } from "../live/wallet.ts";
import { Act, amountWord, Field, mustCoin, textOf } from "../parts/act.tsx";
import { Facts, Items, Known, Section } from "../parts/blocks.tsx";
import { Json } from "../parts/json.tsx";
import { Address, Strange, Time } from "../parts/text.tsx";
import { views } from "../text/account.ts";
import { t } from "../text/index.ts";

const WORDS = views;
const PAGE = { limit: 200n };

/** A right of one account at another: a kind of messages, or fees. */
interface Given {
  readonly kind: "messages" | "fees";
  readonly granter: string;
  readonly grantee: string;
  readonly right: ReadMessage | undefined;
  readonly expiration: Timestamp | undefined;
}

async function loadGrants(address: string) {
  const { readMessage } = await import("../live/messages.ts");
  const read = (any: Any | undefined): ReadMessage | undefined => any && readMessage(any);
  const [given, got, fees, paid] = await Promise.all([
    chain.query.call(AuthzQuery.method.granterGrants, { granter: address, pagination: PAGE }),
    chain.query.call(AuthzQuery.method.granteeGrants, { grantee: address, pagination: PAGE }),
    chain.query.call(FeegrantQuery.method.allowancesByGranter, { granter: address, pagination: PAGE }),
    chain.query.call(FeegrantQuery.method.allowances, { grantee: address, pagination: PAGE }),
  ]);
  const messages = ({ granter, grantee, authorization, expiration }: (typeof given.grants)[number]): Given => {
    return { kind: "messages", granter, grantee, right: read(authorization), expiration };
  };
  const fee = ({ granter, grantee, allowance }: (typeof fees.allowances)[number]): Given => {
    return { kind: "fees", granter, grantee, right: read(allowance), expiration: undefined };
  };
  return {
    given: [...given.grants.map(messages), ...fees.allowances.map(fee)],
    received: [...got.grants.map(messages), ...paid.allowances.map(fee)],
  };
}

/** Rights that the account has given to others, with the way to take them back, and rights that it has. */
export function Grants({ address }: { address: string }) {
  const answer = useAsk(() => loadGrants(address), { key: address, isLive: true });
  return (
    <>
      <Known answer={answer}>
        {({ given, received }) => (
          <>
            <Section title={WORDS.given}>
              {given.length === 0 && <p class="none">{t.state.none}</p>}
              <Items of={given}>{(each) => <One key={keyOf(each)} grant={each} isGiven />}</Items>
            </Section>
            <Section title={WORDS.received}>
              {received.length === 0 && <p class="none">{t.state.none}</p>}
              <Items of={received}>{(each) => <One key={keyOf(each)} grant={each} />}</Items>
            </Section>
          </>
        )}
      </Known>
      <Section title={WORDS.giveDeposit}>
        <p>{WORDS.depositRight}</p>
        <GiveDeposit />
      </Section>
      <Section title={WORDS.giveFees}>
        <p>{WORDS.feeRight}</p>
        <GiveFees />
      </Section>
    </>
  );
}

const keyOf = ({ kind, granter, grantee, right }: Given): string => `${kind}/${granter}/${grantee}/${typeOf(right)}`;

function One({ grant, isGiven = false }: { grant: Given; isGiven?: boolean }) {
  const { granter, grantee, right, expiration, kind } = grant;
  const type = typeOf(right);
  return (
    <article class="message">
      <h3>
        <Strange text={shortType(right?.typeUrl ?? "")} isName max={200} />
      </h3>
      <Facts
        rows={[
          [isGiven ? WORDS.to : WORDS.from, <Address key="other" text={isGiven ? grantee : granter} />],
          [WORDS.right, right === undefined ? undefined : <Json key="right" value={right.content} />],
          [WORDS.expires, expiration === undefined ? undefined : <Time key="ends" time={timestampDate(expiration)} />],
        ]}
      />
      {isGiven && kind === "fees" && (
        <Act
          label={WORDS.revoke}
          command={() => ["feegrant", "revoke", granter, grantee]}
          messages={() => [packAny(MsgRevokeAllowanceSchema, { granter, grantee })]}
        />
      )}
      {isGiven && kind === "messages" && type !== undefined && (
        <Act
          label={WORDS.revoke}
          command={() => ["authz", "revoke", grantee, type]}
          messages={() => [packAny(MsgRevokeSchema, { granter, grantee, msgTypeUrl: type })]}
        />
      )}
    </article>
  );
}

/** Messages that an authorization allows, by its type and, for a general one, by its content; undefined for unknown ones. */
function typeOf(right: ReadMessage | undefined): string | undefined {
  if (right === undefined) return undefined;
  const content = isObject(right.content) ? right.content : {};
  const name = shortType(right.typeUrl);
  if (name === "GenericAuthorization") return typeof content.msg === "string" ? content.msg : undefined;
  if (name === "StakeAuthorization") return STAKE_TYPES[String(content.authorization_type)];
  return TYPES[name];
}

const TYPES: Readonly<Record<string, string>> = {
  SendAuthorization: "/sdk.bank.v1beta1.MsgSend",
  DepositDeploymentAuthorization: "/svc.deployment.v1beta1.MsgDepositDeployment",
};
const STAKE_TYPES: Readonly<Record<string, string>> = {
  AUTHORIZATION_TYPE_DELEGATE: "/sdk.staking.v1beta1.MsgDelegate",
  AUTHORIZATION_TYPE_UNDELEGATE: "/sdk.staking.v1beta1.MsgUndelegate",
  AUTHORIZATION_TYPE_REDELEGATE: "/sdk.staking.v1beta1.MsgBeginRedelegate",
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The end of the last day that a form names; undefined for an empty field. Throws a sentence for anything else. */
function lastMoment(fields: FormData): Timestamp | undefined {
  const text = textOf(fields, "until");
  if (text === "") return undefined;
  const time = new Date(`${text}T23:59:59Z`);
  if (!DAY.test(text) || Number.isNaN(time.getTime())) throw new Error(WORDS.badDay);
  return timestampFromDate(time);
}

function mustGrantee(fields: FormData): string {
  const grantee = textOf(fields, "grantee");
  if (!isAddress(grantee) || grantee === wallet.peek()?.address) throw new Error(WORDS.badGrantee);
  return grantee;
}

/** Flags of the amount and of the end, as commands write them. */
function limits(fields: FormData): string[] {
  const until = textOf(fields, "until");
  return ["--spend-limit", amountWord(fields), ...(until === "" ? [] : ["--expiration", `${until}T23:59:59Z`])];
}

function GrantFields() {
  return (
    <>
      <Field name="grantee" label={WORDS.grantee} />
      <Field name="amount" label={t.wallet.amount} />
      <Field name="until" label={WORDS.until} isOptional />
    </>
  );
}

function GiveDeposit() {
  return (
    <Act
      label={WORDS.allowDeposits}
      command={(fields) => ["authz", "grant", textOf(fields, "grantee") || "ADDRESS", "deposit", ...limits(fields)]}
      messages={(granter, fields) => {
        const authorization = packAny(DepositDeploymentAuthorizationSchema, { spendLimit: mustCoin(fields) });
        const expiration = lastMoment(fields);
        const grant = { authorization, ...(expiration === undefined ? {} : { expiration }) };
        return [packAny(MsgGrantSchema, { granter, grantee: mustGrantee(fields), grant })];
      }}
    >
      <GrantFields />
    </Act>
  );
}

function GiveFees() {
  return (
    <Act
      label={WORDS.allowFees}
      command={(fields) => [
        ...["feegrant", "grant", wallet.peek()?.address ?? "", textOf(fields, "grantee") || "ADDRESS"],
        ...limits(fields),
      ]}
      messages={(granter, fields) => {
        const expiration = lastMoment(fields);
        const terms = { spendLimit: [mustCoin(fields)], ...(expiration === undefined ? {} : { expiration }) };
        const allowance = packAny(BasicAllowanceSchema, terms);
        return [packAny(MsgGrantAllowanceSchema, { granter, grantee: mustGrantee(fields), allowance })];
      }}
    >
      <GrantFields />
    </Act>
  );
}
