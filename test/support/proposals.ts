import { create, type Message } from "@bufbuild/protobuf";
import { type TestChain, type TestKey, toAny } from "../../src/testing/index.ts";
import { assert, NATIVE_DENOM } from "../../src/util/index.ts";
import { ProposalStatus, VoteOption } from "../../src/wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../src/wire/gen/sdk/gov/v1/query_pb.js";
import { MsgSubmitProposalSchema, MsgVoteSchema } from "../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { createValidatorMessage } from "./chain/index.ts";

const MIN_DEPOSIT = 10_000_000n;
const coins = (amount: bigint) => [{ denom: NATIVE_DENOM, amount: `${amount}` }];

/** A genesis state of the module gov in which votes last two blocks. */
export const SHORT_VOTES = {
  starting_proposal_id: "1",
  params: {
    min_deposit: coins(MIN_DEPOSIT),
    expedited_min_deposit: coins(5n * MIN_DEPOSIT),
    quorum: "0.334",
    threshold: "0.5",
    expedited_threshold: "0.667",
    veto_threshold: "0.334",
    min_initial_deposit_ratio: "0",
    proposal_cancel_ratio: "0.5",
    min_deposit_ratio: "0.01",
    voting_period: "12s",
    expedited_voting_period: "6s",
    max_deposit_period: "12s",
  },
};

/** Makes the account the operator of a validator; alone, it has all votes. */
export function becomeOperator(chain: TestChain, from: TestKey): void {
  chain.mustSend(createValidatorMessage(from, { amount: MIN_DEPOSIT }), { from });
}

/** A proposal with a whole deposit. */
export function proposalOf(from: TestKey, message: Message) {
  const about = { proposer: from.address, title: "A change", summary: "of something" };
  return create(MsgSubmitProposalSchema, { ...about, messages: [toAny(message)], initialDeposit: coins(MIN_DEPOSIT) });
}

/** Proposes what the message does, votes for it and makes blocks until it was done. Throws if it was not. */
export function passProposal(chain: TestChain, from: TestKey, message: Message): void {
  chain.mustSend(proposalOf(from, message), { from });
  const proposalId = chain.query(Query.method.proposals, {}).proposals.at(-1)?.id ?? 0n;
  chain.mustSend(create(MsgVoteSchema, { proposalId, voter: from.address, option: VoteOption.YES }), { from });
  const proposal = () => chain.query(Query.method.proposal, { proposalId }).proposal;
  while (proposal()?.status === ProposalStatus.VOTING_PERIOD) chain.nextBlock();
  const { status, failedReason } = proposal() ?? {};
  assert(status === ProposalStatus.PASSED, `the proposal did not pass: ${failedReason ?? ""}`);
}
