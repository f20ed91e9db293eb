import { create, type Message } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { consensusKey, createValidatorMessage, operatorAddress } from "../../test/support/chain/index.ts";
import { ENDS, updated } from "../../test/support/parameter-ends.ts";
import { sized } from "../../test/support/runs.ts";
import { type ConsensusParams, consensusParamsFields, DEFAULT_CONSENSUS_PARAMS } from "../abci/index.ts";
import { moduleAddress } from "../crypto/index.ts";
import { LEAST_BLOCK_BYTES, LEAST_BLOCK_GAS } from "../runtime/index.ts";
import { type TestChain, type TestMessage, testChain, toAny } from "../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../util/index.ts";
import { MsgUpdateParamsSchema as ConsensusUpdateSchema } from "../wire/gen/sdk/consensus/v1/tx_pb.js";
import { ProposalStatus, VoteOption } from "../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../wire/gen/sdk/gov/v1/query_pb.js";
import { MsgSubmitProposalSchema, MsgVoteSchema } from "../wire/gen/sdk/gov/v1/tx_pb.js";
import { MsgDelegateSchema, MsgUndelegateSchema } from "../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, type JsonObject, type JsonValue } from "../wire/index.ts";

const GOVERNANCE = encodeAddress(moduleAddress("gov"));
const M = 1_000_000n;
const YEARS = 11n * 365n * 86_400n * 1_000_000_000n;
const coins = (amount: bigint) => [{ denom: NATIVE_DENOM, amount: `${amount}` }];
const MAX_GAS = 30_000_000n;

/** Genesis settings beside the defaults: an export leaves history out, and voters are jailed soon. */
const DIFFERENT: Readonly<Record<string, JsonObject>> = {
  staking: { historical_entries: 0 },
  slashing: { signed_blocks_window: "4" },
};

/** Alice has most of the stake; bob is a voter who will miss blocks; a vote lasts two days, so the clock skips. */
function begin(): TestChain {
  const slashing = { params: { ...updated("slashing").defaults, ...DIFFERENT.slashing } };
  const staking = { params: { ...updated("staking").defaults, ...DIFFERENT.staking } };
  const checkedAt = (height: bigint) => height % 8n === 0n;
  const chain = testChain({ maxBlockGas: MAX_GAS, checkedAt, genesis: { slashing, staking } });
  for (const [name, amount] of [
    ["alice", 90n],
    ["bob", 5n],
  ] as const) {
    const from = chain.key(name);
    chain.mustSend(createValidatorMessage(from, { amount: amount * M }), { from, gas: LEAST_BLOCK_GAS });
  }
  chain.nextBlock(2);
  return chain;
}

/** Submits a proposal with its deposit, votes for it and waits for its end, with the gas that is always left. */
function decide(chain: TestChain, message: Message) {
  const from = chain.key("alice");
  const minimum = chain.query(Query.method.params, {}).params?.minDeposit ?? [];
  const proposal = create(MsgSubmitProposalSchema, {
    ...{ messages: [toAny(message)], initialDeposit: minimum, proposer: from.address },
    ...{ title: "Parameters", summary: "at an end of what they may be" },
  });
  const send = (each: TestMessage) => chain.mustSend(each, { from, gas: LEAST_BLOCK_GAS });
  const { gasUsed } = send(proposal);
  const proposalId =
    chain.query(Query.method.proposals, { pagination: { reverse: true, limit: 1n } }).proposals[0]?.id ?? 0n;
  send(create(MsgVoteSchema, { proposalId, voter: from.address, option: VoteOption.YES }));
  const bob = chain.key("bob");
  const vote = create(MsgVoteSchema, { proposalId, voter: bob.address, option: VoteOption.YES });
  chain.mustSend(vote, { from: bob, gas: LEAST_BLOCK_GAS });
  chain.skip(YEARS);
  chain.nextBlock(2);
  const { status, failedReason } = chain.query(Query.method.proposal, { proposalId }).proposal ?? {};
  return { status, failedReason, gasUsed };
}

/** Delegations and unbondings, and a voter that misses blocks until it is jailed. */
function live(chain: TestChain): void {
  const from = chain.key("carol");
  const pair = { delegatorAddress: from.address, validatorAddress: operatorAddress(chain.key("bob")) };
  const send = (message: TestMessage) => chain.block([chain.sign(message, { from, gas: LEAST_BLOCK_GAS })]);
  send(create(MsgDelegateSchema, { ...pair, amount: coins(3n * M)[0] }));
  send(create(MsgUndelegateSchema, { ...pair, amount: coins(M)[0] }));
  chain.voters.absent.add(toHex(consensusKey("bob")));
  chain.nextBlock(6);
}

/** The first and last values: tables of prices and limits have one for each of their rows. */
function endsOf(good: readonly JsonValue[]): readonly JsonValue[] {
  return good.length > 2 * ENDS_TRIED ? [...good.slice(0, ENDS_TRIED), ...good.slice(-ENDS_TRIED)] : good;
}

type Changes = { readonly [K in keyof ConsensusParams]?: Partial<ConsensusParams[K]> };

/** The message that changes block parameters from their genesis values. */
function blocks({ block, evidence }: Changes): Message {
  const { block: size, evidence: ages, validator } = DEFAULT_CONSENSUS_PARAMS;
  const params = { block: { ...size, maxGas: MAX_GAS, ...block }, evidence: { ...ages, ...evidence }, validator };
  return create(ConsensusUpdateSchema, { authority: GOVERNANCE, ...consensusParamsFields(params) });
}

const PASSED = { status: ProposalStatus.PASSED, failedReason: "" };
/** Number of values at each end of a long table. */
const ENDS_TRIED = sized(1, 2);
/** Values that are refused when the proposal has passed, because they depend on the state. */
const REFUSED = ["staking.bond_denom"];

describe("a chain with parameters at an end of what they may be", () => {
  test.each(Object.entries(ENDS))("lives, is exported and imported, and votes those of %s back", (name, table) => {
    const base = begin();
    const { update, read, ...module } = updated(name);
    const defaults = { ...module.defaults, ...DIFFERENT[name] };
    const message = (json: JsonValue) => create(update.input, { authority: GOVERNANCE, params: read(json) } as never);
    for (const [parameter, { good }] of Object.entries(table))
      for (const value of endsOf(good)) {
        const chain = base.fork();
        const at = `${parameter} = ${JSON.stringify(value)}`;
        if (REFUSED.includes(`${name}.${parameter}`)) {
          expect([at, decide(chain, message({ ...defaults, [parameter]: value }))]).toMatchObject([
            at,
            { status: ProposalStatus.FAILED },
          ]);
          continue;
        }
        expect([at, decide(chain, message({ ...defaults, [parameter]: value }))]).toMatchObject([at, PASSED]);
        live(chain);
        if (parameter !== "historical_entries") chain.exportTwice();
        const back = decide(chain, message(defaults));
        expect([at, back]).toMatchObject([at, PASSED]);
        expect([at, back.gasUsed < LEAST_BLOCK_GAS]).toEqual([at, true]);
      }
  });

  test("votes the parameters of any module back where gas is dearest and blocks have least", () => {
    const chain = begin();
    const auth = updated("auth");
    const ends = Object.entries(ENDS.auth ?? {}).map(([parameter, { good }]) => [parameter, good.at(-1)]);
    const dear = { ...auth.defaults, ...Object.fromEntries(ends) };
    const params = create(auth.update.input, { authority: GOVERNANCE, params: auth.read(dear) } as never);
    expect(decide(chain, params)).toMatchObject(PASSED);
    expect(decide(chain, blocks({ block: { maxGas: LEAST_BLOCK_GAS } }))).toMatchObject(PASSED);
    for (const name of Object.keys(ENDS)) {
      const { update, read, defaults } = updated(name);
      const message = create(update.input, {
        authority: GOVERNANCE,
        params: read({ ...defaults, ...DIFFERENT[name] }),
      } as never);
      expect([name, decide(chain.fork(), message)]).toMatchObject([name, PASSED]);
    }
    expect(decide(chain, blocks({}))).toMatchObject(PASSED);
  });

  test.each<readonly [string, Changes]>([
    ["the least gas", { block: { maxGas: LEAST_BLOCK_GAS } }],
    ["any gas", { block: { maxGas: -1n } }],
    ["the fewest bytes", { block: { maxBytes: LEAST_BLOCK_BYTES }, evidence: { maxBytes: 0n } }],
    ["the engine's own bytes", { block: { maxBytes: -1n } }],
    ["the shortest evidence", { evidence: { maxAgeNumBlocks: 1n, maxAgeDuration: 1n, maxBytes: 0n } }],
    ["the longest evidence", { evidence: { maxAgeNumBlocks: 2n ** 63n - 1n, maxAgeDuration: 2n ** 63n - 1n } }],
  ])("lives, is exported and imported, and votes those of blocks back: %s", (_, changes) => {
    const chain = begin();
    expect(decide(chain, blocks(changes))).toMatchObject(PASSED);
    live(chain);
    chain.exportTwice();
    expect(decide(chain, blocks({}))).toMatchObject(PASSED);
  });
});
