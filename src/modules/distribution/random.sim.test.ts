import { create, type Message } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import type { Misbehavior } from "../../abci/index.ts";
import { consensusAddress } from "../../crypto/index.ts";
import {
  consensusKey,
  createValidatorMessage,
  operatorAddress,
  type TestChain,
  type TestKey,
  testChain,
  testKey,
} from "../../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  MsgDepositValidatorRewardsPoolSchema,
  MsgFundCommunityPoolSchema,
  MsgSetWithdrawAddressSchema,
  MsgWithdrawDelegatorRewardSchema,
  MsgWithdrawValidatorCommissionSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { MsgUnjailSchema } from "../../wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { Query } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";

/** A run with a given seed repeats with `STAKE_SIM_SEED`; further runs take the seeds behind it. */
const RUNS = Number(process.env.STAKE_SIM_RUNS ?? 1);
const BLOCKS = Number(process.env.STAKE_SIM_BLOCKS ?? 250);
const SEED = Number(process.env.STAKE_SIM_SEED ?? 811);

const OPERATORS = ["o1", "o2", "o3", "o4", "o5"];
/** Holders some or all of whose coins are locked: evenly freed, in periods, at one time and never. */
const LOCKED = ["even", "steps", "late", "never"];
const DELEGATORS = ["alice", "bob", "carol", "dave", ...LOCKED];

interface Random {
  int(below: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
}

/** One kind of thing that holders do, how often, and the message for it. */
type Operation = readonly [name: string, weight: number, build: (world: World, from: TestKey) => Message];

interface World {
  readonly chain: TestChain;
  readonly random: Random;
  operator(): string;
  coin(): { readonly denom: string; readonly amount: string };
}

const key = (chain: TestChain, names: readonly string[], random: Random): TestKey =>
  chain.key(names[random.int(names.length)] ?? "");

const OPERATIONS: readonly Operation[] = [
  ["become", 6, ({ coin }, from) => createValidatorMessage(from, { amount: BigInt(coin().amount) })],
  [
    "delegate",
    20,
    ({ operator, coin }, from) =>
      create(MsgDelegateSchema, { delegatorAddress: from.address, validatorAddress: operator(), amount: coin() }),
  ],
  [
    "unbond",
    14,
    ({ operator, coin }, from) =>
      create(MsgUndelegateSchema, { delegatorAddress: from.address, validatorAddress: operator(), amount: coin() }),
  ],
  [
    "redelegate",
    12,
    ({ operator, coin }, from) =>
      create(MsgBeginRedelegateSchema, {
        delegatorAddress: from.address,
        validatorSrcAddress: operator(),
        validatorDstAddress: operator(),
        amount: coin(),
      }),
  ],
  ["cancel", 6, cancel],
  [
    "withdraw",
    12,
    ({ operator }, from) =>
      create(MsgWithdrawDelegatorRewardSchema, { delegatorAddress: from.address, validatorAddress: operator() }),
  ],
  [
    "commission",
    5,
    (_, from) => create(MsgWithdrawValidatorCommissionSchema, { validatorAddress: operatorAddress(from) }),
  ],
  [
    "address",
    3,
    ({ chain, random }, from) =>
      create(MsgSetWithdrawAddressSchema, {
        delegatorAddress: from.address,
        withdrawAddress: key(chain, DELEGATORS, random).address,
      }),
  ],
  ["fund", 2, ({ coin }, from) => create(MsgFundCommunityPoolSchema, { depositor: from.address, amount: [coin()] })],
  [
    "deposit",
    3,
    ({ operator, coin }, from) =>
      create(MsgDepositValidatorRewardsPoolSchema, {
        depositor: from.address,
        validatorAddress: operator(),
        amount: [coin()],
      }),
  ],
  [
    "send",
    6,
    ({ chain, random, coin }, from) =>
      create(MsgSendSchema, {
        fromAddress: from.address,
        toAddress: key(chain, DELEGATORS, random).address,
        amount: [coin()],
      }),
  ],
  ["unjail", 6, (_, from) => create(MsgUnjailSchema, { validatorAddr: operatorAddress(from) })],
];

function cancel({ chain, coin, operator }: World, from: TestKey): Message {
  const asked = { delegatorAddr: from.address };
  const [found] = chain.query(Query.method.delegatorUnbondingDelegations, asked).unbondingResponses;
  const [entry] = found?.entries ?? [];
  return create(MsgCancelUnbondingDelegationSchema, {
    delegatorAddress: from.address,
    validatorAddress: found?.validatorAddress ?? operator(),
    amount: entry === undefined ? coin() : { denom: NATIVE_DENOM, amount: `${BigInt(entry.balance) / 2n + 1n}` },
    creationHeight: entry?.creationHeight ?? 1n,
  });
}

/** Everything is short: three validators, a minute of unbonding, a window of ten blocks, large penalties. */
function stakeChain(): TestChain {
  const none = "0.000000000000000000";
  return testChain({
    accounts: [...OPERATORS, ...DELEGATORS],
    genesis: {
      auth: { accounts: lockedAccounts() },
      staking: {
        params: {
          ...{ unbonding_time: "60s", max_validators: 3, max_entries: 2, historical_entries: 0 },
          ...{ bond_denom: NATIVE_DENOM, min_commission_rate: none },
        },
      },
      slashing: {
        params: {
          ...{ signed_blocks_window: "10", min_signed_per_window: "0.5", downtime_jail_duration: "30s" },
          ...{ slash_fraction_double_sign: "0.333333333333333333", slash_fraction_downtime: "0.0123456789" },
        },
      },
      mint: {
        minter: { inflation: "0.13", annual_provisions: "0" },
        params: {
          ...{ mint_denom: NATIVE_DENOM, inflation_rate_change: "0.13", inflation_max: "0.2", inflation_min: "0.07" },
          ...{ goal_bonded: "0.67", blocks_per_year: "6311520" },
        },
      },
    },
  });
}

/** All but a little of what they hold; the times are within those of a run. */
function lockedAccounts(): object[] {
  const start = 1_735_689_700n;
  const amount = [{ denom: NATIVE_DENOM, amount: `${10n ** 12n - 10n ** 6n}` }];
  const kinds = [
    ["ContinuousVestingAccount", 900n, { start_time: `${start}` }],
    ["PeriodicVestingAccount", 700n, { start_time: `${start}`, vesting_periods: [{ length: "700", amount }] }],
    ["DelayedVestingAccount", 500n, {}],
    ["PermanentLockedAccount", -start, {}],
  ] as const;
  return kinds.map(([kind, length, rest], i) => ({
    "@type": `/sdk.vesting.v1beta1.${kind}`,
    base_vesting_account: {
      base_account: { address: testKey(LOCKED[i] ?? "").address },
      original_vesting: amount,
      end_time: `${start + length}`,
    },
    ...rest,
  }));
}

function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  const int = (below: number): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
  return { int, pick: (list) => list[int(list.length)] ?? list[0] };
}

/** One of the operations, by weight. */
function draw(random: Random): Operation | undefined {
  let left = random.int(OPERATIONS.reduce((sum, [, weight]) => sum + weight, 0));
  return OPERATIONS.find(([, weight]) => {
    left -= weight;
    return left < 0;
  });
}

/** All invariants are checked behind every block. Returns how often each operation came out how. */
function simulate(chain: TestChain, seed: number, blocks: number): Map<string, number> {
  const random = makeRandom(seed);
  const outcomes = new Map<string, number>();
  const world: World = {
    chain,
    random,
    operator: () => operatorAddress(key(chain, OPERATORS, random)),
    coin: () => ({
      denom: NATIVE_DENOM,
      amount: `${BigInt(1 + random.int(1000)) * random.pick([1n, 997n, 10_007n, 1_000_003n])}`,
    }),
  };
  for (let block = 0; block < blocks; block++) {
    const names: string[] = [];
    const txs: Uint8Array[] = [];
    for (const name of [...OPERATORS, ...DELEGATORS].filter(() => random.int(3) === 0)) {
      const operation = draw(random);
      if (operation === undefined) continue;
      const fee = [{ denom: NATIVE_DENOM, amount: BigInt(1 + random.int(5000)) }];
      txs.push(chain.sign(operation[2](world, chain.key(name)), { from: chain.key(name), fee }));
      names.push(operation[0]);
    }
    if (random.int(6) === 0) toggleAbsence(chain, random);
    const results = chain.block(txs, random.int(60) === 0 ? [doubleSign(chain, random)] : []);
    results.forEach(({ code, codespace }, i) => {
      const outcome = `${names[i]}: ${code === 0 ? "done" : `${codespace}/${code}`}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    });
    for (const { type } of chain.blockEvents) outcomes.set(type, (outcomes.get(type) ?? 0) + 1);
  }
  return outcomes;
}

function toggleAbsence(chain: TestChain, random: Random): void {
  const id = toHex(consensusKey(OPERATORS[random.int(OPERATORS.length)] ?? ""));
  if (!chain.voters.absent.delete(id)) chain.voters.absent.add(id);
}

function doubleSign(chain: TestChain, random: Random): Misbehavior {
  const address = consensusAddress(consensusKey(OPERATORS[random.int(OPERATORS.length)] ?? ""));
  const height = chain.height - BigInt(random.int(5));
  return {
    kind: "duplicateVote",
    validator: { address, power: BigInt(1 + random.int(500)) },
    height: height < 1n ? 1n : height,
    time: chain.time,
    totalVotingPower: 1_000n,
  };
}

describe("random holders and operators", () => {
  it.each(Array.from({ length: RUNS }, (_, i) => SEED + i))(
    "never break an invariant, and the state comes back as it was, seed %d",
    { timeout: 600_000 },
    (seed) => {
      console.log(`stake simulation: seed ${seed}, ${BLOCKS} blocks`);
      const chain = stakeChain();
      const outcomes = simulate(chain, seed, BLOCKS);
      if (process.env.STAKE_SIM_VERBOSE !== undefined) console.log(outcomes);
      chain.exportTwice();
      if (BLOCKS < 250) return;
      const undone = OPERATIONS.filter(([name]) => !outcomes.has(`${name}: done`)).map(([name]) => name);
      expect(undone).toEqual([]);
      const wanted = ["slash", "liveness", "complete_unbonding", "complete_redelegation", "rewards"];
      expect(wanted.filter((type) => !outcomes.has(type))).toEqual([]);
    },
  );

  it("come to the same state from the same seed", { timeout: 120_000 }, () => {
    const hash = (): string => {
      const chain = stakeChain();
      simulate(chain, SEED + 1, 25);
      return toHex(chain.app.info().lastBlockAppHash);
    };
    expect(hash()).toBe(hash());
  });
});
