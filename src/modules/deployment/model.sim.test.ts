import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { coin, groupSpec } from "../../../test/support/chain/index.ts";
import {
  type ModelRun,
  type ModelStep,
  modelSimulation,
  type Outcome,
} from "../../../test/support/simulation/model.ts";
import type { SimRandom } from "../../../test/support/simulation/operation.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { CoinSchema } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  Deployment_State,
  GenesisStateSchema,
  Group_State,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCloseGroupSchema,
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { toJson } from "../../wire/index.ts";
import { defaultParams } from "./params.ts";

const OWNERS = ["alice", "bob", "carol", "dave", "erin"];
const HELD = 10n ** 9n;
const [MINIMUM, SPONSOR, START_BLOCKS, KEPT_BLOCKS] = [50n, 20n, 10n, 9n];
/** Prices of a group and block. */
const PRICES = [1, 6, 12, 30];

/** A deployment in the model. There are no bids here, so no money is used. */
interface Deployment {
  readonly owner: string;
  readonly dseq: bigint;
  version: number;
  readonly groups: { state: "open" | "paused" | "closed"; readonly price: number }[];
  readonly deposits: { readonly by: string; readonly amount: bigint }[];
  /** The height at which it was closed. */
  closedOn?: bigint;
}

interface Sim {
  readonly chain: TestChain;
  readonly random: SimRandom;
  readonly balances: Map<string, bigint>;
  deployments: Deployment[];
  /** The highest number of each owner that was closed, and left the state. */
  readonly spent: Map<string, bigint>;
}

type Plan = (sim: Sim, from: TestKey) => ModelStep;

function start(random: SimRandom): ModelRun {
  const params = {
    ...defaultParams(),
    minDeposits: [create(CoinSchema, coin(MINIMUM))],
    minSponsorDeposits: [create(CoinSchema, coin(SPONSOR))],
    minStartBlocks: START_BLOCKS,
    retentionBlocks: KEPT_BLOCKS,
  };
  const genesis = { deployment: toJson(GenesisStateSchema, create(GenesisStateSchema, { params })) };
  const chain = testChain({ accounts: OWNERS, coins: { [NATIVE_DENOM]: HELD }, genesis });
  const balances = new Map(OWNERS.map((name) => [name, HELD]));
  const sim: Sim = { chain, random, balances, deployments: [], spent: new Map() };
  return {
    chain,
    actors: () => OWNERS.map(testKey),
    plan: (from) => planOf(sim, from)(sim, from),
    end: () => forget(sim),
    compare: () => compare(sim),
  };
}

function planOf({ random, deployments }: Sim, { name }: TestKey): Plan {
  const own = deployments.filter(({ owner, closedOn }) => owner === name && closedOn === undefined);
  if (own.length === 0 || (own.length < 4 && random.int(6) === 0)) return make;
  return random.int(14) === 0 ? close : random.pick([deposit, deposit, update, group, group, group, group]);
}

const total = ({ deposits }: Deployment) => deposits.reduce((sum, { amount }) => sum + amount, 0n);

const find = ({ deployments }: Sim, owner: string, dseq: bigint) =>
  deployments.find((each) => each.owner === owner && each.dseq === dseq);

/** Mostly a used number. */
function someNumber({ random, deployments, chain }: Sim, owner: string): bigint {
  const found = random.pick(deployments.filter((each) => each.owner === owner));
  if (found === undefined || random.int(6) === 0) return BigInt(1 + random.int(Number(chain.height)));
  return found.dseq;
}

function pay({ balances }: Sim, name: string, amount: bigint): boolean {
  const held = balances.get(name) ?? 0n;
  if (held < amount) return false;
  balances.set(name, held - amount);
  return true;
}

/** Expected outcome of an owner's message about a deployment that must exist and be open. */
function onActive(sim: Sim, [owner, dseq]: readonly [string, bigint], act: (found: Deployment) => Outcome): Outcome {
  const found = find(sim, owner, dseq);
  if (found === undefined) return "deployment/4";
  return found.closedOn === undefined ? act(found) : "deployment/5";
}

const version = (value: number) => new Uint8Array(32).fill(value);

const make: Plan = (sim, from) => {
  const { random, chain, spent } = sim;
  const before = BigInt(1 + random.int(Number(chain.height / 2n) + 1));
  const dseq = random.pick([chain.height + 1n, chain.height + 1n, someNumber(sim, from.name), before]);
  const amount = MINIMUM + BigInt(random.int(60) - 8);
  const prices = Array.from({ length: 1 + random.int(3) }, () => random.pick(PRICES) ?? 1);
  const groups = prices.map((price, i) => groupSpec(`group${i}`, { price: `${price}` }));
  const id = { owner: from.address, dseq };
  return {
    name: "create",
    message: create(MsgCreateDeploymentSchema, { id, groups, version: version(1), deposit: coin(amount) }),
    apply: () => {
      if (find(sim, from.name, dseq) !== undefined) return "deployment/3";
      if (dseq <= (spent.get(from.name) ?? 0n)) return "deployment/26";
      if (amount < MINIMUM) return "deployment/20";
      if (!pay(sim, from.name, amount)) return "sdk/5";
      const opened = prices.map((price) => ({ state: "open" as const, price }));
      const deposits = [{ by: from.name, amount }];
      sim.deployments.push({ owner: from.name, dseq, version: 1, groups: opened, deposits });
      return "done";
    },
  };
};

/** A deposit into one's own deployment or another's. */
const deposit: Plan = (sim, from) => {
  const owner = testKey(sim.random.pick(OWNERS) ?? "");
  const dseq = someNumber(sim, owner.name);
  const amount = BigInt(1 + sim.random.int(60));
  const depositor = owner === from ? "" : from.address;
  const id = { owner: owner.address, dseq };
  return {
    name: "deposit",
    message: create(MsgDepositDeploymentSchema, { id, amount: coin(amount), depositor }),
    apply: () =>
      onActive(sim, [owner.name, dseq], ({ deposits }) => {
        if (owner !== from && amount < SPONSOR) return "deployment/20";
        if (!pay(sim, from.name, amount)) return "sdk/5";
        deposits.push({ by: from.name, amount });
        return "done";
      }),
  };
};

const update: Plan = (sim, from) => {
  const dseq = someNumber(sim, from.name);
  const next = 1 + sim.random.int(3);
  return {
    name: "update",
    message: create(MsgUpdateDeploymentSchema, { id: { owner: from.address, dseq }, version: version(next) }),
    apply: () =>
      onActive(sim, [from.name, dseq], (found) => {
        if (found.version === next) return "deployment/10";
        found.version = next;
        return "done";
      }),
  };
};

const close: Plan = (sim, from) => {
  const dseq = someNumber(sim, from.name);
  return {
    name: "close",
    message: create(MsgCloseDeploymentSchema, { id: { owner: from.address, dseq } }),
    apply: () => onActive(sim, [from.name, dseq], (found) => end(sim, found)),
  };
};

/** Every depositor gets its money back. */
function end(sim: Sim, found: Deployment): Outcome {
  for (const each of found.groups) each.state = "closed";
  for (const { by, amount } of found.deposits) pay(sim, by, -amount);
  found.closedOn = sim.chain.height;
  return "done";
}

const GROUP_ACTS = { pause: MsgPauseGroupSchema, start: MsgStartGroupSchema, close: MsgCloseGroupSchema } as const;

const group: Plan = (sim, from) => {
  const dseq = someNumber(sim, from.name);
  const gseq = 1 + sim.random.int(3);
  const act = sim.random.pick([
    "pause",
    "pause",
    "pause",
    "start",
    "start",
    "start",
    "start",
    "start",
    "close",
  ] as const);
  return {
    name: `${act} group`,
    message: create(GROUP_ACTS[act], { id: { owner: from.address, dseq, gseq } }),
    apply: () => {
      const found = find(sim, from.name, dseq);
      const one = found?.groups[gseq - 1];
      if (found === undefined || one === undefined) return "deployment/14";
      if (found.closedOn !== undefined) return "deployment/5";
      if (one.state === "closed") return "deployment/15";
      return actOn(sim, found, { one, act });
    },
  };
};

interface GroupAct {
  readonly one: Deployment["groups"][number];
  readonly act: keyof typeof GROUP_ACTS;
}

function actOn(sim: Sim, found: Deployment, { one, act }: GroupAct): Outcome {
  if (act === "pause" && one.state === "paused") return "deployment/17";
  if (act === "start" && one.state === "open") return "deployment/16";
  if (act === "start" && total(found) < BigInt(one.price) * START_BLOCKS) return "escrow/4";
  one.state = act === "pause" ? "paused" : act === "start" ? "open" : "closed";
  return found.groups.every(({ state }) => state === "closed") ? end(sim, found) : "done";
}

/** A closed deployment leaves when its time has come, and its number with all before it is used up. */
function forget(sim: Sim): void {
  const isOver = ({ closedOn }: Deployment) => closedOn !== undefined && sim.chain.height >= closedOn + KEPT_BLOCKS;
  for (const { owner, dseq } of sim.deployments.filter(isOver)) {
    const before = sim.spent.get(owner) ?? 0n;
    sim.spent.set(owner, dseq > before ? dseq : before);
  }
  sim.deployments = sim.deployments.filter((each) => !isOver(each));
}

const STATES: Readonly<Record<number, string>> = {
  [Group_State.open]: "open",
  [Group_State.paused]: "paused",
  [Group_State.closed]: "closed",
};

function compare(sim: Sim): void {
  const { chain, deployments } = sim;
  for (const name of OWNERS) {
    const owner = testKey(name).address;
    expect([name, chain.balance(owner)]).toEqual([name, sim.balances.get(name)]);
    const stored = chain.query(Query.method.deployments, { filters: { owner } }).deployments;
    const rows = stored.map(({ deployment, groups, escrowAccount }) => [
      ...[deployment?.deploymentId?.dseq, deployment?.state === Deployment_State.active],
      ...[
        deployment?.version[0],
        groups.map(({ state }) => STATES[state]).join(),
        BigInt(escrowAccount?.balance?.amount ?? -1),
      ],
    ]);
    const own = deployments
      .filter((each) => each.owner === name)
      .map((each) => [
        ...[each.dseq, each.closedOn === undefined, each.version, each.groups.map(({ state }) => state).join()],
        each.closedOn === undefined ? total(each) : 0n,
      ]);
    expect(rows.sort()).toEqual(own.sort());
  }
}

modelSimulation({
  name: "deployment",
  seed: 5026,
  blocks: 150,
  wanted: [
    ...["create", "deposit", "update", "close", "pause group", "start group", "close group"].map(
      (name) => `${name}: done`,
    ),
    ...["create: deployment/3", "create: deployment/26", "create: deployment/20", "deposit: deployment/20"],
    ...["update: deployment/10", "close: deployment/5", "start group: deployment/16", "start group: escrow/4"],
  ],
  start,
});
