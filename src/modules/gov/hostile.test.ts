import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { createValidatorMessage } from "../../../test/support/chain/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestChain, type TestKey, testChain } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { MsgExecSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { MsgMultiSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { MsgFundCommunityPoolSchema } from "../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { ProposalStatus, VoteOption } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import {
  MsgCancelProposalSchema,
  MsgDepositSchema,
  MsgSubmitProposalSchema,
  MsgVoteSchema,
} from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { MsgCreatePermanentLockedAccountSchema } from "../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { type Any, encodeAddress, packAny } from "../../wire/index.ts";

/** Proposals that a hostile or careless majority can pass while another account's deposit is there. */

const GOV = encodeAddress(moduleAddress("gov"));
const THIEF = encodeAddress(new Uint8Array(20).fill(7));
const DEPOSIT = 10_000_000n;
const GAS = 1_000_000n;
const coins = (amount: bigint) => [{ denom: NATIVE_DENOM, amount: `${amount}` }];
const params = {
  ...{ min_deposit: coins(DEPOSIT), expedited_min_deposit: coins(5n * DEPOSIT), min_initial_deposit_ratio: "0" },
  ...{ max_deposit_period: "12s", voting_period: "18s", expedited_voting_period: "6s", proposal_cancel_ratio: "0.5" },
  ...{
    quorum: "0.334",
    threshold: "0.5",
    expedited_threshold: "0.667",
    veto_threshold: "0.334",
    min_deposit_ratio: "0.01",
  },
};

function submit(proposer: string, messages: Any[] = []) {
  const about = { title: "T", summary: "S", metadata: messages.length === 0 ? "told elsewhere" : "" };
  return create(MsgSubmitProposalSchema, { messages, initialDeposit: coins(DEPOSIT), proposer, ...about });
}

const inner = packAny(MsgSubmitProposalSchema, submit(GOV));
const HOSTILE: readonly (readonly [what: string, message: Any, reason: string])[] = [
  [
    "a transfer to many",
    packAny(MsgMultiSendSchema, {
      inputs: [{ address: GOV, coins: coins(1n) }],
      outputs: [{ address: THIEF, coins: coins(1n) }],
    }),
    "may not move deposits",
  ],
  ["a gift", packAny(MsgFundCommunityPoolSchema, { depositor: GOV, amount: coins(1n) }), "may not move deposits"],
  [
    "an account of locked coins",
    packAny(MsgCreatePermanentLockedAccountSchema, { fromAddress: GOV, toAddress: THIEF, amount: coins(1n) }),
    "may not move deposits",
  ],
  [
    "a deposit",
    packAny(MsgDepositSchema, { proposalId: 2n, depositor: GOV, amount: coins(DEPOSIT) }),
    "the governance account cannot make deposits",
  ],
  ["a proposal", inner, "the governance account cannot make deposits"],
  ["a proposal with a proposal", packAny(MsgSubmitProposalSchema, submit(GOV, [inner])), "cannot make deposits"],
  [
    "the end of another proposal",
    packAny(MsgCancelProposalSchema, { proposalId: 2n, proposer: GOV }),
    `${GOV}: invalid proposer`,
  ],
];

function newChain(): { readonly chain: TestChain; readonly alice: TestKey; readonly bob: TestKey } {
  const chain = testChain({ genesis: { gov: { starting_proposal_id: "1", params } } });
  const [alice, bob] = [chain.key("alice"), chain.key("bob")];
  chain.mustSend(createValidatorMessage(alice, { amount: DEPOSIT }), { from: alice, gas: GAS });
  chain.nextBlock(2);
  return { chain, alice, bob };
}

const carried = (message: Any) => packAny(MsgExecSchema, { grantee: GOV, msgs: [message] });
const cases = HOSTILE.flatMap(([what, message, reason]) => [
  { what, message, reason },
  { what: `${what}, carried by another message,`, message: carried(message), reason },
]);

test.each(cases)("$what in a proposal leaves what others deposited alone", ({ message, reason }) => {
  const { chain, alice, bob } = newChain();
  chain.mustSend(submit(bob.address, [message]), { from: bob, gas: GAS });
  chain.mustSend(create(MsgVoteSchema, { proposalId: 1n, voter: alice.address, option: VoteOption.YES }), {
    from: alice,
  });
  chain.mustSend(submit(alice.address), { from: alice, gas: GAS });
  const before = chain.balance(alice.address);
  const told = (proposalId: bigint) => chain.query(Query.method.proposal, { proposalId }).proposal;
  while (told(1n)?.status === ProposalStatus.VOTING_PERIOD) chain.nextBlock();
  expect(told(1n)).toMatchObject({ status: ProposalStatus.FAILED, failedReason: expect.stringContaining(reason) });
  expect(told(2n)?.status).toBe(ProposalStatus.VOTING_PERIOD);
  expect(chain.balance(GOV)).toBe(DEPOSIT);
  chain.nextBlock(4);
  expect(told(2n)?.status).toBe(ProposalStatus.REJECTED);
  expect(chain.balance(alice.address)).toBe(before + DEPOSIT);
  expect(chain.app.brokenInvariants()).toEqual([]);
});
