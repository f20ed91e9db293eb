import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { moduleAddress } from "../../src/crypto/index.ts";
import { type TestChain, type TestKey, testChain } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import {
  MsgCommunityPoolSpendSchema,
  MsgFundCommunityPoolSchema,
} from "../../src/wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { VoteOption } from "../../src/wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../src/wire/gen/sdk/gov/v1/query_pb.js";
import { MsgSubmitProposalSchema, MsgVoteSchema } from "../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { MsgDelegateSchema } from "../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress, packAny } from "../../src/wire/index.ts";
import { createValidatorMessage, operatorAddress } from "./chain/index.ts";

export const GOV = encodeAddress(moduleAddress("gov"));
export const M = 1_000_000n;
export const coins = (amount: bigint, denom = NATIVE_DENOM) => [{ denom, amount: `${amount}` }];
/** Two blocks of deposits, three of votes, one of a vote in haste; a block is six seconds. */
export const PARAMS = {
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

export const twoSeats = {
  ...{ unbonding_time: "60s", max_validators: 2, max_entries: 7, historical_entries: 0 },
  ...{ bond_denom: NATIVE_DENOM, min_commission_rate: "0" },
};

/** Alice's validator has ten million tokens of its own, four of carol's; bob's has six. */
export function newChain(
  params: object = {},
  auth: object = {},
  gas = 200_000n,
  maxBlockGas = -1n,
): {
  chain: TestChain;
  alice: TestKey;
  bob: TestKey;
  carol: TestKey;
  dave: TestKey;
} {
  const chain = testChain({
    maxBlockGas,
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

export const submit = (from: TestKey, messages: Any[] = [], change: object = {}) =>
  create(MsgSubmitProposalSchema, {
    ...{ messages, initialDeposit: coins(10n * M), proposer: from.address },
    ...{ title: "A title", summary: "A summary", metadata: messages.length === 0 ? "told elsewhere" : "" },
    ...change,
  });
export const vote = (from: TestKey, proposalId: bigint, option = VoteOption.YES) =>
  create(MsgVoteSchema, { proposalId, voter: from.address, option });
export const spend = (to: TestKey, amount: bigint) =>
  packAny(MsgCommunityPoolSpendSchema, { authority: GOV, recipient: to.address, amount: coins(amount) });
export const fund = (from: TestKey, amount: bigint) =>
  create(MsgFundCommunityPoolSchema, { depositor: from.address, amount: coins(amount) });
export const proposal = (chain: TestChain, proposalId: bigint) =>
  chain.query(Query.method.proposal, { proposalId }).proposal;
export const held = (chain: TestChain) => chain.balance(GOV);
