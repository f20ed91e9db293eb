import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import {
  type ModelRun,
  type ModelStep,
  modelSimulation,
  type Outcome,
} from "../../../test/support/simulation/model.ts";
import type { SimRandom } from "../../../test/support/simulation/operation.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  AllowedMsgAllowanceSchema,
  BasicAllowanceSchema,
  PeriodicAllowanceSchema,
} from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { Query } from "../../wire/gen/sdk/feegrant/v1beta1/query_pb.js";
import {
  MsgGrantAllowanceSchema,
  MsgPruneAllowancesSchema,
  MsgRevokeAllowanceSchema,
} from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { type Any, fromNanos, packAny, toNanos, typeUrlOf, unpackAs } from "../../wire/index.ts";

const NAMES = ["alice", "bob", "carol", "dave"];
const SECOND = 1_000_000_000n;
const SEND = typeUrlOf(MsgSendSchema);
const PRUNE = typeUrlOf(MsgPruneAllowancesSchema);
const STAKE = 10n ** 12n;

/** An allowance in the model; times in nanoseconds. */
interface Allowance {
  total?: bigint;
  readonly end?: bigint;
  readonly period?: { readonly length: bigint; readonly limit: bigint; left: bigint; resets: bigint };
  readonly only?: readonly string[];
}

/** Payers by account, and their remaining allowances. */
class Allowances {
  readonly #list = new Map<string, Allowance>();

  static key(granter: string, grantee: string): string {
    return `${granter} ${grantee}`;
  }

  get all(): ReadonlyMap<string, Allowance> {
    return this.#list;
  }

  grant(key: string, allowance: Allowance, now: bigint): Outcome {
    if (this.#list.has(key)) return "sdk/18";
    if (allowance.end !== undefined && allowance.end < now) return "sdk/18";
    this.#list.set(key, structuredClone(allowance));
    return "done";
  }

  revoke(key: string): Outcome {
    return this.#list.delete(key) ? "done" : "sdk/38";
  }

  pay(key: string, { fee, now, type }: { readonly fee: bigint; readonly now: bigint; readonly type: string }): Outcome {
    const found = this.#list.get(key);
    if (found === undefined) return "sdk/38";
    if (found.only?.includes(type) === false) return "feegrant/7";
    if (found.end !== undefined && found.end < now) return "feegrant/3";
    const period = found.period === undefined ? undefined : current(found.period, found.total, now);
    if (period !== undefined && period.left < fee) return "feegrant/2";
    if (found.total !== undefined && found.total < fee) return "feegrant/2";
    const { total } = found;
    if (total === fee) this.#list.delete(key);
    else
      this.#list.set(key, {
        ...found,
        ...(total === undefined ? {} : { total: total - fee }),
        ...(period === undefined ? {} : { period: { ...period, left: period.left - fee } }),
      });
    return "done";
  }

  /** Forgets what ended by now. */
  prune(now: bigint): void {
    for (const [key, { end }] of this.#list) if (end !== undefined && end <= now) this.#list.delete(key);
  }
}

/** A period that is over gives way to the next; one that ended long ago to one that begins now. */
function current(period: NonNullable<Allowance["period"]>, total: bigint | undefined, now: bigint) {
  if (now < period.resets) return period;
  const next = period.resets + period.length;
  const { limit } = period;
  const left = total !== undefined && total < limit ? total : limit;
  return { ...period, left, resets: next < now ? now + period.length : next };
}

function start(random: SimRandom): ModelRun {
  const chain = testChain({ accounts: NAMES });
  const allowances = new Allowances();
  const keys = NAMES.map(testKey);
  const spent = new Map(keys.map(({ address }) => [address, 0n]));
  const sim: Sim = { chain, allowances, random, keys, spent };
  return {
    chain,
    actors: () => keys,
    plan: (from) => [grant, use, use, use, revoke, prune][random.int(6)]?.(sim, from),
    end: () => allowances.prune(chain.time),
    compare: () => {
      expect(stored(chain, keys)).toEqual(new Map(allowances.all));
      for (const { address } of keys) expect(chain.balance(address)).toBe(STAKE - (spent.get(address) ?? 0n));
    },
  };
}

interface Sim {
  readonly chain: TestChain;
  readonly allowances: Allowances;
  readonly random: SimRandom;
  readonly keys: readonly TestKey[];
  /** Fees by the address that paid them. */
  readonly spent: Map<string, bigint>;
}

type Plan = (sim: Sim, from: TestKey) => ModelStep;

const other = ({ random, keys }: Sim, { address }: TestKey) =>
  random.pick(keys.filter((key) => key.address !== address))?.address ?? "";

const grant: Plan = (sim, from) => {
  const { random, chain, allowances } = sim;
  const grantee = other(sim, from);
  const allowance = randomAllowance(random, chain.time);
  const message = { granter: from.address, grantee, allowance: packed(allowance) };
  return {
    name: "grant",
    message: create(MsgGrantAllowanceSchema, message),
    apply: () => allowances.grant(Allowances.key(from.address, grantee), allowance, chain.time),
  };
};

const revoke: Plan = (sim, from) => {
  const grantee = other(sim, from);
  return {
    name: "revoke",
    message: create(MsgRevokeAllowanceSchema, { granter: from.address, grantee }),
    apply: () => sim.allowances.revoke(Allowances.key(from.address, grantee)),
  };
};

const prune: Plan = ({ allowances, chain }, { address }) => ({
  name: "prune",
  message: create(MsgPruneAllowancesSchema, { pruner: address }),
  apply: () => {
    allowances.prune(chain.time);
    return "done";
  },
});

/** A payer for the account. */
function payer({ allowances, random }: Sim, { address }: TestKey): string | undefined {
  const pairs = [...allowances.all.keys()].map((key) => key.split(" "));
  return random.pick(pairs.filter(([, grantee]) => grantee === address))?.[0];
}

/** A small transfer or a pruning whose fee another account pays. */
const use: Plan = (sim, from) => {
  const { random, chain, allowances, spent } = sim;
  const granter = random.int(4) === 0 ? other(sim, from) : (payer(sim, from) ?? other(sim, from));
  const fee = BigInt(1 + random.int(70));
  const isSend = random.int(4) > 0;
  const send = { fromAddress: from.address, toAddress: from.address, amount: [{ denom: NATIVE_DENOM, amount: "1" }] };
  const message = isSend ? create(MsgSendSchema, send) : create(MsgPruneAllowancesSchema, { pruner: from.address });
  return {
    name: "use",
    message,
    settings: { granter, fee: [{ denom: NATIVE_DENOM, amount: fee }] },
    apply: () => {
      const type = isSend ? SEND : PRUNE;
      const outcome = allowances.pay(Allowances.key(granter, from.address), { fee, now: chain.time, type });
      if (outcome !== "done") return outcome;
      spent.set(granter, (spent.get(granter) ?? 0n) + fee);
      if (!isSend) allowances.prune(chain.time);
      return outcome;
    },
  };
};

/** Ends lie on times of blocks, halfway between two, and just before and behind these. */
function randomAllowance(random: SimRandom, now: bigint): Allowance {
  const total = random.int(3) === 0 ? {} : { total: BigInt(30 + random.int(200)) };
  const end = random.int(3) === 0 ? {} : { end: now + BigInt(3 * random.int(24)) * SECOND + BigInt(random.int(3) - 1) };
  const only = random.int(4) === 0 ? { only: [SEND] } : {};
  if (random.int(2) === 0) return { ...total, ...end, ...only };
  const limit = BigInt(10 + random.int(90));
  const length = BigInt(random.pick([1, 6, 12, 24])) * SECOND;
  const resets = now + BigInt(random.int(8) - 5) * 6n * SECOND;
  return { ...total, ...end, ...only, period: { length, limit, left: BigInt(1 + random.int(90)), resets } };
}

function packed({ total, end, period, only }: Allowance): Any {
  const coins = (amount: bigint | undefined) =>
    amount === undefined ? [] : [{ denom: NATIVE_DENOM, amount: `${amount}` }];
  const time = (nanos: bigint) => create(TimestampSchema, fromNanos(nanos));
  const basic = { spendLimit: coins(total), ...(end === undefined ? {} : { expiration: time(end) }) };
  const inner =
    period === undefined
      ? packAny(BasicAllowanceSchema, basic)
      : packAny(PeriodicAllowanceSchema, {
          basic,
          period: { seconds: period.length / SECOND },
          periodSpendLimit: coins(period.limit),
          periodCanSpend: coins(period.left),
          periodReset: time(period.resets),
        });
  if (only === undefined) return inner;
  return packAny(AllowedMsgAllowanceSchema, { allowance: inner, allowedMessages: [...only] });
}

/** The chain's allowances, read back into the model's form. */
function stored(chain: TestChain, keys: readonly TestKey[]): Map<string, Allowance> {
  const grants = keys.flatMap(({ address }) => chain.query(Query.method.allowances, { grantee: address }).allowances);
  return new Map(grants.map(({ granter, grantee, allowance }) => [Allowances.key(granter, grantee), form(allowance)]));
}

function form(any: Any | undefined): Allowance {
  const limited = unpackAs(AllowedMsgAllowanceSchema, any);
  if (limited !== undefined) return { ...form(limited.allowance), only: limited.allowedMessages };
  const periodic = unpackAs(PeriodicAllowanceSchema, any);
  const basic = periodic === undefined ? unpackAs(BasicAllowanceSchema, any) : periodic.basic;
  const [total] = basic?.spendLimit ?? [];
  const plain = {
    ...(total === undefined ? {} : { total: BigInt(total.amount) }),
    ...(basic?.expiration === undefined ? {} : { end: toNanos(basic.expiration) }),
  };
  if (periodic === undefined) return plain;
  const amount = (coins: readonly { readonly amount: string }[]) => BigInt(coins[0]?.amount ?? 0);
  const length = (periodic.period?.seconds ?? 0n) * SECOND;
  const resets = periodic.periodReset === undefined ? 0n : toNanos(periodic.periodReset);
  const { periodSpendLimit, periodCanSpend } = periodic;
  return { ...plain, period: { length, limit: amount(periodSpendLimit), left: amount(periodCanSpend), resets } };
}

modelSimulation({
  name: "feegrant",
  seed: 5002,
  blocks: 150,
  wanted: [
    ...["grant: done", "revoke: done", "prune: done", "use: done", "grant: sdk/18", "revoke: sdk/38"],
    ...["use: sdk/38", "use: feegrant/2", "use: feegrant/3", "use: feegrant/7"],
  ],
  start,
});
