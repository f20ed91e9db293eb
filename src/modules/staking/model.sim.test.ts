import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { createValidatorMessage, operatorAddress } from "../../../test/support/chain/index.ts";
import {
  type ModelRun,
  type ModelStep,
  modelSimulation,
  type Outcome,
} from "../../../test/support/simulation/model.ts";
import type { SimRandom } from "../../../test/support/simulation/operation.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { MsgUnjailSchema } from "../../wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { Query } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import {
  BondStatus,
  type RedelegationEntry,
  type UnbondingDelegationEntry,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { toNanos } from "../../wire/index.ts";

const OPERATORS = ["o1", "o2", "o3", "o4"];
const DELEGATORS = ["alice", "bob", "carol"];
const HELD = 10n ** 12n;
const POWER = 1_000_000n;
const [SEATS, MOST_ENTRIES, UNBONDING] = [2, 2, 54_000_000_000n];

type Status = "unbonded" | "unbonding" | "bonded";

/** There is no slashing here, so a share is a token. */
interface Validator {
  readonly operator: TestKey;
  readonly minimum: bigint;
  readonly stakes: Map<string, bigint>;
  status: Status;
  jailed: boolean;
  /** When it is unbonded, and since when it is unbonding. */
  free: bigint;
  since: bigint;
}

interface Entry {
  readonly delegator: string;
  readonly from: string;
  /** Destination of a redelegation. */
  readonly to?: string;
  readonly height: bigint;
  readonly end: bigint;
  amount: bigint;
}

/** The whole of it in lists that are walked. */
class Stake {
  readonly balances = new Map<string, bigint>();
  validators: Validator[] = [];
  unbondings: Entry[] = [];
  redelegations: Entry[] = [];

  find(operator: string): Validator | undefined {
    return this.validators.find((each) => each.operator.name === operator);
  }

  pay(name: string, amount: bigint): boolean {
    const held = this.balances.get(name) ?? 0n;
    if (held < amount) return false;
    this.balances.set(name, held - amount);
    return true;
  }

  /** An operator that keeps too little is jailed; a validator without stakes leaves when it is unbonded. */
  take(validator: Validator, delegator: string, amount: bigint): void {
    const left = (validator.stakes.get(delegator) ?? 0n) - amount;
    if (left === 0n) validator.stakes.delete(delegator);
    else validator.stakes.set(delegator, left);
    if (delegator === validator.operator.name && left < validator.minimum) validator.jailed = true;
    if (validator.status === "unbonded") this.leaveIfEmpty(validator);
  }

  leaveIfEmpty(validator: Validator): void {
    if (validator.stakes.size === 0) this.validators = this.validators.filter((each) => each !== validator);
  }

  /** End of the block: the strongest have the seats, and due entries are paid. */
  end(now: bigint, height: bigint): void {
    const seated = this.validators
      .filter(({ jailed }) => !jailed)
      .sort(stronger)
      .slice(0, SEATS);
    const strong = seated.filter((each) => tokens(each) >= POWER);
    for (const each of this.validators) {
      if (strong.includes(each)) each.status = "bonded";
      else if (each.status === "bonded")
        Object.assign(each, { status: "unbonding", free: now + UNBONDING, since: height });
    }
    for (const each of this.validators.filter(({ status, free }) => status === "unbonding" && free <= now)) {
      each.status = "unbonded";
      this.leaveIfEmpty(each);
    }
    for (const { delegator, amount } of this.unbondings.filter(({ end }) => end <= now)) this.pay(delegator, -amount);
    this.unbondings = this.unbondings.filter(({ end }) => end > now);
    this.redelegations = this.redelegations.filter(({ end }) => end > now);
  }
}

function tokens({ stakes }: Validator): bigint {
  return [...stakes.values()].reduce((sum, each) => sum + each, 0n);
}

/** Whole units of power count; among equals the lower address comes first. */
function stronger(a: Validator, b: Validator): number {
  const [left, right] = [tokens(a) / POWER, tokens(b) / POWER];
  if (left !== right) return left > right ? -1 : 1;
  return Buffer.compare(a.operator.bytes, b.operator.bytes);
}

interface Sim {
  readonly chain: TestChain;
  readonly random: SimRandom;
  readonly stake: Stake;
}

type Plan = (sim: Sim, from: TestKey) => ModelStep;

function start(random: SimRandom): ModelRun {
  const chain = testChain({
    accounts: [...OPERATORS, ...DELEGATORS],
    genesis: {
      staking: {
        params: {
          ...{ unbonding_time: "54s", max_validators: SEATS, max_entries: MOST_ENTRIES, historical_entries: 0 },
          ...{ bond_denom: NATIVE_DENOM, min_commission_rate: "0.000000000000000000" },
        },
      },
    },
  });
  const stake = new Stake();
  const keys = [...OPERATORS, ...DELEGATORS].map(testKey);
  for (const { name } of keys) stake.balances.set(name, HELD);
  const sim: Sim = { chain, random, stake };
  return {
    chain,
    actors: () => keys,
    plan: (from) => planOf(sim, from)(sim, from),
    end: () => stake.end(chain.time, chain.height),
    compare: () => compare(sim, keys),
  };
}

function planOf({ random, stake }: Sim, from: TestKey): Plan {
  if (!OPERATORS.includes(from.name))
    return random.pick([delegate, delegate, undelegate, redelegate, redelegate, cancel]);
  if (stake.find(from.name) === undefined) return become;
  return random.pick([become, delegate, undelegate, undelegate, unjail, unjail, redelegate]);
}

/** Some units of power, or all but a little or all that is staked. */
function amountOf({ random }: Sim, staked: bigint): bigint {
  const short = BigInt(random.int(2));
  if (staked > short && random.int(3) === 0) return staked - short;
  return BigInt(1 + random.int(2)) * POWER - short;
}

const someOperator = ({ random }: Sim) => testKey(random.pick(OPERATORS) ?? "");

/** Mostly one to which an account has delegated. */
function ownOperator(sim: Sim, { name }: TestKey): TestKey {
  const own = sim.stake.validators.filter(({ stakes }) => stakes.has(name));
  return sim.random.int(5) === 0 ? someOperator(sim) : (sim.random.pick(own)?.operator ?? someOperator(sim));
}

const coin = (amount: bigint) => ({ denom: NATIVE_DENOM, amount: `${amount}` });

const become: Plan = (sim, operator) => {
  const { random, stake } = sim;
  const [amount, minimum] = [BigInt(2 + random.int(2)) * POWER, BigInt(random.pick([1, 1_500_000]))];
  return {
    name: "become",
    message: createValidatorMessage(operator, { amount, minSelfDelegation: minimum }),
    apply: () => {
      if (stake.find(operator.name) !== undefined) return "staking/5";
      if (!stake.pay(operator.name, amount)) return "sdk/5";
      const stakes = new Map([[operator.name, amount]]);
      stake.validators.push({ operator, minimum, stakes, status: "unbonded", jailed: false, free: 0n, since: 0n });
      return "done";
    },
  };
};

const delegate: Plan = (sim, from) => {
  const operator = someOperator(sim);
  const amount = sim.random.int(12) === 0 ? HELD : amountOf(sim, 0n);
  const message = { delegatorAddress: from.address, validatorAddress: operatorAddress(operator), amount: coin(amount) };
  return {
    name: "delegate",
    message: create(MsgDelegateSchema, message),
    apply: () => {
      const validator = sim.stake.find(operator.name);
      if (validator === undefined) return "staking/4";
      if (!sim.stake.pay(from.name, amount)) return "sdk/5";
      validator.stakes.set(from.name, (validator.stakes.get(from.name) ?? 0n) + amount);
      return "done";
    },
  };
};

/** The reason against taking an amount out of a delegation, if any. */
function refusal(stake: Stake, from: TestKey, [operator, amount]: readonly [TestKey, bigint]): Outcome {
  const validator = stake.find(operator.name);
  if (validator === undefined) return "staking/4";
  const held = validator.stakes.get(from.name);
  if (held === undefined) return "staking/24";
  return held < amount ? "sdk/18" : "done";
}

const undelegate: Plan = (sim, from) => {
  const { stake, chain } = sim;
  const operator = ownOperator(sim, from);
  const amount = amountOf(sim, stake.find(operator.name)?.stakes.get(from.name) ?? 0n);
  const message = { delegatorAddress: from.address, validatorAddress: operatorAddress(operator), amount: coin(amount) };
  return {
    name: "undelegate",
    message: create(MsgUndelegateSchema, message),
    apply: () => {
      const refused = refusal(stake, from, [operator, amount]);
      const validator = stake.find(operator.name);
      if (refused !== "done" || validator === undefined) return refused;
      const waiting = stake.unbondings.filter((each) => each.delegator === from.name && each.from === operator.name);
      if (waiting.length >= MOST_ENTRIES) return "staking/34";
      const end = chain.time + UNBONDING;
      stake.unbondings.push({ delegator: from.name, from: operator.name, height: chain.height, end, amount });
      stake.take(validator, from.name, amount);
      return "done";
    },
  };
};

const redelegate: Plan = (sim, from) => {
  const { stake } = sim;
  const [source, target] = [ownOperator(sim, from), someOperator(sim)];
  const amount = amountOf(sim, stake.find(source.name)?.stakes.get(from.name) ?? 0n);
  return {
    name: "redelegate",
    message: create(MsgBeginRedelegateSchema, {
      delegatorAddress: from.address,
      validatorSrcAddress: operatorAddress(source),
      validatorDstAddress: operatorAddress(target),
      amount: coin(amount),
    }),
    apply: () => {
      const refused = refusal(stake, from, [source, amount]);
      if (refused !== "done") return refused;
      if (source === target) return "staking/37";
      if (stake.find(target.name) === undefined) return "staking/39";
      return move(sim, { delegator: from.name, from: source.name, to: target.name, amount });
    },
  };
};

function move({ stake, chain }: Sim, moved: { delegator: string; from: string; to: string; amount: bigint }): Outcome {
  const { delegator, from, to, amount } = moved;
  const own = stake.redelegations.filter((each) => each.delegator === delegator);
  if (own.some((each) => each.to === from)) return "staking/40";
  if (own.filter((each) => each.from === from && each.to === to).length >= MOST_ENTRIES) return "staking/41";
  const [source, target] = [stake.find(from), stake.find(to)];
  if (source === undefined || target === undefined) return "staking/4";
  const { status } = source;
  stake.take(source, delegator, amount);
  target.stakes.set(delegator, (target.stakes.get(delegator) ?? 0n) + amount);
  if (status === "bonded") stake.redelegations.push({ ...moved, height: chain.height, end: chain.time + UNBONDING });
  else if (status === "unbonding") stake.redelegations.push({ ...moved, height: source.since, end: source.free });
  else if (stake.find(from) === undefined)
    stake.redelegations.push({ ...moved, height: chain.height, end: chain.time + UNBONDING });
  return "done";
}

/** Cancels an unbonding that began some blocks ago, or one that never did. */
const cancel: Plan = (sim, from) => {
  const { stake, random, chain } = sim;
  const own = stake.unbondings.filter((each) => each.delegator === from.name);
  const entry = random.pick(own);
  const [operator, height] = [entry?.from ?? someOperator(sim).name, entry?.height ?? chain.height];
  const amount =
    entry === undefined || random.int(5) === 0 ? 5n * POWER : (entry.amount + 1n) / BigInt(1 + random.int(2));
  return {
    name: "cancel",
    message: create(MsgCancelUnbondingDelegationSchema, {
      delegatorAddress: from.address,
      validatorAddress: operatorAddress(testKey(operator)),
      amount: coin(amount),
      creationHeight: height,
    }),
    apply: () => {
      const validator = stake.find(operator);
      if (validator === undefined) return "staking/4";
      if (validator.jailed) return "staking/8";
      const found = stake.unbondings.filter((each) => each.delegator === from.name && each.from === operator);
      if (found.length === 0) return "staking/33";
      const same = found.find((each) => each.height === height);
      if (same === undefined) return "sdk/38";
      if (same.amount < amount) return "sdk/18";
      same.amount -= amount;
      stake.unbondings = stake.unbondings.filter((each) => each.amount > 0n);
      validator.stakes.set(from.name, (validator.stakes.get(from.name) ?? 0n) + amount);
      return "done";
    },
  };
};

const unjail: Plan = ({ stake }, from) => ({
  name: "unjail",
  message: create(MsgUnjailSchema, { validatorAddr: operatorAddress(from) }),
  apply: () => {
    const validator = stake.find(from.name);
    if (validator === undefined) return "slashing/3";
    const own = validator.stakes.get(from.name);
    if (own === undefined) return "slashing/6";
    if (own < validator.minimum) return "slashing/7";
    if (!validator.jailed) return "slashing/5";
    validator.jailed = false;
    return "done";
  },
});

const STATUSES: Readonly<Record<number, Status>> = {
  [BondStatus.UNBONDED]: "unbonded",
  [BondStatus.UNBONDING]: "unbonding",
  [BondStatus.BONDED]: "bonded",
};

function compare({ chain, stake }: Sim, keys: readonly TestKey[]): void {
  const nameOf = new Map(
    keys.flatMap((key) => [[operatorAddress(key), key.name] as const, [key.address, key.name] as const]),
  );
  const name = (address: string) => nameOf.get(address) ?? address;
  const { validators } = chain.query(Query.method.validators, {});
  const rows = validators.map((each) => [name(each.operatorAddress), each.tokens, STATUSES[each.status], each.jailed]);
  const expected = stake.validators.map((each) => [each.operator.name, `${tokens(each)}`, each.status, each.jailed]);
  expect(rows.sort()).toEqual(expected.sort());
  for (const { address, name: delegator } of keys) {
    expect([delegator, chain.balance(address)]).toEqual([delegator, stake.balances.get(delegator)]);
    compareDelegator({ chain, stake }, [address, delegator], name);
  }
}

function compareDelegator(
  { chain, stake }: Pick<Sim, "chain" | "stake">,
  [address, delegator]: readonly [string, string],
  name: (address: string) => string,
): void {
  const asked = { delegatorAddr: address };
  const { delegationResponses } = chain.query(Query.method.delegatorDelegations, asked);
  const held = delegationResponses.map((each) => [name(each.delegation?.validatorAddress ?? ""), each.balance?.amount]);
  const stakes = stake.validators.flatMap(({ operator, stakes }) => {
    const amount = stakes.get(delegator);
    return amount === undefined ? [] : [[operator.name, `${amount}`]];
  });
  expect(held.sort()).toEqual(stakes.sort());
  const row = ({ creationHeight, completionTime }: UnbondingDelegationEntry | RedelegationEntry) =>
    `${creationHeight} ${completionTime === undefined ? "" : toNanos(completionTime)}`;
  const { unbondingResponses } = chain.query(Query.method.delegatorUnbondingDelegations, asked);
  const waiting = unbondingResponses.flatMap(({ validatorAddress, entries }) =>
    entries.map((entry) => `${name(validatorAddress)} ${row(entry)} ${entry.balance}`),
  );
  const own = ({ delegator: whose }: Entry) => whose === delegator;
  const text = ({ height, end, amount }: Entry) => `${height} ${end} ${amount}`;
  expect(waiting.sort()).toEqual(
    stake.unbondings
      .filter(own)
      .map((each) => `${each.from} ${text(each)}`)
      .sort(),
  );
  const { redelegationResponses } = chain.query(Query.method.redelegations, { delegatorAddr: address });
  const moved = redelegationResponses.flatMap(({ redelegation, entries }) =>
    entries.flatMap(({ redelegationEntry: entry }) =>
      entry === undefined
        ? []
        : [
            `${name(redelegation?.validatorSrcAddress ?? "")} ${name(redelegation?.validatorDstAddress ?? "")} ${row(entry)} ${entry.initialBalance}`,
          ],
    ),
  );
  const mine = stake.redelegations.filter(own).map((each) => `${each.from} ${each.to} ${text(each)}`);
  expect(moved.sort()).toEqual(mine.sort());
}

modelSimulation({
  name: "staking",
  seed: 5005,
  blocks: 150,
  wanted: [
    ...["become: done", "delegate: done", "undelegate: done", "redelegate: done", "cancel: done", "unjail: done"],
    ...["become: staking/5", "delegate: staking/4", "delegate: sdk/5", "undelegate: sdk/18", "undelegate: staking/24"],
    ...["redelegate: staking/37", "redelegate: staking/40", "unjail: slashing/5"],
  ],
  start,
});
