import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { genesisValidator, operatorAddress } from "../../../test/support/chain/index.ts";
import {
  type ModelRun,
  type ModelStep,
  modelSimulation,
  type Outcome,
} from "../../../test/support/simulation/model.ts";
import type { SimRandom } from "../../../test/support/simulation/operation.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { Query as AuthQuery } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { MsgDelegateSchema, MsgUndelegateSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import {
  MsgCreatePeriodicVestingAccountSchema,
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import {
  type BaseVestingAccount,
  ContinuousVestingAccountSchema,
  DelayedVestingAccountSchema,
  PeriodicVestingAccountSchema,
  PermanentLockedAccountSchema,
} from "../../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import { encodeAddress, unpackAs } from "../../wire/index.ts";

const SECOND = 1_000_000_000n;
const UNBONDING_SECONDS = 30n;
const GIVER = "giver";
const OPERATOR = "operator";
const HEIRS = ["even", "steps", "late", "never", "some", "more"];
const OTHER = "uother";
const NOT_BONDED = encodeAddress(moduleAddress("not_bonded_tokens_pool"));

/** Times in seconds. `steps` says how much comes free when; undefined for evenly between `start` and `end`. */
interface Plan {
  readonly original: Readonly<Record<string, bigint>>;
  readonly start: bigint;
  readonly end: bigint;
  readonly steps?: readonly { readonly at: bigint; readonly denom: string; readonly amount: bigint }[];
}

interface Heir {
  readonly plan: Plan;
  readonly balance: Record<string, bigint>;
  /** Delegated coins that were locked, and delegated coins that were free. */
  delegatedLocked: bigint;
  delegatedFree: bigint;
  unbonding: { readonly amount: bigint; readonly at: bigint }[];
}

/** Coins that have not come free, delegated or not. All lengths divide a power of ten, so there is nothing but halves to round. */
function unvested({ original, start, end, steps }: Plan, denom: string, now: bigint): bigint {
  const whole = original[denom] ?? 0n;
  if (steps !== undefined)
    return steps.reduce((left, step) => left - (step.denom === denom && step.at <= now ? step.amount : 0n), whole);
  if (now <= start) return whole;
  if (now >= end) return 0n;
  return whole - halfEven(whole * (now - start), end - start);
}

function halfEven(part: bigint, of: bigint): bigint {
  const [whole, twice] = [part / of, (part % of) * 2n];
  return twice > of || (twice === of && whole % 2n === 1n) ? whole + 1n : whole;
}

function locked(heir: Heir, denom: string, now: bigint): bigint {
  const left = unvested(heir.plan, denom, now) - (denom === NATIVE_DENOM ? heir.delegatedLocked : 0n);
  return left > 0n ? left : 0n;
}

function spendable(heir: Heir, denom: string, now: bigint): bigint {
  const free = (heir.balance[denom] ?? 0n) - locked(heir, denom, now);
  return free > 0n ? free : 0n;
}

interface Sim {
  readonly chain: TestChain;
  readonly random: SimRandom;
  readonly heirs: Map<string, Heir>;
  /** Seconds. */
  now(): bigint;
}

function start(random: SimRandom): ModelRun {
  const chain = vestingChain();
  const heirs = new Map<string, Heir>();
  const sim: Sim = { chain, random, heirs, now: () => chain.time / SECOND };
  return {
    chain,
    actors: () => [testKey(GIVER), ...HEIRS.filter((name) => heirs.has(name)).map(testKey)],
    plan: (from) => (from.name === GIVER ? found(sim) : live(sim, from)),
    end: () => {
      for (const heir of heirs.values()) complete(heir, sim.now());
    },
    compare: () => {
      for (const [name, heir] of heirs) compareHeir(sim, testKey(name), heir);
    },
  };
}

function vestingChain(): TestChain {
  const { validator, delegation } = genesisValidator(testKey(OPERATOR), 5_000_000n);
  const coins = (each: Readonly<Record<string, bigint>>) =>
    Object.entries(each).map(([denom, amount]) => ({ denom, amount: `${amount}` }));
  const wealth = { [OTHER]: 10n ** 9n, [NATIVE_DENOM]: 10n ** 12n };
  return testChain({
    accounts: [GIVER],
    genesis: {
      bank: {
        params: { default_send_enabled: true },
        balances: [
          { address: testKey(GIVER).address, coins: coins(wealth) },
          { address: NOT_BONDED, coins: coins({ [NATIVE_DENOM]: 5_000_000n }) },
        ],
      },
      staking: {
        params: {
          ...{ unbonding_time: `${UNBONDING_SECONDS}s`, max_validators: 5, max_entries: 100 },
          ...{ historical_entries: 0, bond_denom: NATIVE_DENOM, min_commission_rate: "0.000000000000000000" },
        },
        validators: [validator],
        delegations: [delegation],
      },
    },
  });
}

/** Gives a new account its coins; at times it exists already, or the end has passed. */
function found(sim: Sim): ModelStep {
  const { random, heirs, chain } = sim;
  const name = random.pick(HEIRS) ?? "";
  const pair = { fromAddress: testKey(GIVER).address, toAddress: testKey(name).address };
  const { plan, message, endsLater = false } = random.pick([evenly, inSteps, atOnce, forGood])(sim, pair);
  return {
    name: "found",
    message,
    apply: () => {
      const start = chain.time / SECOND;
      if (endsLater && plan.end <= start) return "vesting/2";
      if (heirs.has(name)) return "sdk/18";
      const balance = { ...plan.original };
      const begun = plan.steps === undefined ? { ...plan, start } : plan;
      heirs.set(name, { plan: begun, balance, delegatedLocked: 0n, delegatedFree: 0n, unbonding: [] });
      return "done";
    },
  };
}

interface Pair {
  readonly fromAddress: string;
  readonly toAddress: string;
}

/** A vesting schedule, and the message that creates the account. */
type Founding = (sim: Sim, pair: Pair) => FoundingAct;

interface FoundingAct {
  readonly plan: Plan;
  readonly message: ModelStep["message"];
  /** Whether the end must be behind the block. */
  readonly endsLater?: boolean;
}

const coinsOf = (each: Readonly<Record<string, bigint>>) =>
  [OTHER, NATIVE_DENOM].flatMap((denom) => {
    const amount = each[denom] ?? 0n;
    return amount === 0n ? [] : [{ denom, amount: `${amount}` }];
  });

function amounts({ random }: Sim): Record<string, bigint> {
  return { [OTHER]: BigInt(random.int(2) * random.int(900)), [NATIVE_DENOM]: BigInt(1 + random.int(5_000)) };
}

/** The end is known, the beginning is the time of the block: six seconds on. */
const evenly: Founding = (sim, pair) => {
  const original = amounts(sim);
  const endTime = sim.now() + 6n + sim.random.pick([0n, 1n, 8n, 50n, 320n, 400n]);
  const message = create(MsgCreateVestingAccountSchema, { ...pair, amount: coinsOf(original), endTime });
  return { plan: { original, start: 0n, end: endTime }, message, endsLater: true };
};

const atOnce: Founding = (sim, pair) => {
  const original = amounts(sim);
  const endTime = sim.now() + BigInt(1 + sim.random.int(90));
  const message = create(MsgCreateVestingAccountSchema, { ...pair, amount: coinsOf(original), endTime, delayed: true });
  const steps = Object.entries(original).map(([denom, amount]) => ({ at: endTime, denom, amount }));
  return { plan: { original, start: 0n, end: endTime, steps }, message, endsLater: true };
};

const forGood: Founding = (sim, pair) => {
  const original = amounts(sim);
  const message = create(MsgCreatePermanentLockedAccountSchema, { ...pair, amount: coinsOf(original) });
  return { plan: { original, start: 0n, end: 0n, steps: [] }, message };
};

/** It may have begun before now. */
const inSteps: Founding = (sim, pair) => {
  const { random } = sim;
  const start = sim.now() + BigInt(random.int(40) - 20);
  const periods = Array.from({ length: 1 + random.int(5) }, () => ({
    length: BigInt(1 + random.int(30)),
    amount: amounts(sim),
  }));
  const vestingPeriods = periods.map(({ length, amount }) => ({ length, amount: coinsOf(amount) }));
  let at = start;
  const steps = periods.flatMap(({ length, amount }) => {
    at += length;
    return Object.entries(amount).map(([denom, each]) => ({ at, denom, amount: each }));
  });
  const sum = (denom: string) => periods.reduce((total, { amount }) => total + (amount[denom] ?? 0n), 0n);
  const original = { [OTHER]: sum(OTHER), [NATIVE_DENOM]: sum(NATIVE_DENOM) };
  const message = create(MsgCreatePeriodicVestingAccountSchema, { ...pair, startTime: start, vestingPeriods });
  return { plan: { original, start, end: at, steps }, message };
};

/** An heir spends, delegates and takes back. */
function live(sim: Sim, from: TestKey): ModelStep | undefined {
  const heir = sim.heirs.get(from.name);
  if (heir === undefined) return undefined;
  return sim.random.pick([spend, spend, delegate, undelegate])(sim, from, heir);
}

type Living = (sim: Sim, from: TestKey, heir: Heir) => ModelStep;

/** Near the spendable amount, so that one more is too much. */
const spend: Living = (sim, { address }, heir) => {
  const denom = sim.random.int(3) === 0 ? OTHER : NATIVE_DENOM;
  const near = spendable(heir, denom, sim.now() + 6n);
  const amount = BigInt(sim.random.pick([1, 2, 40])) + (sim.random.int(3) === 0 ? near - 1n : 0n);
  const sent = amount > 0n ? amount : 1n;
  const coins = [{ denom, amount: `${sent}` }];
  return {
    name: "spend",
    message: create(MsgSendSchema, { fromAddress: address, toAddress: testKey(GIVER).address, amount: coins }),
    apply: () => {
      if (sent > spendable(heir, denom, sim.now())) return "sdk/5";
      heir.balance[denom] = (heir.balance[denom] ?? 0n) - sent;
      return "done";
    },
  };
};

const stake = (address: string, amount: bigint) => ({
  delegatorAddress: address,
  validatorAddress: operatorAddress(testKey(OPERATOR)),
  amount: { denom: NATIVE_DENOM, amount: `${amount}` },
});

/** Locked coins can be delegated, and are delegated first. */
const delegate: Living = (sim, { address }, heir) => {
  const amount = BigInt(1 + sim.random.int(2_000));
  return {
    name: "delegate",
    message: create(MsgDelegateSchema, stake(address, amount)),
    apply: () => {
      const held = heir.balance[NATIVE_DENOM] ?? 0n;
      if (held < amount) return "sdk/5";
      const left = locked(heir, NATIVE_DENOM, sim.now());
      const ofLocked = left < amount ? left : amount;
      heir.balance[NATIVE_DENOM] = held - amount;
      heir.delegatedLocked += ofLocked;
      heir.delegatedFree += amount - ofLocked;
      return "done";
    },
  };
};

const undelegate: Living = (sim, { address }, heir) => {
  const amount = BigInt(1 + sim.random.int(1_500));
  return {
    name: "undelegate",
    message: create(MsgUndelegateSchema, stake(address, amount)),
    apply: (): Outcome => {
      const waiting = heir.unbonding.reduce((sum, each) => sum + each.amount, 0n);
      const staked = heir.delegatedLocked + heir.delegatedFree - waiting;
      if (staked === 0n) return "staking/24";
      if (staked < amount) return "sdk/18";
      heir.unbonding.push({ amount, at: sim.now() + UNBONDING_SECONDS });
      return "done";
    },
  };
};

/** Free coins return before locked ones. */
function complete(heir: Heir, now: bigint): void {
  for (const { amount } of heir.unbonding.filter(({ at }) => at <= now)) {
    const ofFree = amount < heir.delegatedFree ? amount : heir.delegatedFree;
    heir.delegatedFree -= ofFree;
    heir.delegatedLocked -= amount - ofFree;
    heir.balance[NATIVE_DENOM] = (heir.balance[NATIVE_DENOM] ?? 0n) + amount;
  }
  heir.unbonding = heir.unbonding.filter(({ at }) => at > now);
}

function compareHeir({ chain, now }: Sim, { address, name }: TestKey, heir: Heir): void {
  for (const denom of [OTHER, NATIVE_DENOM]) {
    expect([name, chain.balance(address, denom)]).toEqual([name, heir.balance[denom] ?? 0n]);
    const { balance } = chain.query(BankQuery.method.spendableBalanceByDenom, { address, denom });
    expect([name, BigInt(balance?.amount ?? 0)]).toEqual([name, spendable(heir, denom, now())]);
  }
  const { delegatedFree = [], delegatedVesting = [] } = vestingOf(chain, address) ?? {};
  const amount = (coins: readonly { readonly amount: string }[]) => BigInt(coins[0]?.amount ?? 0);
  expect([name, amount(delegatedFree), amount(delegatedVesting)]).toEqual([
    ...[name, heir.delegatedFree, heir.delegatedLocked],
  ]);
}

function vestingOf(chain: TestChain, address: string): BaseVestingAccount | undefined {
  const { account } = chain.query(AuthQuery.method.account, { address });
  const kinds = [
    ContinuousVestingAccountSchema,
    DelayedVestingAccountSchema,
    PeriodicVestingAccountSchema,
    PermanentLockedAccountSchema,
  ];
  return kinds.map((kind) => unpackAs(kind, account)?.baseVestingAccount).find((found) => found !== undefined);
}

modelSimulation({
  name: "vesting",
  seed: 5004,
  blocks: 150,
  wanted: [
    ...["found: done", "found: sdk/18", "found: vesting/2", "spend: done", "spend: sdk/5", "delegate: done"],
    ...["delegate: sdk/5", "undelegate: done", "undelegate: sdk/18", "undelegate: staking/24"],
  ],
  start,
});
