import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { genesisValidator } from "../../../test/support/chain/index.ts";
import {
  coins,
  fund,
  GOV,
  held,
  M,
  newChain,
  PARAMS,
  proposal,
  spend,
  submit,
  vote,
} from "../../../test/support/gov-chain.ts";
import { thorough } from "../../../test/support/runs.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../testing/index.ts";
import { parseDec } from "../../util/index.ts";
import { Query as AuthQuery } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { MsgUpdateParamsSchema as AuthUpdateSchema } from "../../wire/gen/sdk/auth/v1beta1/tx_pb.js";
import { GenericAuthorizationSchema } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { CommunityPoolSpendProposalSchema } from "../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import { BasicAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { MsgGrantAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { ProposalStatus, VoteOption } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import {
  MsgCancelProposalSchema,
  MsgDepositSchema,
  MsgUpdateParamsSchema,
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
import { encodeAddress, packAny, typeUrlOf } from "../../wire/index.ts";
import { BLOCK_WORK } from "./limits.ts";

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

describe("a proposal of parameters that would end all proposals fails:", () => {
  const changed = (chain: TestChain, message: Any): string => {
    const [alice, dave] = [chain.key("alice"), chain.key("dave")];
    const gas = 900_000n;
    chain.mustSend(submit(dave, [message]), { from: dave, gas });
    chain.mustSend(vote(alice, 1n), { from: alice, gas });
    chain.nextBlock(3);
    const { status, failedReason = "" } = proposal(chain, 1n) ?? {};
    return status === ProposalStatus.FAILED ? failedReason : `status ${status}`;
  };

  test.each([
    ["of coins that nobody has", [...coins(1n, "unothing"), ...coins(10n * M)]],
    ["of a large part of all coins", coins(10n ** 12n)],
  ])("a deposit %s", (_, minDeposit) => {
    const { chain } = newChain();
    const { params } = chain.query(Query.method.params, {});
    const expeditedMinDeposit = minDeposit.map((coin) => ({ ...coin, amount: `${coin.amount}0` }));
    const message = { authority: GOV, params: { ...params, minDeposit, expeditedMinDeposit } as never };
    expect(changed(chain, packAny(MsgUpdateParamsSchema, message))).toContain(
      "more than a tenth of all there is of it",
    );
  });

  test("dearer gas, where the blocks of genesis have little", () => {
    const { chain } = newChain({}, {}, 200_000n, 1_000_000n);
    const { params } = chain.query(AuthQuery.method.params, {});
    const update = (txSizeCostPerByte: bigint) =>
      packAny(AuthUpdateSchema, { authority: GOV, params: { ...params, txSizeCostPerByte } as never });
    expect(changed(chain.fork(), update(11n))).toContain("first raise block.max_gas to 2000000 or more");
    expect(changed(chain, update(9n))).toBe(`status ${ProposalStatus.PASSED}`);
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

thorough(() => {
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
