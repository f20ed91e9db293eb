import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { consensusKey, genesisValidator, operatorAddress } from "../../../test/support/chain/index.ts";
import { type ModelRun, type ModelStep, modelSimulation } from "../../../test/support/simulation/model.ts";
import type { SimRandom } from "../../../test/support/simulation/operation.ts";
import type { Misbehavior } from "../../abci/index.ts";
import { consensusAddress, moduleAddress } from "../../crypto/index.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { MsgUnjailSchema } from "../../wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { Query as StakingQuery } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { encodeAddress, toNanos } from "../../wire/index.ts";

const OPERATORS = ["o1", "o2", "o3", "o4", "o5", "o6"];
const TOKENS = 900_000_000n;
const POWER = 1_000_000n;
const SECOND = 1_000_000_000n;
const WINDOW = 8;
/** Half of eight is four; the fifth miss within eight blocks is one too many. */
const MOST_MISSED = 4;
const JAIL = 40n * SECOND;
const FOR_EVER = 253_402_300_799n * SECOND;
/** Burned fraction in parts of 10^18. */
const [ABSENCE, TWO_VOTES, ONE] = [12_345_678_900_000_000n, 70_000_000_000_000_000n, 10n ** 18n];
const MANY_BLOCKS = 6;

/** A validator with the list of all votes that counted since its counters began. */
interface Validator {
  readonly key: TestKey;
  votes: boolean[];
  tokens: bigint;
  since: bigint;
  jailed: boolean;
  until: bigint;
  banned: boolean;
}

interface Sim {
  readonly chain: TestChain;
  readonly random: SimRandom;
  readonly validators: readonly Validator[];
  /** Votes and proofs of the next block. */
  votes: readonly { readonly id: string; readonly power: bigint; readonly isMissed: boolean }[];
  proofs: readonly { readonly id: string; readonly power: bigint }[];
}

const idOf = (key: TestKey) => toHex(consensusAddress(consensusKey(key.name)));

function start(random: SimRandom): ModelRun {
  const chain = slashingChain();
  const fresh = { tokens: TOKENS, since: 0n, jailed: false, until: 0n, banned: false };
  const validators = OPERATORS.map((name): Validator => ({ ...fresh, key: testKey(name), votes: [] }));
  const sim: Sim = { chain, random, validators, votes: [], proofs: [] };
  for (let i = 0; i < MANY_BLOCKS; i++) quietBlock(sim);
  return {
    chain,
    actors: () => validators.map(({ key }) => key),
    plan: (from) => (random.int(2) === 0 ? unjail(sim, from) : undefined),
    misbehavior: () => prepare(sim),
    begin: () => begin(sim),
    end: () => {
      for (const each of validators) if (each.since < 0n && !each.jailed) each.since = chain.height;
    },
    compare: () => compare(sim),
  };
}

function slashingChain(): TestChain {
  const made = OPERATORS.map((name) => genesisValidator(testKey(name), TOKENS));
  const pool = encodeAddress(moduleAddress("not_bonded_tokens_pool"));
  const coins = (amount: bigint) => [{ denom: NATIVE_DENOM, amount: `${amount}` }];
  const addresses = OPERATORS.map((name) => testKey(name).address);
  return testChain({
    accounts: OPERATORS,
    genesis: {
      bank: {
        params: { default_send_enabled: true },
        balances: [
          ...addresses.map((address) => ({ address, coins: coins(5n) })),
          { address: pool, coins: coins(TOKENS * BigInt(OPERATORS.length)) },
        ],
      },
      staking: {
        params: {
          ...{ unbonding_time: "3600s", max_validators: 10, max_entries: 7, historical_entries: 0 },
          ...{ bond_denom: NATIVE_DENOM, min_commission_rate: "0.000000000000000000" },
        },
        validators: made.map(({ validator }) => validator),
        delegations: made.map(({ delegation }) => delegation),
      },
      slashing: {
        params: {
          ...{ signed_blocks_window: `${WINDOW}`, min_signed_per_window: "0.5", downtime_jail_duration: "40s" },
          ...{ slash_fraction_double_sign: "0.07", slash_fraction_downtime: "0.0123456789" },
        },
      },
    },
  });
}

/** A block without transactions. */
function quietBlock(sim: Sim): void {
  sim.votes = votesOf(sim);
  sim.chain.nextBlock();
  begin(sim);
}

function votesOf({ chain }: Sim): Sim["votes"] {
  return chain.voters.commit().votes.map(({ validator, flag }) => ({
    id: toHex(validator.address),
    power: validator.power,
    isMissed: flag === 1,
  }));
}

/** Validators come and go; now and then one double-signs, at times again. */
function prepare(sim: Sim): Misbehavior[] {
  const { random, chain, validators } = sim;
  const { absent } = chain.voters;
  for (const { key } of validators) {
    const id = toHex(consensusKey(key.name));
    if (random.int(9) === 0 && !absent.delete(id)) absent.add(id);
  }
  sim.votes = votesOf(sim);
  const guilty = random.int(70) === 0 ? [testKey(random.pick(OPERATORS) ?? "")] : [];
  sim.proofs = guilty.map((key) => ({ id: idOf(key), power: BigInt(1 + random.int(800)) }));
  return guilty.map((key, i) => ({
    kind: "duplicateVote",
    validator: { address: consensusAddress(consensusKey(key.name)), power: sim.proofs[i]?.power ?? 0n },
    height: chain.height - BigInt(random.int(4)),
    time: chain.time,
    totalVotingPower: 5_000n,
  }));
}

/** Votes are counted first, then proofs are heard. */
function begin(sim: Sim): void {
  for (const { id, power, isMissed } of sim.votes) {
    const found = sim.validators.find(({ key }) => idOf(key) === id);
    if (found !== undefined && !found.jailed) count(sim, found, { power, isMissed });
  }
  for (const { id, power } of sim.proofs) {
    const found = sim.validators.find(({ key }) => idOf(key) === id);
    if (found === undefined || found.banned) continue;
    burn(found, power, TWO_VOTES);
    Object.assign(found, { jailed: true, banned: true, until: FOR_EVER });
  }
}

function count(
  { chain }: Sim,
  validator: Validator,
  { power, isMissed }: { readonly power: bigint; readonly isMissed: boolean },
): void {
  const votes = [...validator.votes, isMissed];
  if (chain.height > validator.since + BigInt(WINDOW) && missedOf(votes) > MOST_MISSED) {
    burn(validator, power, ABSENCE);
    Object.assign(validator, { jailed: true, until: chain.time + JAIL, votes: [] });
  } else validator.votes = votes;
}

function missedOf(votes: readonly boolean[]): number {
  return votes.slice(-WINDOW).filter((isMissed) => isMissed).length;
}

function burn(validator: Validator, power: bigint, part: bigint): void {
  const due = (power * POWER * part) / ONE;
  validator.tokens -= due < validator.tokens ? due : validator.tokens;
}

/** Counting begins anew at the end of the block that lets a validator back in. */
function unjail({ validators, chain }: Sim, from: TestKey): ModelStep {
  return {
    name: "unjail",
    message: create(MsgUnjailSchema, { validatorAddr: operatorAddress(from) }),
    apply: () => {
      const validator = validators.find(({ key }) => key === from);
      if (validator === undefined) return "slashing/3";
      if (!validator.jailed) return "slashing/5";
      if (validator.banned || chain.time < validator.until) return "slashing/4";
      Object.assign(validator, { jailed: false, since: -1n });
      return "done";
    },
  };
}

function compare({ chain, validators }: Sim): void {
  const { info } = chain.query(Query.method.signingInfos, {});
  const staked = chain.query(StakingQuery.method.validators, {}).validators;
  for (const { key, votes, tokens, jailed, banned, until, since } of validators) {
    const consensus = encodeAddress(consensusAddress(consensusKey(key.name)), "valcons");
    const found = info.find(({ address }) => address === consensus);
    const stake = staked.find(({ operatorAddress: operator }) => operator === operatorAddress(key));
    const time = found?.jailedUntil === undefined ? 0n : toNanos(found.jailedUntil);
    const counted = [found?.missedBlocksCounter, found?.indexOffset, found?.startHeight];
    expect([key.name, ...counted, time, found?.tombstoned, stake?.tokens, stake?.jailed]).toEqual([
      ...[key.name, BigInt(missedOf(votes)), BigInt(votes.length), since, until, banned, `${tokens}`, jailed],
    ]);
  }
}

modelSimulation({
  name: "slashing",
  seed: 5006,
  blocks: 220,
  wanted: ["unjail: done", "unjail: slashing/4", "unjail: slashing/5"],
  start,
});
