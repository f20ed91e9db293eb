import { create } from "@bufbuild/protobuf";
import type { TestKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { MsgMultiSendSchema, MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
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
  MsgEditValidatorSchema,
  MsgUndelegateSchema,
} from "../../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { createValidatorMessage, operatorAddress } from "../chain/staking.ts";
import type { SimAction, SimOperation, Simulation } from "./operation.ts";

/** The accounts that operate validators and the accounts that hold coins. */
export interface StakeSimulation extends Simulation {
  readonly operators: readonly TestKey[];
  /** All who hold coins, the operators among them. */
  readonly holders: readonly TestKey[];
  /** Operators whose validators can no longer sign: their delegators leave first. */
  readonly retired?: readonly TestKey[];
  /** The account that acts; any of the holders unless given. */
  readonly sender?: TestKey;
}

type Build = (sim: StakeSimulation, from: TestKey) => SimAction["message"] | undefined;

const SIZES = [1n, 997n, 10_007n, 1_000_003n];

/** Everything that holders and operators do, each with its weight: some of it is refused. */
const BUILDS: readonly (readonly [name: string, weight: number, build: Build])[] = [
  ["become", 6, (sim, from) => createValidatorMessage(from, { amount: BigInt(coin(sim).amount) })],
  ["delegate", 20, (sim, from) => create(MsgDelegateSchema, toOne(sim, from))],
  ["unbond", 14, (sim, from) => create(MsgUndelegateSchema, toOne(sim, from))],
  ["leave", 6, leave],
  ["redelegate", 12, redelegate],
  ["cancel", 6, cancel],
  [
    "withdraw",
    12,
    (sim, from) =>
      create(MsgWithdrawDelegatorRewardSchema, { delegatorAddress: from.address, validatorAddress: validator(sim) }),
  ],
  [
    "commission",
    5,
    (_, from) => create(MsgWithdrawValidatorCommissionSchema, { validatorAddress: operatorAddress(from) }),
  ],
  [
    "address",
    3,
    (sim, from) =>
      create(MsgSetWithdrawAddressSchema, { delegatorAddress: from.address, withdrawAddress: holder(sim) }),
  ],
  ["fund", 2, (sim, from) => create(MsgFundCommunityPoolSchema, { depositor: from.address, amount: [coin(sim)] })],
  [
    "deposit",
    3,
    (sim, from) =>
      create(MsgDepositValidatorRewardsPoolSchema, {
        depositor: from.address,
        validatorAddress: validator(sim),
        amount: [coin(sim)],
      }),
  ],
  [
    "send",
    6,
    (sim, from) => create(MsgSendSchema, { fromAddress: from.address, toAddress: holder(sim), amount: [coin(sim)] }),
  ],
  ["send to many", 2, sendToMany],
  ["edit", 3, edit],
  ["unjail", 6, (_, from) => create(MsgUnjailSchema, { validatorAddr: operatorAddress(from) })],
];

export const stakeOperations: readonly SimOperation<StakeSimulation>[] = BUILDS.map(([name, weight, build]) => ({
  name,
  weight,
  build(sim) {
    const from = sim.sender ?? sim.random.pick(sim.holders);
    const message = from === undefined ? undefined : build(sim, from);
    return from === undefined || message === undefined ? undefined : { signer: from.address, message };
  },
}));

function validator({ random, operators }: StakeSimulation): string {
  const operator = random.pick(operators);
  return operator === undefined ? "" : operatorAddress(operator);
}

function holder({ random, holders }: StakeSimulation): string {
  return random.pick(holders)?.address ?? "";
}

function coin({ random }: Simulation): Pick<Coin, "denom" | "amount"> {
  return { denom: NATIVE_DENOM, amount: `${BigInt(1 + random.int(1000)) * (random.pick(SIZES) ?? 1n)}` };
}

function toOne(sim: StakeSimulation, { address }: TestKey) {
  return { delegatorAddress: address, validatorAddress: validator(sim), amount: coin(sim) };
}

/** An account's whole delegation to one validator, so that delegations and validators end too. */
function leave(sim: StakeSimulation, { address }: TestKey): SimAction["message"] | undefined {
  const { random, query, retired = [] } = sim;
  const asked = { delegatorAddr: address };
  const all = query(Query.method.delegatorDelegations, asked).delegationResponses;
  const over = new Set(retired.map(operatorAddress));
  const urgent = all.filter(({ delegation }) => over.has(delegation?.validatorAddress ?? ""));
  const found = random.pick(urgent.length > 0 ? urgent : all);
  if (found?.balance === undefined) return undefined;
  const validatorAddress = found.delegation?.validatorAddress ?? "";
  return create(MsgUndelegateSchema, { delegatorAddress: address, validatorAddress, amount: found.balance });
}

/** To some others and to oneself; at times the two sides differ. */
function sendToMany(sim: StakeSimulation, { address }: TestKey): SimAction["message"] {
  const { random } = sim;
  const outputs = Array.from({ length: 1 + random.int(4) }, () => ({ address: holder(sim), coins: [coin(sim)] }));
  const sum = outputs.reduce((total, { coins }) => total + BigInt(coins[0]?.amount ?? 0), 0n);
  const given = { denom: NATIVE_DENOM, amount: `${random.int(10) === 0 ? sum + 1n : sum}` };
  return create(MsgMultiSendSchema, { inputs: [{ address, coins: [given] }], outputs });
}

function edit({ random }: StakeSimulation, from: TestKey): SimAction["message"] {
  const keep = "[do-not-modify]";
  return create(MsgEditValidatorSchema, {
    description: { moniker: from.name, details: `${random.int(100)}`, identity: keep, website: keep },
    validatorAddress: operatorAddress(from),
    ...random.pick([{}, {}, { commissionRate: "120000000000000000" }, { commissionRate: "600000000000000000" }]),
    ...random.pick([{}, {}, { minSelfDelegation: "2" }, { minSelfDelegation: "1000" }]),
  });
}

function redelegate(sim: StakeSimulation, { address }: TestKey): SimAction["message"] {
  return create(MsgBeginRedelegateSchema, {
    delegatorAddress: address,
    validatorSrcAddress: validator(sim),
    validatorDstAddress: validator(sim),
    amount: coin(sim),
  });
}

function cancel(sim: StakeSimulation, { address }: TestKey): SimAction["message"] {
  const asked = { delegatorAddr: address };
  const [found] = sim.query(Query.method.delegatorUnbondingDelegations, asked).unbondingResponses;
  const [entry] = found?.entries ?? [];
  return create(MsgCancelUnbondingDelegationSchema, {
    delegatorAddress: address,
    validatorAddress: found?.validatorAddress ?? validator(sim),
    amount: entry === undefined ? coin(sim) : { denom: NATIVE_DENOM, amount: `${BigInt(entry.balance) / 2n + 1n}` },
    creationHeight: entry?.creationHeight ?? 1n,
  });
}
