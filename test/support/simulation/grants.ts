import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type TestKey, toAny } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { GenericAuthorizationSchema } from "../../../src/wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { Query as AuthzQuery } from "../../../src/wire/gen/sdk/authz/v1beta1/query_pb.js";
import { MsgExecSchema, MsgGrantSchema, MsgRevokeSchema } from "../../../src/wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  AllowedMsgAllowanceSchema,
  BasicAllowanceSchema,
  PeriodicAllowanceSchema,
} from "../../../src/wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { Query as FeegrantQuery } from "../../../src/wire/gen/sdk/feegrant/v1beta1/query_pb.js";
import {
  MsgGrantAllowanceSchema,
  MsgPruneAllowancesSchema,
  MsgRevokeAllowanceSchema,
} from "../../../src/wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { MsgVoteSchema } from "../../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { AuthorizationType, StakeAuthorizationSchema } from "../../../src/wire/gen/sdk/staking/v1beta1/authz_pb.js";
import { MsgDelegateSchema, MsgUndelegateSchema } from "../../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { type Any, fromNanos, packAny, typeUrlOf } from "../../../src/wire/index.ts";
import { operatorAddress } from "../chain/index.ts";
import { govOperations } from "./gov.ts";
import { pickOperation, type SimAction, type SimOperation } from "./operation.ts";
import { type StakeSimulation, stakeOperations } from "./stake.ts";

/** People who act for others and pay for others. */
export interface GrantSimulation extends StakeSimulation {
  /** Time of the last block, in nanoseconds. */
  time(): bigint;
}

type Build = (sim: GrantSimulation, from: TestKey) => SimAction["message"] | undefined;

const SECOND = 1_000_000_000n;
/** Few accounts receive grants, so that grants meet messages. */
const FRIENDS = 12;
const AMOUNTS = [7n, 5_000n, 60_000n, 10_000_000n];
/** Messages that can be granted. */
const TYPES = [MsgSendSchema, MsgDelegateSchema, MsgVoteSchema, MsgExecSchema];
const CARRIED = [...stakeOperations, ...govOperations];

const BUILDS: readonly (readonly [name: string, weight: number, build: Build])[] = [
  ["grant", 6, grant],
  ["exec", 14, exec],
  ["exec of all", 3, execAll],
  ["revoke", 2, revoke],
  ["allow fees", 5, allow],
  ["revoke fees", 2, revokeFees],
  ["prune fees", 1, (_, { address }) => create(MsgPruneAllowancesSchema, { pruner: address })],
];

/** Everything that people do about acting and paying for others; some of it is refused. */
export const grantOperations: readonly SimOperation<GrantSimulation>[] = BUILDS.map(([name, weight, build]) => ({
  name,
  weight,
  build(sim) {
    const from = sim.sender ?? (sim.random.int(3) > 0 ? friend(sim) : sim.random.pick(sim.holders));
    const message = from === undefined ? undefined : build(sim, from);
    return from === undefined || message === undefined ? undefined : { signer: from.address, message };
  },
}));

/** An account that has granted this one an allowance for fees. */
export function payerFor({ random, query }: GrantSimulation, grantee: string): string | undefined {
  return random.pick(query(FeegrantQuery.method.allowances, { grantee }).allowances)?.granter;
}

function friend({ random, holders }: GrantSimulation): TestKey | undefined {
  return random.pick(holders.slice(0, FRIENDS));
}

function coins({ random }: GrantSimulation) {
  return [{ denom: NATIVE_DENOM, amount: `${(random.pick(AMOUNTS) ?? 1n) + BigInt(random.int(9))}` }];
}

/** Mostly some blocks away; at times there is none, or it is already over. */
function end({ random, time }: GrantSimulation) {
  if (random.int(8) === 0) return {};
  return { expiration: create(TimestampSchema, fromNanos(time() + BigInt(random.int(120)) * SECOND)) };
}

function grant(sim: GrantSimulation, { address }: TestKey) {
  const grantee = friend(sim)?.address ?? "";
  return create(MsgGrantSchema, {
    granter: address,
    grantee,
    grant: { authorization: authorization(sim), ...end(sim) },
  });
}

function authorization(sim: GrantSimulation): Any {
  const { random, holders, operators } = sim;
  const kind = random.int(4);
  if (kind === 0) {
    const allowList = random.int(2) === 0 ? [] : [random.pick(holders)?.address ?? ""];
    return packAny(SendAuthorizationSchema, { spendLimit: coins(sim), allowList });
  }
  if (kind === 1) {
    const address = operators.slice(0, 3).map(operatorAddress);
    const [maxTokens] = random.int(2) === 0 ? coins(sim) : [];
    return packAny(StakeAuthorizationSchema, {
      ...(maxTokens === undefined ? {} : { maxTokens }),
      validators: { case: random.int(4) === 0 ? "denyList" : "allowList", value: { address } },
      authorizationType: random.pick([AuthorizationType.DELEGATE, AuthorizationType.UNDELEGATE]),
    });
  }
  return packAny(GenericAuthorizationSchema, { msg: typeUrlOf(random.pick(TYPES) ?? MsgSendSchema) });
}

/** A granted message, at times inside a further one. */
function exec(sim: GrantSimulation, { address }: TestKey) {
  const { random, query, holders } = sim;
  const granted = random.pick(query(AuthzQuery.method.granteeGrants, { grantee: address }).grants);
  const other = random.int(8) === 0 ? random.pick(holders)?.address : undefined;
  const sender = holders.find((key) => key.address === (other ?? granted?.granter ?? address));
  if (sender === undefined) return undefined;
  const message = fitting(sim, sender, granted?.authorization);
  const inner = random.int(5) === 0 ? create(MsgExecSchema, { grantee: address, msgs: [message] }) : undefined;
  return create(MsgExecSchema, { grantee: address, msgs: [inner === undefined ? message : toAny(inner)] });
}

/** A message that the authorization covers; any if it does not say. */
function fitting(sim: GrantSimulation, { address }: TestKey, authorization: Any | undefined): Any {
  const { random, holders, operators } = sim;
  const [amount] = coins(sim);
  const operator = random.pick(operators.slice(0, 4));
  const stake = {
    delegatorAddress: address,
    validatorAddress: operator === undefined ? "" : operatorAddress(operator),
  };
  const kind = authorization?.typeUrl ?? "";
  if (kind === typeUrlOf(StakeAuthorizationSchema))
    return packAny(random.int(2) === 0 ? MsgDelegateSchema : MsgUndelegateSchema, {
      ...stake,
      ...(amount && { amount }),
    });
  if (kind === typeUrlOf(SendAuthorizationSchema) || random.int(2) === 0) {
    const toAddress = random.pick(holders)?.address ?? "";
    return packAny(MsgSendSchema, { fromAddress: address, toAddress, amount: coins(sim) });
  }
  return packAny(MsgDelegateSchema, { ...stake, ...(amount && { amount }) });
}

/** Several messages at once, other accounts' and one's own. */
function execAll(sim: GrantSimulation, { address }: TestKey) {
  const { random, holders } = sim;
  const msgs = Array.from({ length: random.int(4) }, () => {
    const sender = random.int(3) === 0 ? random.pick(holders) : holders.find((key) => key.address === address);
    const action = pickOperation(CARRIED, random)?.build(sender === undefined ? sim : { ...sim, sender });
    return action === undefined ? [] : [toAny(action.message)];
  });
  return create(MsgExecSchema, { grantee: address, msgs: msgs.flat() });
}

function revoke(sim: GrantSimulation, { address }: TestKey) {
  const { random, query } = sim;
  const found = random.pick(query(AuthzQuery.method.granterGrants, { granter: address }).grants);
  const msgTypeUrl = typeUrlOf(random.pick(TYPES) ?? MsgSendSchema);
  return create(MsgRevokeSchema, {
    granter: address,
    grantee: found?.grantee ?? friend(sim)?.address ?? "",
    msgTypeUrl,
  });
}

function allow(sim: GrantSimulation, { address }: TestKey) {
  const grantee = friend(sim)?.address ?? "";
  const allowance = allowanceOf(sim);
  const some = packAny(AllowedMsgAllowanceSchema, { allowance, allowedMessages: TYPES.map((type) => typeUrlOf(type)) });
  return create(MsgGrantAllowanceSchema, {
    ...{ granter: address, grantee, allowance: sim.random.int(3) === 0 ? some : allowance },
  });
}

function allowanceOf(sim: GrantSimulation): Any {
  const { random } = sim;
  const basic = { spendLimit: random.int(2) === 0 ? [] : coins(sim), ...end(sim) };
  if (random.int(2) === 0) return packAny(BasicAllowanceSchema, basic);
  const limit = coins(sim);
  const period = { seconds: BigInt(random.pick([6, 13, 60])) };
  return packAny(PeriodicAllowanceSchema, { basic, period, periodSpendLimit: limit, periodCanSpend: limit });
}

function revokeFees(sim: GrantSimulation, { address }: TestKey) {
  const { random, query } = sim;
  const found = random.pick(query(FeegrantQuery.method.allowancesByGranter, { granter: address }).allowances);
  return create(MsgRevokeAllowanceSchema, {
    granter: address,
    grantee: found?.grantee ?? friend(sim)?.address ?? "",
  });
}
