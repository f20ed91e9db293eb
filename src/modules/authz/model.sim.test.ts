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
import { type TestChain, type TestKey, testChain, testKey, toAny } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { GenericAuthorizationSchema } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { Query } from "../../wire/gen/sdk/authz/v1beta1/query_pb.js";
import { MsgExecSchema, MsgGrantSchema, MsgRevokeSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { SendAuthorizationSchema } from "../../wire/gen/sdk/bank/v1beta1/authz_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { type Any, fromNanos, packAny, toNanos, typeUrlOf, unpackAs } from "../../wire/index.ts";

const NAMES = ["alice", "bob", "carol", "dave"];
const SECOND = 1_000_000_000n;
const HELD = 2_000n;
const SEND = typeUrlOf(MsgSendSchema);
const EXEC = typeUrlOf(MsgExecSchema);

/** `limit` is undefined where all transfers are allowed; `end` in nanoseconds. */
interface Grant {
  readonly type: string;
  readonly limit?: bigint;
  readonly to?: readonly string[];
  readonly end?: bigint;
}

/** A transfer of another account's coins, or several through a further account. */
type Act =
  | { readonly from: string; readonly to: string; readonly amount: bigint }
  | { readonly by: string; readonly acts: readonly Act[] };

/** Balances and grants, small enough to be copied before each transaction. */
interface State {
  readonly balances: Map<string, bigint>;
  readonly grants: Map<string, Grant>;
}

const keyOf = (granter: string, grantee: string, type: string) => `${granter} ${grantee} ${type}`;

/** Does what an account does for others, until something is refused. */
function execute(state: State, by: string, acts: readonly Act[], now: bigint): Outcome {
  for (const act of acts) {
    const signer = "by" in act ? act.by : act.from;
    const allowed = signer === by ? "done" : useGrant(state, by, act, now);
    if (allowed !== "done") return allowed;
    const outcome = "by" in act ? execute(state, act.by, act.acts, now) : transfer(state, act);
    if (outcome !== "done") return outcome;
  }
  return "done";
}

function useGrant({ grants }: State, by: string, act: Act, now: bigint): Outcome {
  const key = "by" in act ? keyOf(act.by, by, EXEC) : keyOf(act.from, by, SEND);
  const found = grants.get(key);
  if (found === undefined) return "authz/2";
  if (found.end !== undefined && found.end <= now) return "authz/6";
  if ("by" in act || found.limit === undefined) return "done";
  if (act.amount > found.limit) return "sdk/5";
  if (found.to !== undefined && !found.to.includes(act.to)) return "sdk/4";
  if (act.amount === found.limit) grants.delete(key);
  else grants.set(key, { ...found, limit: found.limit - act.amount });
  return "done";
}

function transfer({ balances }: State, { from, to, amount }: Exclude<Act, { readonly by: string }>): Outcome {
  const held = balances.get(from) ?? 0n;
  if (held < amount) return "sdk/5";
  balances.set(from, held - amount);
  balances.set(to, (balances.get(to) ?? 0n) + amount);
  return "done";
}

interface Sim {
  readonly chain: TestChain;
  readonly random: SimRandom;
  readonly keys: readonly TestKey[];
  state: State;
}

type Plan = (sim: Sim, from: TestKey) => ModelStep;

function start(random: SimRandom): ModelRun {
  const chain = testChain({ accounts: NAMES, coins: { [NATIVE_DENOM]: HELD } });
  const keys = NAMES.map(testKey);
  const state = { balances: new Map(keys.map(({ address }) => [address, HELD])), grants: new Map<string, Grant>() };
  const sim: Sim = { chain, random, keys, state };
  return {
    chain,
    actors: () => keys,
    plan: (from) => [grant, grant, exec, exec, exec, revoke][random.int(6)]?.(sim, from),
    begin: () => {
      for (const [key, { end }] of sim.state.grants)
        if (end !== undefined && end <= chain.time) sim.state.grants.delete(key);
    },
    compare: () => {
      expect(stored(chain, keys)).toEqual(sim.state.grants);
      for (const { address } of keys) expect(chain.balance(address)).toBe(sim.state.balances.get(address));
    },
  };
}

const other = ({ random, keys }: Sim, { address }: TestKey) =>
  random.pick(keys.filter((key) => key.address !== address))?.address ?? "";

const anybody = ({ random, keys }: Sim) => random.pick(keys)?.address ?? "";

const grant: Plan = (sim, from) => {
  const grantee = other(sim, from);
  const made = randomGrant(sim);
  return {
    name: "grant",
    message: create(MsgGrantSchema, { granter: from.address, grantee, grant: packed(made) }),
    apply: () => {
      if (made.end !== undefined && made.end <= sim.chain.time) return "authz/3";
      sim.state.grants.set(keyOf(from.address, grantee, made.type), made);
      return "done";
    },
  };
};

const revoke: Plan = (sim, from) => {
  const [grantee, type] = [other(sim, from), sim.random.int(3) === 0 ? EXEC : SEND];
  return {
    name: "revoke",
    message: create(MsgRevokeSchema, { granter: from.address, grantee, msgTypeUrl: type }),
    apply: () => (sim.state.grants.delete(keyOf(from.address, grantee, type)) ? "done" : "authz/2"),
  };
};

/** All or nothing: a refused message changes nothing. */
const exec: Plan = (sim, { address }) => {
  const acts = Array.from({ length: 1 + sim.random.int(3) }, () => grantedAct(sim, address) ?? randomAct(sim, 0));
  return {
    name: "exec",
    message: create(MsgExecSchema, { grantee: address, msgs: acts.map(message) }),
    apply: () => {
      const after = { balances: new Map(sim.state.balances), grants: new Map(sim.state.grants) };
      const outcome = execute(after, address, acts, sim.chain.time);
      if (outcome === "done") sim.state = after;
      return outcome;
    },
  };
};

/** Exactly the granted amount, or one more. */
function grantedAct(sim: Sim, address: string): Act | undefined {
  const { random, state } = sim;
  const grants = [...state.grants].flatMap(([key, { limit }]) => {
    const [from = "", by] = key.split(" ");
    return by === address && limit !== undefined ? [{ from, limit }] : [];
  });
  const found = random.int(3) > 0 ? random.pick(grants) : undefined;
  if (found === undefined) return undefined;
  return { from: found.from, to: anybody(sim), amount: found.limit + BigInt(random.int(4) === 0 ? 1 : 0) };
}

function randomAct(sim: Sim, depth: number): Act {
  const { random } = sim;
  if (depth < 2 && random.int(6) === 0)
    return { by: anybody(sim), acts: Array.from({ length: 1 + random.int(2) }, () => randomAct(sim, depth + 1)) };
  return { from: anybody(sim), to: anybody(sim), amount: BigInt(1 + random.int(random.pick([5, 60, 4_000]))) };
}

function message(act: Act): Any {
  if ("by" in act) return toAny(create(MsgExecSchema, { grantee: act.by, msgs: act.acts.map(message) }));
  const amount = [{ denom: NATIVE_DENOM, amount: `${act.amount}` }];
  return toAny(create(MsgSendSchema, { fromAddress: act.from, toAddress: act.to, amount }));
}

function randomGrant(sim: Sim): Grant {
  const { random, chain } = sim;
  const end =
    random.int(3) === 0 ? {} : { end: chain.time + BigInt(6 * random.int(25)) * SECOND + BigInt(random.int(3) - 1) };
  const kind = random.int(4);
  if (kind === 0) return { type: EXEC, ...end };
  if (kind === 1) return { type: SEND, ...end };
  const to = random.int(3) === 0 ? { to: [anybody(sim)] } : {};
  return { type: SEND, limit: BigInt(1 + random.int(90)), ...to, ...end };
}

function packed({ type, limit, to, end }: Grant) {
  const authorization =
    limit === undefined
      ? packAny(GenericAuthorizationSchema, { msg: type })
      : packAny(SendAuthorizationSchema, {
          spendLimit: [{ denom: NATIVE_DENOM, amount: `${limit}` }],
          allowList: [...(to ?? [])],
        });
  return { authorization, ...(end === undefined ? {} : { expiration: create(TimestampSchema, fromNanos(end)) }) };
}

function stored(chain: TestChain, keys: readonly TestKey[]): Map<string, Grant> {
  const grants = keys.flatMap(({ address }) => chain.query(Query.method.granterGrants, { granter: address }).grants);
  return new Map(
    grants.map(({ granter, grantee, authorization, expiration }) => {
      const end = expiration === undefined ? {} : { end: toNanos(expiration) };
      const made = { ...read(authorization), ...end };
      return [keyOf(granter, grantee, made.type), made];
    }),
  );
}

function read(any: Any | undefined): Grant {
  const generic = unpackAs(GenericAuthorizationSchema, any);
  if (generic !== undefined) return { type: generic.msg };
  const send = unpackAs(SendAuthorizationSchema, any);
  const list = send?.allowList ?? [];
  return { type: SEND, limit: BigInt(send?.spendLimit[0]?.amount ?? 0), ...(list.length === 0 ? {} : { to: list }) };
}

modelSimulation({
  name: "authz",
  seed: 5003,
  blocks: 150,
  wanted: [
    ...["grant: done", "revoke: done", "exec: done", "grant: authz/3", "revoke: authz/2"],
    ...["exec: authz/2", "exec: sdk/5", "exec: sdk/4"],
  ],
  start,
});
