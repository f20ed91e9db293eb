import { create } from "@bufbuild/protobuf";
import { type Any, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { moduleAddress } from "../../src/crypto/index.ts";
import type { TestKey } from "../../src/testing/index.ts";
import { GenericAuthorizationSchema } from "../../src/wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema, MsgRevokeSchema } from "../../src/wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../../src/wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { PubKeySchema } from "../../src/wire/gen/sdk/crypto/ed25519/keys_pb.js";
import {
  MsgCommunityPoolSpendSchema,
  MsgFundCommunityPoolSchema,
  MsgUpdateParamsSchema as MsgUpdateDistributionSchema,
  MsgWithdrawDelegatorRewardSchema,
  MsgWithdrawValidatorCommissionSchema,
} from "../../src/wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import {
  AllowedMsgAllowanceSchema,
  BasicAllowanceSchema,
  PeriodicAllowanceSchema,
} from "../../src/wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import {
  MsgGrantAllowanceSchema,
  MsgPruneAllowancesSchema,
  MsgRevokeAllowanceSchema,
} from "../../src/wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { type Params, type Proposal, ProposalStatus } from "../../src/wire/gen/sdk/gov/v1/gov_pb.js";
import {
  MsgCancelProposalSchema,
  MsgDepositSchema,
  MsgSubmitProposalSchema,
  MsgUpdateParamsSchema,
  MsgVoteSchema,
  MsgVoteWeightedSchema,
} from "../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { TextProposalSchema } from "../../src/wire/gen/sdk/gov/v1beta1/gov_pb.js";
import {
  MsgSubmitProposalSchema as OlderSubmitSchema,
  MsgVoteSchema as OlderVoteSchema,
} from "../../src/wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { MsgUnjailSchema } from "../../src/wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { AuthorizationType, StakeAuthorizationSchema } from "../../src/wire/gen/sdk/staking/v1beta1/authz_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCreateValidatorSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import {
  MsgCreatePeriodicVestingAccountSchema,
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../../src/wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { encodeAddress, fromNanos } from "../../src/wire/index.ts";
import { consensusKey, operatorAddress } from "../support/chain/index.ts";
import type { SimRandom } from "../support/simulation/operation.ts";
import { theirs } from "./simd-replay.ts";

/** View of the chain for random operations. */
export interface GovernedState {
  readonly random: SimRandom;
  /** Who signs. */
  readonly keys: readonly TestKey[];
  /** Operators of the validators; the first always votes on blocks. */
  readonly operators: readonly string[];
  readonly proposals: readonly Proposal[];
  readonly params: Params;
  /** Nanoseconds, close to the next block's time. */
  readonly now: bigint;
  /** Names of new accounts with locked coins. */
  readonly heirs: string[];
}

export interface Planned {
  readonly name: string;
  readonly messages: readonly Any[];
}

const SECOND = 1_000_000_000n;
export const GOV = encodeAddress(moduleAddress("gov"));
const TYPES = ["bank.v1beta1.MsgSend", "staking.v1beta1.MsgDelegate", "gov.v1.MsgVote"].map(
  (name) => `/cosmos.${name}`,
);

type Make = (state: GovernedState, from: TestKey) => Any | undefined;

const KINDS: readonly (readonly [name: string, weight: number, make: Make])[] = [
  ["submit", 9, submit],
  ["older submit", 2, olderSubmit],
  ["deposit", 7, deposit],
  ["vote", 16, vote],
  ["older vote", 2, olderVote],
  ["split vote", 6, splitVote],
  ["cancel proposal", 2, cancel],
  ["delegate", 5, (state, { address }) => theirs(MsgDelegateSchema, stake(state, address))],
  ["unbond", 4, (state, { address }) => theirs(MsgUndelegateSchema, stake(state, address))],
  ["redelegate", 4, redelegate],
  ["withdraw", 3, withdraw],
  ["fund", 2, (state, { address }) => theirs(MsgFundCommunityPoolSchema, { depositor: address, amount: coins(state) })],
  ["send", 4, send],
  ["grant", 7, grant],
  ["exec", 9, exec],
  ["revoke", 2, revoke],
  ["allow fees", 5, allow],
  ["revoke fees", 1, revokeFees],
  ["prune fees", 1, (_, { address }) => theirs(MsgPruneAllowancesSchema, { pruner: address })],
  ["lock", 2, lock],
];
export const KIND_NAMES = KINDS.map(([name]) => name);

/** One or, seldom, two messages of the account. */
export function planned(state: GovernedState, from: TestKey): Planned | undefined {
  const first = one(state, from);
  if (first === undefined || state.random.int(6) > 0) return first;
  const second = one(state, from);
  if (second === undefined) return first;
  return { name: `${first.name} + ${second.name}`, messages: [...first.messages, ...second.messages] };
}

function one(state: GovernedState, from: TestKey): Planned | undefined {
  let left = state.random.int(KINDS.reduce((sum, [, weight]) => sum + weight, 0));
  const found = KINDS.find(([, weight]) => {
    left -= weight;
    return left < 0;
  });
  const message = found?.[2](state, from);
  return found === undefined || message === undefined ? undefined : { name: found[0], messages: [message] };
}

/** Makes a validator that never votes on blocks, and is jailed for it. */
export function becomeValidator(key: TestKey, amount: bigint): Any {
  return theirs(MsgCreateValidatorSchema, {
    description: { moniker: key.name },
    commission: { rate: "100000000000000000", maxRate: "200000000000000000", maxChangeRate: "10000000000000000" },
    minSelfDelegation: "1",
    delegatorAddress: "",
    validatorAddress: operatorAddress(key),
    pubkey: theirs(PubKeySchema, { key: consensusKey(key.name) }),
    value: { denom: "stake", amount: `${amount}` },
  });
}

export function unjail(key: TestKey): Any {
  return theirs(MsgUnjailSchema, { validatorAddr: operatorAddress(key) });
}

function coins({ random }: GovernedState) {
  return [{ denom: "stake", amount: `${random.pick([1, 999, 1_234_567, 40_000_001]) + random.int(77)}` }];
}

function coin(state: GovernedState) {
  const [first] = coins(state);
  return first === undefined ? {} : { amount: first };
}

function deposits({ random }: GovernedState) {
  const amount = `${random.pick([99_999, 100_000, 3_333_333, 10_000_000, 10_000_000, 50_000_000])}`;
  const more = random.int(15) === 0 ? [{ denom: "uvec", amount: "7" }] : [];
  return [{ denom: "stake", amount }, ...more];
}

function somebody({ random, keys }: GovernedState): string {
  return random.pick(keys)?.address ?? "";
}

/** State-independent faults are refused here before a fee is paid, there in the block. */
function somebodyElse({ random, keys }: GovernedState, address: string): string {
  return random.pick(keys.filter((key) => key.address !== address))?.address ?? "";
}

function operator({ random, operators }: GovernedState): string {
  return (random.int(3) === 0 ? random.pick(operators) : operators[0]) ?? "";
}

function stake(state: GovernedState, delegatorAddress: string) {
  return { delegatorAddress, validatorAddress: operator(state), ...coin(state) };
}

function open({ random, proposals }: GovernedState): bigint {
  const status = [ProposalStatus.DEPOSIT_PERIOD, ProposalStatus.VOTING_PERIOD];
  const found = proposals.filter((each) => status.includes(each.status));
  const voting = found.filter((each) => each.status === ProposalStatus.VOTING_PERIOD);
  const [all, most] = [
    random.pick(proposals),
    random.pick(random.int(3) === 0 || voting.length === 0 ? found : voting),
  ];
  return (random.int(15) === 0 ? all : most)?.id ?? 1n;
}

function submit(state: GovernedState, { address }: TestKey) {
  const { random } = state;
  const messages = Array.from({ length: random.int(3) }, () => proposed(state));
  return theirs(MsgSubmitProposalSchema, {
    ...{ messages, initialDeposit: deposits(state), proposer: address, expedited: random.int(3) === 0 },
    ...{ title: "T", summary: "S", metadata: messages.length === 0 ? "M" : "" },
  });
}

/** Community money for an account, at times more than there is; other parameters. */
function proposed(state: GovernedState): Any {
  const { random, params } = state;
  const kind = random.int(6);
  if (kind <= 2) {
    const amount = kind === 0 ? [{ denom: "stake", amount: "999999999999999" }] : coins(state);
    return theirs(MsgCommunityPoolSpendSchema, { authority: GOV, recipient: somebody(state), amount });
  }
  if (kind === 3) {
    const change = {
      communityTax: random.pick(["20000000000000000", "123456789012345678"]),
      ...{ baseProposerReward: "0", bonusProposerReward: "0", withdrawAddrEnabled: true },
    };
    return theirs(MsgUpdateDistributionSchema, { authority: GOV, params: change });
  }
  const { $typeName: _, ...rest } = params;
  const changed = {
    ...rest,
    burnVoteQuorum: random.int(2) === 0,
    burnVoteVeto: random.int(3) > 0,
    burnProposalDepositPrevote: random.int(2) === 0,
    quorum: random.pick(["0.334000000000000000", "0.100000000000000000", "0.700000000000000000"]),
    proposalCancelRatio: random.pick(["0.333333333333333333", "0.500000000000000000"]),
  };
  return theirs(MsgUpdateParamsSchema, { authority: GOV, params: changed });
}

function olderSubmit(state: GovernedState, { address }: TestKey) {
  const content = theirs(TextProposalSchema, { title: "T", description: "D" });
  return theirs(OlderSubmitSchema, { content, initialDeposit: deposits(state), proposer: address });
}

function deposit(state: GovernedState, { address }: TestKey) {
  return theirs(MsgDepositSchema, { proposalId: open(state), depositor: address, amount: deposits(state) });
}

function vote(state: GovernedState, { address }: TestKey) {
  return theirs(MsgVoteSchema, { proposalId: open(state), voter: address, option: option(state) });
}

function olderVote(state: GovernedState, { address }: TestKey) {
  return theirs(OlderVoteSchema, { proposalId: open(state), voter: address, option: option(state) });
}

function option({ random }: GovernedState): number {
  return random.pick([1, 1, 1, 1, 1, 2, 3, 4]);
}

function splitVote(state: GovernedState, { address }: TestKey) {
  const weights = state.random.pick([
    ["0.3", "0.7"],
    ["0.333333333333333333", "0.666666666666666667"],
    ["0.25", "0.75"],
  ]);
  const options = weights.map((weight, i) => ({ option: i * 2 + 1, weight }));
  return theirs(MsgVoteWeightedSchema, { proposalId: open(state), voter: address, options });
}

function cancel(state: GovernedState, { address }: TestKey) {
  const own = state.proposals.filter(({ proposer }) => proposer === address).at(-1);
  return theirs(MsgCancelProposalSchema, { proposalId: own?.id ?? open(state), proposer: address });
}

function redelegate(state: GovernedState, { address }: TestKey) {
  return theirs(MsgBeginRedelegateSchema, {
    delegatorAddress: address,
    validatorSrcAddress: operator(state),
    validatorDstAddress: state.random.pick(state.operators) ?? "",
    ...coin(state),
  });
}

function withdraw(state: GovernedState, key: TestKey) {
  if (state.random.int(4) === 0)
    return theirs(MsgWithdrawValidatorCommissionSchema, { validatorAddress: operatorAddress(key) });
  return theirs(MsgWithdrawDelegatorRewardSchema, { delegatorAddress: key.address, validatorAddress: operator(state) });
}

function send(state: GovernedState, { address }: TestKey) {
  const [large] = [{ denom: "stake", amount: "900000000000" }];
  const amount = state.random.int(5) === 0 && large !== undefined ? [large] : coins(state);
  return theirs(MsgSendSchema, { fromAddress: address, toAddress: somebody(state), amount });
}

/** Seconds away, so that some end in the run; at times over before they begin. */
function end({ random, now }: GovernedState) {
  if (random.int(3) === 0) return {};
  if (random.int(10) === 0) return { expiration: create(TimestampSchema, fromNanos(now - 9n * SECOND)) };
  return { expiration: create(TimestampSchema, fromNanos(now + BigInt(2 + random.int(9)) * SECOND)) };
}

function grant(state: GovernedState, { address }: TestKey) {
  const authorization = authorizationOf(state);
  return theirs(MsgGrantSchema, {
    granter: address,
    grantee: somebodyElse(state, address),
    grant: { authorization, ...end(state) },
  });
}

function authorizationOf(state: GovernedState): Any {
  const { random, operators } = state;
  const kind = random.int(5);
  if (kind === 0) {
    const allowList = random.int(2) === 0 ? [] : [somebody(state)];
    return theirs(SendAuthorizationSchema, { spendLimit: coins(state), allowList });
  }
  if (kind === 1) {
    const address = [random.pick(operators) ?? ""];
    return theirs(StakeAuthorizationSchema, {
      ...(random.int(2) === 0 ? { maxTokens: { denom: "stake", amount: "2000000" } } : {}),
      validators: { case: random.int(4) === 0 ? "denyList" : "allowList", value: { address } },
      authorizationType: random.pick([AuthorizationType.DELEGATE, AuthorizationType.UNDELEGATE]),
    });
  }
  return theirs(GenericAuthorizationSchema, { msg: random.pick(TYPES) ?? "" });
}

/** For another account, at times nested in a further message. */
function exec(state: GovernedState, { address }: TestKey) {
  const { random, keys } = state;
  const sender = random.int(4) === 0 ? keys.find((key) => key.address === address) : random.pick(keys);
  if (sender === undefined) return undefined;
  const make = random.pick([
    send,
    send,
    vote,
    (w: GovernedState, k: TestKey) => theirs(MsgDelegateSchema, stake(w, k.address)),
  ]);
  const message = make(state, sender);
  const inner = random.int(5) === 0 ? theirs(MsgExecSchema, { grantee: address, msgs: [message] }) : message;
  return theirs(MsgExecSchema, { grantee: address, msgs: [inner] });
}

function revoke(state: GovernedState, { address }: TestKey) {
  const msgTypeUrl = state.random.pick(TYPES) ?? "";
  return theirs(MsgRevokeSchema, { granter: address, grantee: somebodyElse(state, address), msgTypeUrl });
}

function allow(state: GovernedState, { address }: TestKey) {
  const { random } = state;
  const allowance = allowanceOf(state);
  const some = theirs(AllowedMsgAllowanceSchema, { allowance, allowedMessages: TYPES });
  const chosen = random.int(3) === 0 ? some : allowance;
  return theirs(MsgGrantAllowanceSchema, {
    granter: address,
    grantee: somebodyElse(state, address),
    allowance: chosen,
  });
}

function allowanceOf(state: GovernedState): Any {
  const { random } = state;
  const spendLimit = random.int(2) === 0 ? [] : [{ denom: "stake", amount: `${random.pick([500, 1_100, 99_999])}` }];
  const basic = { spendLimit, ...end(state) };
  if (random.int(2) === 0) return theirs(BasicAllowanceSchema, basic);
  const limit = [{ denom: "stake", amount: `${random.pick([537, 1_200])}` }];
  const period = { seconds: BigInt(random.pick([1, 3])) };
  return theirs(PeriodicAllowanceSchema, { basic, period, periodSpendLimit: limit, periodCanSpend: limit });
}

function revokeFees(state: GovernedState, { address }: TestKey) {
  return theirs(MsgRevokeAllowanceSchema, { granter: address, grantee: somebodyElse(state, address) });
}

/** Coins that vest with time, for a new account, or refused for an existing one. */
function lock(state: GovernedState, { address }: TestKey) {
  const { random, now, heirs } = state;
  const to = random.int(4) === 0 ? somebody(state) : newHeir(heirs);
  const ends = { fromAddress: address, toAddress: to };
  const kind = random.int(3);
  const at = now / SECOND;
  if (kind === 0) return theirs(MsgCreatePermanentLockedAccountSchema, { ...ends, amount: coins(state) });
  if (kind === 1) {
    const endTime = at + BigInt(random.pick([120, 1_000, 50_000]));
    return theirs(MsgCreateVestingAccountSchema, {
      ...ends,
      amount: coins(state),
      endTime,
      delayed: random.int(2) === 0,
    });
  }
  const vestingPeriods = [1n, 7n, 400n].map((length) => ({ length, amount: coins(state) }));
  return theirs(MsgCreatePeriodicVestingAccountSchema, { ...ends, startTime: at, vestingPeriods });
}

function newHeir(heirs: string[]): string {
  const bytes = new Uint8Array(20).fill(heirs.length + 1);
  const address = encodeAddress(bytes);
  heirs.push(address);
  return address;
}
