import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { thorough } from "../../../test/support/runs.ts";
import { DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../../abci/index.ts";
import { createApp, standardModules } from "../../app/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { Context } from "../../runtime/index.ts";
import { CacheMultiStore, type KVStore, memoryDatabase } from "../../store/index.ts";
import {
  createValidatorMessage,
  genesisValidator,
  operatorAddress,
  type TestChain,
  type TestKey,
  testChain,
  testKey,
} from "../../testing/index.ts";
import { NATIVE_DENOM, parseDec, toHex } from "../../util/index.ts";
import { GenericAuthorizationSchema } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { CommunityPoolSpendProposalSchema } from "../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import {
  MsgCommunityPoolSpendSchema,
  MsgFundCommunityPoolSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { BasicAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { MsgGrantAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { OpenTallySchema, ProposalStatus, VoteOption, VoteSchema } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import {
  MsgCancelProposalSchema,
  MsgDepositSchema,
  MsgSubmitProposalSchema,
  MsgUpdateParamsSchema,
  MsgVoteSchema,
  MsgVoteWeightedSchema,
} from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { TextProposalSchema } from "../../wire/gen/sdk/gov/v1beta1/gov_pb.js";
import { Query as OldQuery } from "../../wire/gen/sdk/gov/v1beta1/query_pb.js";
import {
  MsgSubmitProposalSchema as OldSubmitSchema,
  MsgVoteWeightedSchema as OldWeightedSchema,
} from "../../wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { Query as MintQuery } from "../../wire/gen/sdk/mint/v1beta1/query_pb.js";
import { MsgUpdateParamsSchema as MintUpdateSchema } from "../../wire/gen/sdk/mint/v1beta1/tx_pb.js";
import { ParameterChangeProposalSchema } from "../../wire/gen/sdk/params/v1beta1/query_pb.js";
import { Query as StakingQuery } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { MsgDelegateSchema } from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, encodeMessage, packAny, typeUrlOf } from "../../wire/index.ts";
import { BLOCK_WORK } from "./limits.ts";
import { GovRecords } from "./records.ts";

const GOV = encodeAddress(moduleAddress("gov"));
const M = 1_000_000n;
const coins = (amount: bigint, denom = NATIVE_DENOM) => [{ denom, amount: `${amount}` }];
/** Two blocks of deposits, three of votes, one of a vote in haste; a block is six seconds. */
const PARAMS = {
  min_deposit: [{ denom: NATIVE_DENOM, amount: "10000000" }],
  expedited_min_deposit: [{ denom: NATIVE_DENOM, amount: "50000000" }],
  max_deposit_period: "12s",
  voting_period: "18s",
  expedited_voting_period: "6s",
  quorum: "0.334",
  threshold: "0.5",
  expedited_threshold: "0.667",
  veto_threshold: "0.334",
  min_initial_deposit_ratio: "0",
  proposal_cancel_ratio: "0.5",
  burn_vote_veto: true,
  min_deposit_ratio: "0.01",
};

const twoSeats = {
  ...{ unbonding_time: "60s", max_validators: 2, max_entries: 7, historical_entries: 0 },
  ...{ bond_denom: NATIVE_DENOM, min_commission_rate: "0" },
};

/** Alice's validator has ten million tokens of its own, four of carol's; bob's has six. */
function newChain(
  params: object = {},
  auth: object = {},
  gas = 200_000n,
): {
  chain: TestChain;
  alice: TestKey;
  bob: TestKey;
  carol: TestKey;
  dave: TestKey;
} {
  const chain = testChain({
    genesis: { ...auth, gov: { starting_proposal_id: "1", params: { ...PARAMS, ...params } } },
    coins: { [NATIVE_DENOM]: 10n ** 12n, uother: 10n ** 12n },
  });
  const [alice, bob, carol, dave] = ["alice", "bob", "carol", "dave"].map((name) => chain.key(name)) as [
    ...[TestKey, TestKey, TestKey, TestKey],
  ];
  chain.mustSend(createValidatorMessage(alice, { amount: 10n * M }), { from: alice, gas });
  chain.mustSend(createValidatorMessage(bob, { amount: 6n * M }), { from: bob, gas });
  const delegate = create(MsgDelegateSchema, {
    delegatorAddress: carol.address,
    validatorAddress: operatorAddress(alice),
    amount: coins(4n * M)[0],
  });
  chain.mustSend(delegate, { from: carol, gas });
  chain.nextBlock(2);
  return { chain, alice, bob, carol, dave };
}

const submit = (from: TestKey, messages: Any[] = [], change: object = {}) =>
  create(MsgSubmitProposalSchema, {
    ...{ messages, initialDeposit: coins(10n * M), proposer: from.address },
    ...{ title: "A title", summary: "A summary", metadata: messages.length === 0 ? "told elsewhere" : "" },
    ...change,
  });
const vote = (from: TestKey, proposalId: bigint, option = VoteOption.YES) =>
  create(MsgVoteSchema, { proposalId, voter: from.address, option });
const spend = (to: TestKey, amount: bigint) =>
  packAny(MsgCommunityPoolSpendSchema, { authority: GOV, recipient: to.address, amount: coins(amount) });
const fund = (from: TestKey, amount: bigint) =>
  create(MsgFundCommunityPoolSchema, { depositor: from.address, amount: coins(amount) });
const proposal = (chain: TestChain, proposalId: bigint) => chain.query(Query.method.proposal, { proposalId }).proposal;
const held = (chain: TestChain) => chain.balance(GOV);

function told(events: TestChain["blockEvents"], type: string): Record<string, string>[] {
  return events
    .filter((event) => event.type === type)
    .map(({ attributes }) => Object.fromEntries(attributes.map(({ key, value }) => [key, value])));
}

describe("a proposal", () => {
  test("passes by the votes of validators and of delegators for themselves, and its messages run", () => {
    const { chain, alice, bob, carol, dave } = newChain();
    chain.mustSend(fund(dave, 500n), { from: dave });
    const before = chain.balance(carol.address);
    const sent = chain.mustSend(submit(dave, [spend(carol, 400n)]), { from: dave });
    expect(told(sent.events as never, "submit_proposal")).toMatchObject([
      { proposal_id: "1", proposal_messages: ",/sdk.distribution.v1beta1.MsgCommunityPoolSpend" },
      { voting_period_start: "1" },
    ]);
    expect(held(chain)).toBe(10n * M);
    chain.block([
      chain.sign(vote(alice, 1n), { from: alice }),
      chain.sign(vote(bob, 1n, VoteOption.NO), { from: bob }),
      chain.sign(vote(carol, 1n, VoteOption.ABSTAIN), { from: carol }),
    ]);
    expect(chain.query(Query.method.tallyResult, { proposalId: 1n }).tally).toMatchObject({
      yesCount: "10000000",
      noCount: "6000000",
      abstainCount: "4000000",
    });
    chain.nextBlock(2);
    expect(told(chain.blockEvents, "active_proposal")).toEqual([
      expect.objectContaining({ proposal_id: "1", proposal_result: "proposal_passed", proposal_log: "passed" }),
    ]);
    expect(proposal(chain, 1n)).toMatchObject({ status: ProposalStatus.PASSED, failedReason: "" });
    expect(chain.balance(carol.address) - before).toBe(400n);
    expect([held(chain), chain.query(Query.method.votes, { proposalId: 1n }).votes.length]).toEqual([0n, 0]);
  });

  test("is rejected without a quorum, by a veto and by a tie; a veto burns its deposits", () => {
    const { chain, alice, bob, carol, dave } = newChain();
    const rich = chain.balance(dave.address);
    for (let i = 0; i < 3; i++) chain.mustSend(submit(dave), { from: dave });
    chain.block([chain.sign(vote(bob, 1n), { from: bob })]);
    const parts = [VoteOption.YES, VoteOption.NO].map((option) => ({ option, weight: "0.5" }));
    const split = create(MsgVoteWeightedSchema, { proposalId: 3n, voter: alice.address, options: parts });
    chain.block([
      chain.sign([vote(alice, 2n, VoteOption.NO_WITH_VETO), split], { from: alice, gas: 500_000n }),
      chain.sign(vote(carol, 2n), { from: carol }),
    ]);
    chain.nextBlock(3);
    const all = chain.query(Query.method.proposals, { proposalStatus: ProposalStatus.REJECTED }).proposals;
    expect(all.map(({ id }) => id)).toEqual([1n, 2n, 3n]);
    expect(all.map(({ finalTallyResult }) => finalTallyResult?.noWithVetoCount)).toEqual(["0", "10000000", "0"]);
    expect(rich - chain.balance(dave.address)).toBe(10n * M);
  });

  test("is dropped without enough deposits in time, and they go back; later ones are refused", () => {
    const { chain, alice, dave } = newChain();
    const rich = chain.balance(dave.address);
    chain.mustSend(submit(dave, [], { initialDeposit: coins(M) }), { from: dave });
    chain.mustSend(create(MsgDepositSchema, { proposalId: 1n, depositor: alice.address, amount: coins(M) }), {
      from: alice,
    });
    expect(chain.query(Query.method.deposits, { proposalId: 1n }).deposits).toHaveLength(2);
    chain.nextBlock();
    expect(told(chain.blockEvents, "inactive_proposal")).toEqual([
      expect.objectContaining({ proposal_id: "1", proposal_result: "proposal_dropped" }),
    ]);
    expect(chain.balance(dave.address)).toBe(rich);
    expect(() => proposal(chain, 1n)).toThrow("not found");
    const late = create(MsgDepositSchema, { proposalId: 1n, depositor: alice.address, amount: coins(M) });
    expect(chain.send(late, { from: alice })).toMatchObject({ codespace: "gov", code: 2 });
  });

  test("is taken back by its proposer alone, for half of the deposits", () => {
    const { chain, alice, bob, dave } = newChain();
    const rich = chain.balance(dave.address);
    chain.mustSend(submit(dave), { from: dave });
    chain.mustSend(vote(alice, 1n), { from: alice });
    const cancel = (from: TestKey) => create(MsgCancelProposalSchema, { proposalId: 1n, proposer: from.address });
    expect(chain.send(cancel(bob), { from: bob })).toMatchObject({ codespace: "gov", code: 18 });
    chain.mustSend(cancel(dave), { from: dave });
    expect(rich - chain.balance(dave.address)).toBe(5n * M);
    expect(() => proposal(chain, 1n)).toThrow("not found");
    chain.nextBlock(4);
  });

  test.each(["gov", "bonded_tokens_pool"])("is not cancelled for the good of module account %s", (name) => {
    const { chain, dave } = newChain({ proposal_cancel_dest: encodeAddress(moduleAddress(name)) });
    chain.mustSend(submit(dave), { from: dave });
    const cancel = create(MsgCancelProposalSchema, { proposalId: 1n, proposer: dave.address });
    expect(chain.send(cancel, { from: dave })).toMatchObject({ codespace: "sdk", code: 4 });
    expect(held(chain)).toBe(10n * M);
  });

  test("in haste that does not pass becomes a regular one, and is counted again", () => {
    const { chain, alice, dave } = newChain();
    chain.mustSend(submit(dave, [], { expedited: true, initialDeposit: coins(50n * M) }), { from: dave });
    chain.nextBlock();
    expect(told(chain.blockEvents, "active_proposal")).toMatchObject([
      { proposal_result: "expedited_proposal_rejected" },
    ]);
    expect(proposal(chain, 1n)).toMatchObject({ status: ProposalStatus.VOTING_PERIOD, expedited: false });
    expect(held(chain)).toBe(50n * M);
    chain.mustSend(vote(alice, 1n), { from: alice });
    chain.nextBlock();
    expect(proposal(chain, 1n)).toMatchObject({ status: ProposalStatus.PASSED });
    expect(held(chain)).toBe(0n);
  });

  test("whose messages fail changes nothing, and says why", () => {
    const { chain, alice, dave } = newChain();
    chain.mustSend(fund(dave, 500n), { from: dave });
    const rich = chain.balance(dave.address);
    chain.mustSend(submit(dave, [spend(dave, 400n), spend(dave, 400n)]), { from: dave });
    chain.mustSend(vote(alice, 1n), { from: alice });
    chain.nextBlock(2);
    expect(proposal(chain, 1n)).toMatchObject({
      status: ProposalStatus.FAILED,
      failedReason: "community pool does not have sufficient coins to distribute",
    });
    expect(chain.balance(dave.address)).toBe(rich);
    expect(told(chain.blockEvents, "active_proposal")[0]?.proposal_log).toMatch(
      /^passed, but msg 1 \(\/sdk\..*Spend\) failed/,
    );
  });

  test("may not spend the deposits of others", () => {
    const { chain, alice, dave } = newChain();
    const steal = packAny(MsgSendSchema, { fromAddress: GOV, toAddress: dave.address, amount: coins(1n) });
    chain.mustSend(submit(dave, [steal]), { from: dave });
    chain.mustSend(submit(alice), { from: alice });
    chain.mustSend(vote(alice, 1n), { from: alice });
    chain.nextBlock();
    expect(proposal(chain, 1n)).toMatchObject({
      status: ProposalStatus.FAILED,
      failedReason: "the messages of a proposal may not move deposits",
    });
    expect(held(chain)).toBe(10n * M);
  });

  test("changes parameters, its own among them, while others are open", () => {
    const { chain, alice, dave } = newChain();
    const { params } = chain.query(Query.method.params, {});
    const change = packAny(MsgUpdateParamsSchema, {
      authority: GOV,
      params: { ...params, minDeposit: coins(1n, "uother"), quorum: "0" } as never,
    });
    chain.mustSend(submit(dave, [change]), { from: dave });
    chain.mustSend(submit(dave, [], { initialDeposit: coins(M) }), { from: dave });
    chain.mustSend(vote(alice, 1n), { from: alice });
    chain.nextBlock(2);
    expect(proposal(chain, 1n)?.status).toBe(ProposalStatus.PASSED);
    expect(chain.query(Query.method.params, {}).params).toMatchObject({ quorum: "0" });
    expect(chain.send(submit(dave), { from: dave })).toMatchObject({ codespace: "gov", code: 23 });
    expect(held(chain)).toBe(0n);
  });
});

describe("of proposals before release 0.46", () => {
  const old = (from: TestKey, content: Any) =>
    create(OldSubmitSchema, { content, initialDeposit: coins(10n * M), proposer: from.address });

  test("texts pass and do nothing; both surfaces show them and split votes", () => {
    const { chain, alice, dave } = newChain();
    chain.mustSend(old(dave, packAny(TextProposalSchema, { title: "T", description: "D" })), { from: dave });
    const options = [
      { option: 1, weight: `${parseDec("0.7")}` },
      { option: 2, weight: `${parseDec("0.3")}` },
    ];
    chain.mustSend(create(OldWeightedSchema, { proposalId: 1n, voter: alice.address, options }), { from: alice });
    expect(chain.query(OldQuery.method.vote, { proposalId: 1n, voter: alice.address }).vote?.options).toMatchObject(
      options,
    );
    expect(chain.query(Query.method.vote, { proposalId: 1n, voter: alice.address }).vote?.options).toMatchObject([
      { option: VoteOption.YES, weight: "0.700000000000000000" },
      { option: VoteOption.ABSTAIN, weight: "0.300000000000000000" },
    ]);
    chain.nextBlock(2);
    const { proposal: found } = chain.query(OldQuery.method.proposal, { proposalId: 1n });
    expect(found).toMatchObject({
      status: ProposalStatus.PASSED,
      content: { typeUrl: "/sdk.gov.v1beta1.TextProposal" },
    });
    expect(found?.finalTallyResult).toMatchObject({ yes: "9800000", abstain: "4200000" });
    expect(chain.query(OldQuery.method.params, { paramsType: "tallying" }).tallyParams).toBeDefined();
    expect(() => chain.query(OldQuery.method.params, { paramsType: "all" })).toThrow("not a valid parameter type");
  });

  test("payments and parameters are tried at once, and done when they pass", () => {
    const { chain, alice, carol, dave } = newChain();
    const pay = { title: "T", description: "D", recipient: carol.address, amount: coins(300n) };
    expect(chain.send(old(dave, packAny(CommunityPoolSpendProposalSchema, pay)), { from: dave })).toMatchObject({
      codespace: "gov",
      code: 5,
    });
    chain.mustSend(fund(dave, 300n), { from: dave });
    const change = (key: string, value: string, subspace = "staking") =>
      packAny(ParameterChangeProposalSchema, { title: "T", description: "D", changes: [{ subspace, key, value }] });
    for (const [key, value] of [
      ["MaxValidators", "0"],
      ["MaxValidators", "x"],
      ["MaxFriends", "1"],
      ["UnbondingTime", '"-1"'],
    ] as const)
      expect(chain.send(old(dave, change(key, value)), { from: dave })).toMatchObject({ codespace: "gov", code: 5 });
    expect(chain.send(old(dave, change("X", "1", "nowhere")), { from: dave }).log).toContain("no subspace");
    chain.mustSend(old(dave, packAny(CommunityPoolSpendProposalSchema, pay)), { from: dave });
    chain.mustSend(old(dave, change("UnbondingTime", '"86400000000000"')), { from: dave });
    chain.mustSend([vote(alice, 1n), vote(alice, 2n)], { from: alice, gas: 500_000n });
    const before = chain.balance(carol.address);
    chain.nextBlock(3);
    expect([1n, 2n].map((id) => proposal(chain, id)?.status)).toEqual([ProposalStatus.PASSED, ProposalStatus.PASSED]);
    expect(chain.balance(carol.address) - before).toBe(300n);
    expect(chain.query(StakingQuery.method.params, {}).params?.unbondingTime?.seconds).toBe(86_400n);
  });
});

describe("is refused", () => {
  test("what governance does not sign, what nobody handles, and what genesis would refuse", () => {
    const { chain, dave } = newChain();
    const refused = (messages: Any[], change: object = {}) => {
      const { codespace, code } = chain.send(submit(dave, messages, change), { from: dave });
      return `${codespace}/${code}`;
    };
    const send = { fromAddress: dave.address, toAddress: dave.address, amount: coins(1n) };
    expect(refused([packAny(MsgSendSchema, send)])).toBe("gov/13");
    expect(refused([packAny(TextProposalSchema, { title: "T", description: "D" })])).toMatch(/^(gov\/1[02]|sdk\/.*)$/);
    const { params } = chain.query(MintQuery.method.params, {});
    const bad = { authority: GOV, params: { ...params, blocksPerYear: 0n } as never };
    expect(refused([packAny(MintUpdateSchema, bad)])).toBe("gov/12");
    expect(refused([], { metadata: "" })).toBe("gov/11");
    expect(refused([], { metadata: '{"title":"B title","summary":"A summary"}' })).toBe("gov/5");
    expect(refused([], { title: "" })).toBe("sdk/18");
    expect(refused(Array.from({ length: 101 }, () => spend(dave, 1n)))).toBe("sdk/34");
  });

  test.each([
    ["metadata", 255, 256, "gov/15"],
    ["title", 255, 256, "gov/15"],
    ["summary", 10_200, 10_201, "gov/22"],
  ])("a %s longer than %i bytes", (field, good, bad, error) => {
    const { chain, dave } = newChain();
    const send = (length: number) =>
      chain.send(submit(dave, [spend(dave, 1n)], { [field]: "x".repeat(length) }), { from: dave, gas: 10_000_000n });
    expect(send(good).code).toBe(0);
    const { codespace, code } = send(bad);
    expect(`${codespace}/${code}`).toBe(error);
  });

  test("deposits that are too small or in another denomination, and invalid votes", () => {
    const { chain, alice, dave } = newChain();
    chain.mustSend(submit(dave, [], { initialDeposit: coins(100_000n) }), { from: dave });
    const deposit = (amount: object[]) =>
      chain.send(create(MsgDepositSchema, { proposalId: 1n, depositor: alice.address, amount: amount as never }), {
        from: alice,
      });
    expect(deposit(coins(99_999n))).toMatchObject({ codespace: "gov", code: 16 });
    expect(deposit([...coins(M, "uother"), ...coins(M)].reverse())).toMatchObject({ code: 10 });
    expect(deposit([...coins(M, "uother"), ...coins(M)])).toMatchObject({ codespace: "gov", code: 23 });
    expect(chain.send(vote(alice, 1n), { from: alice })).toMatchObject({ codespace: "gov", code: 3 });
    expect(chain.send(vote(alice, 9n), { from: alice })).toMatchObject({ codespace: "gov", code: 3 });
    expect(chain.send(vote(alice, 1n, 0 as never), { from: alice })).toMatchObject({ codespace: "gov", code: 7 });
    const parts = (...weights: string[]) => {
      const options = weights.map((weight, i) => ({ option: i + 1, weight }));
      return chain.send(create(MsgVoteWeightedSchema, { proposalId: 1n, voter: alice.address, options }), {
        from: alice,
      });
    };
    for (const bad of [
      ["1", "0"],
      ["0.5", "0.4"],
      ["0.6", "0.5"],
      ["x"],
      ["1.000000000000000001"],
      ["1e0"],
      ["-1", "2"],
    ])
      expect(parts(...bad)).toMatchObject({ codespace: "gov", code: 7 });
    expect(parts()).toMatchObject({ codespace: "sdk", code: 18 });
  });
});

test("an exported state goes on as it was", () => {
  const { chain, alice, dave } = newChain();
  chain.mustSend(submit(dave, [spend(dave, 1n)]), { from: dave });
  chain.mustSend(submit(dave, [], { initialDeposit: coins(M) }), { from: dave });
  chain.mustSend(vote(alice, 1n), { from: alice });
  const [first, second] = chain.exportTwice() as [{ gov: object }, { gov: object }];
  expect(Object.keys(first.gov)).toContain("proposals");
  expect(JSON.stringify(second.gov)).toContain("A title");
});

/** Accounts that have nothing, in the order of their addresses. */
const strangers = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(20);
    new DataView(bytes.buffer).setUint32(0, i + 1);
    return encodeAddress(bytes);
  });

/** More than the votes that one block forgets. */
const CROWD = BLOCK_WORK + 500;

/** Alice's validator has a token of its own, the last voter a hundred; all others of the crowd have nothing. */
function crowd(votingEnd: string): TestChain {
  const names = ["alice", "bob", "carol", "dave"];
  const [alice, rich = ""] = [testKey("alice"), encodeAddress(new Uint8Array(20).fill(255))];
  const { validator, delegation } = genesisValidator(alice, M);
  const shares = (tokens: bigint): string => `${tokens}.${"0".repeat(18)}`;
  const honest = { ...delegation, delegator_address: rich, shares: shares(100n * M) };
  const pool = encodeAddress(moduleAddress("not_bonded_tokens_pool"));
  const tally = { yes_count: "0", abstain_count: "0", no_count: "0", no_with_veto_count: "0" };
  const begun = "2024-12-31T00:00:00Z";
  const times = { submit_time: begun, deposit_end_time: begun, voting_start_time: begun, voting_end_time: votingEnd };
  const open = { id: "1", status: "PROPOSAL_STATUS_VOTING_PERIOD", final_tally_result: tally, ...times };
  const voted = (voter: string, option: string) => ({ proposal_id: "1", voter, options: [{ option, weight: "1" }] });
  return testChain({
    checkedAt: (height) => height > 3n,
    genesis: {
      bank: {
        balances: [
          ...names.map((name) => ({ address: testKey(name).address, coins: coins(10n ** 12n) })),
          { address: pool, coins: coins(101n * M) },
          { address: GOV, coins: coins(10n * M) },
        ],
      },
      staking: {
        validators: [{ ...validator, tokens: `${101n * M}`, delegator_shares: shares(101n * M) }],
        delegations: [delegation, honest],
      },
      gov: {
        starting_proposal_id: "2",
        params: PARAMS,
        proposals: [{ ...open, total_deposit: coins(10n * M), title: "T", summary: "S", metadata: "M" }],
        deposits: [{ proposal_id: "1", depositor: alice.address, amount: coins(10n * M) }],
        votes: [
          ...strangers(CROWD).map((voter) => voted(voter, "VOTE_OPTION_ABSTAIN")),
          voted(rich, "VOTE_OPTION_NO"),
          voted(testKey("bob").address, "VOTE_OPTION_YES"),
        ],
      },
    },
  });
}

describe("a vote", () => {
  test("that becomes a regular one counts only what is voted from then on, by whom it was before as well", () => {
    const { chain, alice, carol, dave } = newChain();
    chain.mustSend(submit(dave, [], { expedited: true, initialDeposit: coins(50n * M) }), { from: dave });
    chain.block([chain.sign(vote(carol, 1n), { from: carol })]);
    expect(proposal(chain, 1n)).toMatchObject({ expedited: false, finalTallyResult: { yesCount: `${4n * M}` } });
    expect(chain.query(Query.method.votes, { proposalId: 1n }).votes).toEqual([]);
    const pair = { delegatorAddress: carol.address, validatorAddress: operatorAddress(alice) };
    const more = create(MsgDelegateSchema, { ...pair, amount: coins(M)[0] });
    chain.block([chain.sign([vote(carol, 1n, VoteOption.NO), more], { from: carol, gas: 10n ** 6n })]);
    const { tally } = chain.query(Query.method.tallyResult, { proposalId: 1n });
    expect(tally).toMatchObject({ yesCount: "0", noCount: `${5n * M}` });
  });

  test("is not counted less because somebody stronger becomes a validator in its last block", () => {
    const { chain, alice, bob, carol, dave } = newChain({}, { staking: { params: twoSeats } });
    chain.mustSend(submit(dave), { from: dave });
    chain.block([chain.sign(vote(bob, 1n), { from: bob }), chain.sign(vote(alice, 1n), { from: alice })]);
    chain.nextBlock();
    chain.block([chain.sign(createValidatorMessage(carol, { amount: 1000n * M }), { from: carol, gas: 10n ** 6n })]);
    expect(proposal(chain, 1n)).toMatchObject({
      status: ProposalStatus.PASSED,
      finalTallyResult: { yesCount: `${20n * M}` },
    });
  });
});

describe("votes of version 1 of the module", () => {
  const records = new GovRecords();
  const migrateGov = standardModules().modules.find(({ name }) => name === "gov")?.migrations?.[1];

  const rowsOf = (store: KVStore) => [...store.iterate()].map((row) => row.map(toHex).join(" "));

  /** Two votes, one of them expedited, in the state as version 1 stored it; the count of one may have begun. */
  function versionOne(...counts: bigint[]) {
    const { chain, alice, bob, carol, dave } = newChain({ voting_period: "600s", expedited_voting_period: "300s" });
    chain.mustSend(submit(dave), { from: dave });
    chain.mustSend(submit(dave, [], { expedited: true, initialDeposit: coins(50n * M) }), { from: dave });
    for (const id of [1n, 2n])
      chain.block([
        chain.sign(vote(alice, id), { from: alice }),
        chain.sign(vote(bob, id, VoteOption.NO), { from: bob }),
        chain.sign(vote(carol, id, VoteOption.ABSTAIN), { from: carol }),
      ]);
    const stores = new CacheMultiStore(chain.app.state);
    const store = stores.store("gov");
    const wanted = rowsOf(store);
    const raw = [...records.votes.iterate(store)];
    for (const [key] of raw) records.votes.delete(store, key);
    for (const key of [...records.voted.keys(store)]) records.voted.delete(store, key);
    for (const [[, voter], each] of raw)
      store.set(records.votes.storeKey([each.proposalId, voter]), encodeMessage(VoteSchema, each));
    for (const proposalId of counts) records.tallies.set(store, proposalId, create(OpenTallySchema, { proposalId }));
    const block = { chainId: "test-1", height: chain.height + 1n, time: chain.time, proposer: new Uint8Array(20) };
    const ctx = new Context({ block, mode: "block", stores });
    return { chain, store, wanted, migrate: () => migrateGov?.(ctx) };
  }

  test("go on as if they had been made today", () => {
    const { store, wanted, migrate } = versionOne();
    migrate();
    expect(rowsOf(store)).toEqual(wanted);
  });

  test("of which a count had begun are made again, in a new time of voting", () => {
    const { chain, store, migrate } = versionOne(1n);
    migrate();
    const { votingStartTime, votingEndTime } = records.proposals.require(store, 1n);
    const now = chain.time / 10n ** 9n;
    expect([votingStartTime?.seconds, votingEndTime?.seconds]).toEqual([now, now + 600n]);
    expect([...records.votes.values(store)].map(({ proposalId }) => proposalId)).toEqual([2n, 2n, 2n]);
    expect([...records.votingQueue.iterate(store)].map(({ key }) => key)).toEqual([2n, 1n]);
    expect([...records.tallies.keys(store)]).toEqual([]);
  });

  test("of a genesis file with a count that had begun are made again too", () => {
    const { chain } = versionOne();
    const exported = chain.app.exportGenesis() as { gov: object };
    const tallies = [{ proposal_id: "1", total: "5", yes: "5" }];
    const again = createApp({ database: memoryDatabase(), checkInvariants: true });
    const [time, height] = [chain.time + 1n, chain.height + 1n];
    again.initChain({
      ...{ chainId: "test-1", time, initialHeight: height, validators: [], consensusParams: DEFAULT_CONSENSUS_PARAMS },
      appState: { ...exported, gov: { ...exported.gov, tallies } },
    });
    const place = { height, time, proposer: new Uint8Array(20), hash: new Uint8Array(32) };
    again.finalizeBlock({ ...NO_VOTERS, ...place, txs: [] });
    again.commit();
    const { gov } = again.exportGenesis() as unknown as {
      gov: { votes: { proposal_id: string }[]; tallies: object[] };
    };
    expect([gov.votes.map(({ proposal_id }) => proposal_id), gov.tallies]).toEqual([["2", "2", "2"], []]);
  });
});

thorough(() => {
  describe("a vote of more accounts than a block can read", () => {
    const tally = { yesCount: "0", abstainCount: "0", noCount: `${100n * M}`, noWithVetoCount: "0" };

    test("ends in one block: what somebody delegates later changes nothing", () => {
      const chain = crowd("2025-01-01T00:00:12Z");
      const bob = chain.key("bob");
      expect(chain.query(Query.method.tallyResult, { proposalId: 1n }).tally).toMatchObject(tally);
      chain.nextBlock();
      const late = create(MsgDelegateSchema, {
        delegatorAddress: bob.address,
        validatorAddress: operatorAddress(chain.key("alice")),
        amount: coins(10n ** 11n)[0],
      });
      chain.block([chain.sign(late, { from: bob, gas: 500_000n }), chain.sign(vote(bob, 1n), { from: bob })]);
      chain.nextBlock();
      expect(proposal(chain, 1n)).toMatchObject({ status: ProposalStatus.REJECTED, finalTallyResult: tally });
      expect(held(chain)).toBe(0n);
    });

    test("shows no votes from its end on, and forgets them in some blocks", () => {
      const chain = crowd("2025-01-01T00:00:06Z");
      const rows = (): number => [...chain.app.state.store("gov").iterate({ start: Uint8Array.of(4) })].length;
      const others = 5;
      expect(chain.query(Query.method.votes, { proposalId: 1n }).votes).toEqual([]);
      expect(rows()).toBeGreaterThan(others);
      expect((chain.app.exportGenesis() as { gov: { votes?: object[] } }).gov.votes ?? []).toEqual([]);
      chain.nextBlock();
      expect(rows()).toBeLessThanOrEqual(others);
    });
  });

  test("proposals that nobody voted on end with as much work as the validators that are read", () => {
    const COUNT = BLOCK_WORK;
    const time = "2024-12-31T00:00:00Z";
    const { validator, delegation } = genesisValidator(testKey("alice"), M);
    const tally = { yes_count: "0", abstain_count: "0", no_count: "0", no_with_veto_count: "0" };
    const times = { submit_time: time, deposit_end_time: time, voting_start_time: time, voting_end_time: time };
    const texts = { title: "T", summary: "S", metadata: "M", total_deposit: [] };
    const proposals = Array.from({ length: COUNT }, (_, i) => {
      return { id: `${i + 1}`, status: "PROPOSAL_STATUS_VOTING_PERIOD", final_tally_result: tally, ...times, ...texts };
    });
    const held = ["alice", "bob", "carol", "dave"].map((name) => {
      return { address: testKey(name).address, coins: coins(10n ** 12n) };
    });
    const pool = { address: encodeAddress(moduleAddress("not_bonded_tokens_pool")), coins: coins(M) };
    const chain = testChain({
      genesis: {
        bank: { balances: [...held, pool] },
        staking: { validators: [validator], delegations: [delegation] },
        gov: { starting_proposal_id: `${COUNT + 1}`, params: PARAMS, proposals },
      },
    });
    const open = (): number => {
      const { gov } = chain.app.exportGenesis() as unknown as { gov: { proposals: { status: string }[] } };
      return gov.proposals.filter(({ status }) => status === "PROPOSAL_STATUS_VOTING_PERIOD").length;
    };
    // One for the proposal, one for the only validator.
    expect(open()).toBe(COUNT - BLOCK_WORK / 2);
    chain.nextBlock();
    expect(open()).toBe(0);
  });
});

test("nobody gets the right to spend deposits later, by a grant or an allowance of the account that holds them", () => {
  const grantee = testKey("carol").address;
  const send = packAny(GenericAuthorizationSchema, { msg: typeUrlOf(MsgSendSchema) });
  const rights = [
    packAny(MsgGrantSchema, { granter: GOV, grantee, grant: { authorization: send } }),
    packAny(MsgGrantAllowanceSchema, { granter: GOV, grantee, allowance: packAny(BasicAllowanceSchema, {}) }),
  ];
  const { chain, alice, carol, dave } = newChain();
  for (const right of rights) chain.mustSend(submit(dave, [right]), { from: dave });
  for (const id of [1n, 2n]) chain.mustSend(vote(alice, id), { from: alice });
  chain.nextBlock(5);
  for (const id of [1n, 2n]) {
    expect(proposal(chain, id)?.status).toBe(ProposalStatus.FAILED);
    expect(proposal(chain, id)?.failedReason).toContain("is a module account, which cannot grant");
  }
  const theft = packAny(MsgSendSchema, { fromAddress: GOV, toAddress: grantee, amount: coins(1n) });
  const sent = chain.send(packAny(MsgExecSchema, { grantee, msgs: [theft] }), { from: carol });
  expect(sent).toMatchObject({ codespace: "authz", code: 2 });
});

test("messages that would use more gas than a block has fail, and change nothing", () => {
  const gas = 10n ** 12n;
  const store_gas = { read_flat: "10000000", write_flat: "1" };
  const limits = { max_memo_characters: "256", tx_sig_limit: "7", tx_size_cost_per_byte: "10" };
  const params = { ...limits, sig_verify_cost_ed25519: "590", sig_verify_cost_secp256k1: "1000", store_gas };
  const { chain, alice, carol, dave } = newChain({}, { auth: { params } }, gas);
  chain.mustSend(fund(dave, 500n), { from: dave, gas });
  chain.mustSend(submit(dave, [spend(carol, 1n), spend(carol, 2n)]), { from: dave, gas });
  chain.mustSend(vote(alice, 1n), { from: alice, gas });
  const before = chain.balance(carol.address);
  chain.nextBlock(2);
  expect(proposal(chain, 1n)).toMatchObject({ status: ProposalStatus.FAILED });
  expect(proposal(chain, 1n)?.failedReason).toContain("out of gas");
  expect(chain.balance(carol.address)).toBe(before);
});
