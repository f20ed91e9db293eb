import { create } from "@bufbuild/protobuf";
import type { TestKey } from "../../../src/testing/index.ts";
import { createValidatorMessage, operatorAddress } from "../../../src/testing/staking.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import type { Coin } from "../../../src/wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  MsgDepositValidatorRewardsPoolSchema,
  MsgFundCommunityPoolSchema,
  MsgSetWithdrawAddressSchema,
  MsgWithdrawDelegatorRewardSchema,
  MsgWithdrawValidatorCommissionSchema,
} from "../../../src/wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { MsgUnjailSchema } from "../../../src/wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { Query } from "../../../src/wire/gen/sdk/staking/v1beta1/query_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import type { SimAction, SimOperation, SimWorld } from "./operation.ts";

/** The accounts that operate validators and those that hold coins. */
export interface StakeSimWorld extends SimWorld {
  readonly operators: readonly TestKey[];
  /** All who hold coins, the operators among them. */
  readonly holders: readonly TestKey[];
  /** Operators whose validators can no longer sign: their delegators leave first. */
  readonly retired?: readonly TestKey[];
  /** The account that acts; any of the holders unless given. */
  readonly sender?: TestKey;
}

type Build = (world: StakeSimWorld, from: TestKey) => SimAction["message"] | undefined;

const SIZES = [1n, 997n, 10_007n, 1_000_003n];

/** Everything that holders and operators do, each with its weight: some of it is refused. */
const BUILDS: readonly (readonly [name: string, weight: number, build: Build])[] = [
  ["become", 6, (world, from) => createValidatorMessage(from, { amount: BigInt(coin(world).amount) })],
  ["delegate", 20, (world, from) => create(MsgDelegateSchema, toOne(world, from))],
  ["unbond", 14, (world, from) => create(MsgUndelegateSchema, toOne(world, from))],
  ["leave", 6, leave],
  ["redelegate", 12, redelegate],
  ["cancel", 6, cancel],
  [
    "withdraw",
    12,
    (world, from) =>
      create(MsgWithdrawDelegatorRewardSchema, { delegatorAddress: from.address, validatorAddress: validator(world) }),
  ],
  [
    "commission",
    5,
    (_, from) => create(MsgWithdrawValidatorCommissionSchema, { validatorAddress: operatorAddress(from) }),
  ],
  [
    "address",
    3,
    (world, from) =>
      create(MsgSetWithdrawAddressSchema, { delegatorAddress: from.address, withdrawAddress: holder(world) }),
  ],
  ["fund", 2, (world, from) => create(MsgFundCommunityPoolSchema, { depositor: from.address, amount: [coin(world)] })],
  [
    "deposit",
    3,
    (world, from) =>
      create(MsgDepositValidatorRewardsPoolSchema, {
        depositor: from.address,
        validatorAddress: validator(world),
        amount: [coin(world)],
      }),
  ],
  [
    "send",
    6,
    (world, from) =>
      create(MsgSendSchema, { fromAddress: from.address, toAddress: holder(world), amount: [coin(world)] }),
  ],
  ["unjail", 6, (_, from) => create(MsgUnjailSchema, { validatorAddr: operatorAddress(from) })],
];

export const stakeOperations: readonly SimOperation<StakeSimWorld>[] = BUILDS.map(([name, weight, build]) => ({
  name,
  weight,
  build(world) {
    const from = world.sender ?? world.random.pick(world.holders);
    const message = from === undefined ? undefined : build(world, from);
    return from === undefined || message === undefined ? undefined : { signer: from.address, message };
  },
}));

function validator({ random, operators }: StakeSimWorld): string {
  const operator = random.pick(operators);
  return operator === undefined ? "" : operatorAddress(operator);
}

function holder({ random, holders }: StakeSimWorld): string {
  return random.pick(holders)?.address ?? "";
}

function coin({ random }: SimWorld): Pick<Coin, "denom" | "amount"> {
  return { denom: NATIVE_DENOM, amount: `${BigInt(1 + random.int(1000)) * (random.pick(SIZES) ?? 1n)}` };
}

function toOne(world: StakeSimWorld, { address }: TestKey) {
  return { delegatorAddress: address, validatorAddress: validator(world), amount: coin(world) };
}

/** Everything that somebody has delegated to one validator, so that delegations and validators end too. */
function leave(world: StakeSimWorld, { address }: TestKey): SimAction["message"] | undefined {
  const { random, query, retired = [] } = world;
  const asked = { delegatorAddr: address };
  const all = query(Query.method.delegatorDelegations, asked).delegationResponses;
  const over = new Set(retired.map(operatorAddress));
  const urgent = all.filter(({ delegation }) => over.has(delegation?.validatorAddress ?? ""));
  const found = random.pick(urgent.length > 0 ? urgent : all);
  if (found?.balance === undefined) return undefined;
  const validatorAddress = found.delegation?.validatorAddress ?? "";
  return create(MsgUndelegateSchema, { delegatorAddress: address, validatorAddress, amount: found.balance });
}

function redelegate(world: StakeSimWorld, { address }: TestKey): SimAction["message"] {
  return create(MsgBeginRedelegateSchema, {
    delegatorAddress: address,
    validatorSrcAddress: validator(world),
    validatorDstAddress: validator(world),
    amount: coin(world),
  });
}

function cancel(world: StakeSimWorld, { address }: TestKey): SimAction["message"] {
  const asked = { delegatorAddr: address };
  const [found] = world.query(Query.method.delegatorUnbondingDelegations, asked).unbondingResponses;
  const [entry] = found?.entries ?? [];
  return create(MsgCancelUnbondingDelegationSchema, {
    delegatorAddress: address,
    validatorAddress: found?.validatorAddress ?? validator(world),
    amount: entry === undefined ? coin(world) : { denom: NATIVE_DENOM, amount: `${BigInt(entry.balance) / 2n + 1n}` },
    creationHeight: entry?.creationHeight ?? 1n,
  });
}
