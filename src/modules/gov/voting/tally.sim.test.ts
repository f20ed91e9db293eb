import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { consensusKey, createValidatorMessage, operatorAddress } from "../../../../test/support/chain/index.ts";
import { sized } from "../../../../test/support/runs.ts";
import { pickOperation, type SimRandom, simRandom } from "../../../../test/support/simulation/operation.ts";
import { type StakeSimulation, stakeOperations } from "../../../../test/support/simulation/stake.ts";
import type { Misbehavior } from "../../../abci/index.ts";
import { consensusAddress } from "../../../crypto/index.ts";
import { type TestChain, type TestKey, testChain } from "../../../testing/index.ts";
import { type Dec, decMul, decQuo, decTruncate, NATIVE_DENOM, parseDec, toHex } from "../../../util/index.ts";
import { type TallyResult, VoteOption } from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../../wire/gen/sdk/gov/v1/query_pb.js";
import { MsgSubmitProposalSchema, MsgVoteWeightedSchema } from "../../../wire/gen/sdk/gov/v1/tx_pb.js";
import { Query as StakingQuery } from "../../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { BondStatus, type Validator } from "../../../wire/gen/sdk/staking/v1beta1/staking_pb.js";

const RUNS = Number(process.env.TALLY_SIM_RUNS ?? sized(1, 5));
const BLOCKS = Number(process.env.TALLY_SIM_BLOCKS ?? sized(60, 120));
/** A run with a given seed repeats with `TALLY_SIM_SEED`; further runs take the seeds behind it. */
const SEED = Number(process.env.TALLY_SIM_SEED ?? 4242);

const OPERATORS = ["o1", "o2", "o3", "o4", "o5"];
const HOLDERS = [...OPERATORS, "alice", "bob", "carol", "dave"];
const SEATS = 3;
const SECOND = 1_000_000_000n;
const coins = (amount: bigint) => [{ denom: NATIVE_DENOM, amount: `${amount}` }];

/** A seat for three of five validators; a regular vote is of four blocks. */
function voteChain(): TestChain {
  const chain = testChain({
    accounts: HOLDERS,
    genesis: {
      staking: {
        params: {
          ...{ unbonding_time: "42s", max_validators: SEATS, max_entries: 7, historical_entries: 0 },
          ...{ bond_denom: NATIVE_DENOM, min_commission_rate: "0" },
        },
      },
      slashing: {
        params: {
          ...{ signed_blocks_window: "6", min_signed_per_window: "0.5", downtime_jail_duration: "12s" },
          ...{ slash_fraction_double_sign: "0.0731", slash_fraction_downtime: "0.0123" },
        },
      },
      gov: {
        starting_proposal_id: "1",
        params: {
          ...{ min_deposit: coins(10n), expedited_min_deposit: coins(20n), max_deposit_period: "30s" },
          ...{ voting_period: "24s", expedited_voting_period: "12s", quorum: "0.334", threshold: "0.5" },
          ...{ expedited_threshold: "0.667", veto_threshold: "0.334", min_initial_deposit_ratio: "0" },
          ...{ proposal_cancel_ratio: "0", min_deposit_ratio: "0" },
        },
      },
    },
  });
  OPERATORS.forEach((name, i) => {
    const from = chain.key(name);
    chain.mustSend(createValidatorMessage(from, { amount: BigInt(2 + i) * 3_000_001n }), { from, gas: 10n ** 6n });
  });
  return chain;
}

type Ballot = Map<string, readonly { readonly option: number; readonly weight: string }[]>;

/** The open votes as their voters know them, by the proposal. */
class Votes {
  readonly open = new Map<bigint, { end: bigint; expedited: boolean; readonly start: bigint; ballot: Ballot }>();

  begin(id: bigint, start: bigint, expedited: boolean): void {
    this.open.set(id, { start, expedited, end: start + (expedited ? 12n : 24n) * SECOND, ballot: new Map() });
  }

  /** An expedited vote that does not pass begins again as a regular one. */
  end(id: bigint, isOver: boolean): void {
    const found = this.open.get(id);
    if (found === undefined) return;
    if (isOver) this.open.delete(id);
    else Object.assign(found, { expedited: false, end: found.start + 24n * SECOND, ballot: new Map() });
  }
}

const OPTIONS = [VoteOption.YES, VoteOption.ABSTAIN, VoteOption.NO, VoteOption.NO_WITH_VETO] as const;

/** The count of the reference, vote by vote and delegation by delegation. */
function naiveCount(chain: TestChain, ballot: Ballot, bonded: readonly Validator[]): Map<number, Dec> {
  const power = new Map<number, Dec>();
  const add = (tokens: Dec, parts: readonly { option: number; weight: string }[]) => {
    for (const { option, weight } of parts)
      power.set(option, (power.get(option) ?? 0n) + decMul(tokens, parseDec(weight)));
  };
  const deducted = new Map<string, Dec>();
  for (const [voter, parts] of ballot) {
    const { delegationResponses } = chain.query(StakingQuery.method.delegatorDelegations, { delegatorAddr: voter });
    for (const { delegation } of delegationResponses) {
      const validator = bonded.find(({ operatorAddress: each }) => each === delegation?.validatorAddress);
      if (validator === undefined || delegation === undefined) continue;
      const shares = BigInt(delegation.shares);
      deducted.set(validator.operatorAddress, (deducted.get(validator.operatorAddress) ?? 0n) + shares);
      add(decQuo(shares * BigInt(validator.tokens), BigInt(validator.delegatorShares)), parts);
    }
  }
  for (const { operatorAddress: operator, tokens, delegatorShares } of bonded) {
    const own = HOLDERS.map((name) => chain.key(name)).find((key) => operatorAddress(key) === operator);
    const parts = ballot.get(own?.address ?? "");
    const rest = BigInt(delegatorShares) - (deducted.get(operator) ?? 0n);
    if (parts !== undefined) add(decQuo(rest * BigInt(tokens), BigInt(delegatorShares)), parts);
  }
  return power;
}

const validatorsOf = (chain: TestChain) => chain.query(StakingQuery.method.validators, {}).validators;

/** Governance counts before staking moves the seats: validators bonded before the block, with their current tokens. */
function countedOf(before: readonly Validator[], after: readonly Validator[]): Validator[] {
  const seated = before.filter(({ status }) => status === BondStatus.BONDED).map((each) => each.operatorAddress);
  return after.filter((each) => !each.jailed && each.delegatorShares !== "0" && seated.includes(each.operatorAddress));
}

function doubleSign(chain: TestChain, random: SimRandom): Misbehavior[] {
  const voters = validatorsOf(chain).filter(({ status, jailed }) => status === BondStatus.BONDED && !jailed);
  if (voters.length < 2) return [];
  const operator = random.pick(voters)?.operatorAddress;
  const name = OPERATORS.find((each) => operatorAddress(chain.key(each)) === operator) ?? "";
  const validator = { address: consensusAddress(consensusKey(name)), power: 5n };
  const height = chain.height - BigInt(random.int(5));
  return [{ kind: "duplicateVote", validator, height, time: chain.time, totalVotingPower: 9n }];
}

function voteOf(random: SimRandom, proposalId: bigint, { address: voter }: TestKey) {
  const weights = random.pick([["1"], ["1"], ["0.3", "0.7"], ["0.333333333333333333", "0.666666666666666667"]]);
  const first = random.int(4);
  const options = weights.map((weight, i) => ({ option: OPTIONS[(first + i) % 4] ?? VoteOption.YES, weight }));
  return create(MsgVoteWeightedSchema, { proposalId, voter, options });
}

interface Sent {
  readonly tx: Uint8Array;
  readonly done: () => void;
}

class Run {
  readonly chain = voteChain();
  readonly votes = new Votes();
  readonly random: SimRandom;
  counted = 0;
  late = 0;
  #nextId = 1n;

  constructor(seed: number) {
    this.random = simRandom(seed);
  }

  block(): void {
    const { chain, random } = this;
    if (random.int(9) === 0) this.#toggle();
    const before = validatorsOf(chain);
    const sent = HOLDERS.flatMap((name) => (random.int(3) === 0 ? [] : this.#action(chain.key(name))));
    const results = chain.block(
      sent.map(({ tx }) => tx),
      random.int(40) === 0 ? doubleSign(chain, random) : [],
    );
    results.forEach(({ code }, i) => {
      if (code === 0) sent[i]?.done();
    });
    const counted = countedOf(before, validatorsOf(chain));
    for (const { type, attributes } of chain.blockEvents) {
      expect(type).not.toBe("block_item_failed");
      if (type !== "active_proposal") continue;
      const told = Object.fromEntries(attributes.map(({ key, value }) => [key, value]));
      this.#compare(BigInt(told.proposal_id ?? 0), counted, told.proposal_result !== "expedited_proposal_rejected");
    }
  }

  #compare(id: bigint, bonded: readonly Validator[], isOver: boolean): void {
    const { chain } = this;
    const result = chain.query(Query.method.proposal, { proposalId: id }).proposal?.finalTallyResult;
    const naive = naiveCount(chain, this.votes.open.get(id)?.ballot ?? new Map(), bonded);
    const found = countsOf(result);
    OPTIONS.forEach((option, i) => {
      const difference = (found[i] ?? -9n) - decTruncate(naive.get(option) ?? 0n);
      expect([id, option, difference >= -1n && difference <= 1n ? "alike" : difference]).toEqual([id, option, "alike"]);
    });
    if (found.some((each) => each > 0n)) this.counted += 1;
    this.votes.end(id, isOver);
  }

  /** A proposal, a vote (at times one that comes too late) or something about stake. */
  #action(from: TestKey): Sent[] {
    const { chain, random, votes } = this;
    const settings = { from, gas: 2_000_000n };
    const kind = random.int(10);
    if (kind === 0) {
      const expedited = random.int(2) === 0;
      const message = create(MsgSubmitProposalSchema, {
        ...{ initialDeposit: coins(20n), proposer: from.address, title: "T", summary: "S", metadata: "M", expedited },
      });
      return [{ tx: chain.sign(message, settings), done: () => votes.begin(this.#nextId++, chain.time, expedited) }];
    }
    if (kind < 5) {
      const id = random.pick([...votes.open.keys()]) ?? this.#nextId - 1n;
      const message = voteOf(random, id, from);
      const done = () => {
        const open = votes.open.get(id);
        expect(open).toBeDefined();
        open?.ballot.set(from.address, message.options);
      };
      if (!votes.open.has(id)) this.late += 1;
      return [{ tx: chain.sign(message, settings), done }];
    }
    const keys = (names: readonly string[]) => names.map((name) => chain.key(name));
    const query: StakeSimulation["query"] = chain.query.bind(chain);
    const sim = { random, operators: keys(OPERATORS), holders: keys(HOLDERS), height: () => chain.height, query };
    const action = pickOperation(stakeOperations, random)?.build({ ...sim, sender: from });
    return action === undefined ? [] : [{ tx: chain.sign(action.message, settings), done: () => {} }];
  }

  /** One of the validators stops to sign, or signs again. */
  #toggle(): void {
    const { chain, random } = this;
    const id = toHex(consensusKey(random.pick(OPERATORS) ?? ""));
    if (!chain.voters.absent.delete(id) && chain.voters.absent.size < 2) chain.voters.absent.add(id);
  }
}

function countsOf(result: TallyResult | undefined): bigint[] {
  const { yesCount = "", abstainCount = "", noCount = "", noWithVetoCount = "" } = result ?? {};
  return [yesCount, abstainCount, noCount, noWithVetoCount].map(BigInt);
}

describe("random votes, delegations, slashes and validators that leave", () => {
  it.each(Array.from({ length: RUNS }, (_, i) => SEED + i))(
    "are counted at the end as a naive count does it, seed %d",
    (seed) => {
      console.log(`tally simulation: seed ${seed}, ${BLOCKS} blocks`);
      const run = new Run(seed);
      for (let i = 0; i < BLOCKS; i++) run.block();
      run.chain.exportTwice();
      expect(run.counted).toBeGreaterThan(BLOCKS / 10);
      expect(run.late).toBeGreaterThan(0);
    },
  );
});
