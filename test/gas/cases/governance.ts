import { create } from "@bufbuild/protobuf";
import { moduleAddress } from "../../../src/crypto/index.ts";
import { MAX_CHANGES, MAX_METADATA, MAX_SUMMARY } from "../../../src/modules/gov/limits.ts";
import { MAX_NESTED_MESSAGES } from "../../../src/runtime/index.ts";
import type { TestKey } from "../../../src/testing/index.ts";
import { MsgCommunityPoolSpendSchema } from "../../../src/wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { VoteOption } from "../../../src/wire/gen/sdk/gov/v1/gov_pb.js";
import {
  MsgCancelProposalSchema,
  MsgDepositSchema,
  MsgExecLegacyContentSchema,
  MsgSubmitProposalSchema,
  MsgVoteSchema,
} from "../../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { ParameterChangeProposalSchema } from "../../../src/wire/gen/sdk/params/v1beta1/query_pb.js";
import { MsgDelegateSchema } from "../../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { type Any, encodeAddress, packAny } from "../../../src/wire/index.ts";
import type { GasChain } from "../chain.ts";
import {
  type Cases,
  type GasCase,
  METADATA,
  names,
  newChain,
  one,
  shortProposal,
  splitVote,
  TENANT,
  utoken,
} from "./prepare.ts";
import { validators } from "./staking.ts";

const GOV = encodeAddress(moduleAddress("gov"));
const CITIZENS = names("sponsor", 100);
/** With it the vote begins. */
const ENOUGH = 10_000_000n;
/** Minimum deposit. */
const LEAST = 100_000n;

const payment = packAny(MsgCommunityPoolSpendSchema, { authority: GOV, recipient: GOV, amount: utoken(1n) });
const manyChanges = packAny(MsgExecLegacyContentSchema, {
  authority: GOV,
  content: packAny(ParameterChangeProposalSchema, {
    ...{ title: "T", description: "D" },
    changes: Array.from({ length: MAX_CHANGES }, () => ({ subspace: "staking", key: "MaxValidators", value: "100" })),
  }),
});

function proposal(from: TestKey, messages: readonly Any[], deposit = ENOUGH) {
  const texts = { title: "t".repeat(MAX_METADATA), summary: "s".repeat(MAX_SUMMARY), metadata: METADATA };
  return create(MsgSubmitProposalSchema, {
    ...{ messages: [...messages], initialDeposit: utoken(deposit), proposer: from.address },
    ...(messages.length === 0 ? { title: "T", summary: "S", metadata: "m" } : texts),
  });
}

const submitted = (content: string, messages: readonly Any[], count: number): GasCase => ({
  content,
  count,
  prepare: (total) => {
    const chain = newChain();
    const from = chain.key(TENANT);
    return { chain, txs: Array.from({ length: total }, () => one(from, proposal(from, messages))) };
  },
});

/** A message of each citizen about each of some proposals, as many messages as are wanted. */
const byCitizens = (
  content: string,
  messages: readonly Any[],
  message: (key: TestKey, id: bigint) => Parameters<typeof one>[1],
): GasCase => ({
  content,
  count: 20,
  prepare: (total) => {
    const chain = newChain();
    const from = chain.key(TENANT);
    for (let i = 0; i < total; i += CITIZENS.length) chain.mustSend(from, [proposal(from, messages)]);
    const txs = Array.from({ length: total }, (_, i) => {
      const key = chain.key(CITIZENS[i % CITIZENS.length] ?? "");
      return one(key, message(key, BigInt(Math.floor(i / CITIZENS.length) + 1)));
    });
    return { chain, txs };
  },
});

/** A proposal that everybody has deposited and voted for is taken back. */
const cancelled = (content: string, citizens: readonly string[], count: number): GasCase => ({
  content,
  count,
  prepare: (total) => {
    const chain = newChain();
    const from = chain.key(TENANT);
    chain.mustSend(
      from,
      Array.from({ length: total }, () => proposal(from, [], ENOUGH)),
    );
    for (const name of citizens) supportAll(chain, chain.key(name), total);
    const txs = Array.from({ length: total }, (_, i) =>
      one(from, create(MsgCancelProposalSchema, { proposalId: BigInt(i + 1), proposer: from.address })),
    );
    return { chain, txs };
  },
});

function supportAll(chain: GasChain, key: TestKey, proposals: number): void {
  const messages = Array.from({ length: proposals }, (_, i) => [
    create(MsgDepositSchema, { proposalId: BigInt(i + 1), depositor: key.address, amount: utoken(LEAST) }),
    create(MsgVoteSchema, { proposalId: BigInt(i + 1), voter: key.address, option: VoteOption.YES }),
  ]);
  chain.mustSend(key, messages.flat());
}

const LONG = Array<Any>(MAX_NESTED_MESSAGES).fill(payment);
const deposit = (key: TestKey, proposalId: bigint) =>
  create(MsgDepositSchema, { proposalId, depositor: key.address, amount: utoken(LEAST) });
const vote = (key: TestKey, proposalId: bigint) =>
  create(MsgVoteSchema, { proposalId, voter: key.address, option: VoteOption.YES, metadata: METADATA });

/** Votes of people who delegate to many validators, whose sums change. */
const byDelegators = (delegations: number): GasCase => ({
  content: `for four options, of one who delegates to ${delegations} validators`,
  count: 2,
  prepare: (total) => {
    const { chain, operatorOf } = validators(delegations);
    const from = chain.key(TENANT);
    chain.mustSend(from, [shortProposal(from)]);
    const people = CITIZENS.slice(0, total).map((name) => chain.key(name));
    const delegate = (delegatorAddress: string, i: number) =>
      create(MsgDelegateSchema, { delegatorAddress, validatorAddress: operatorOf(i), amount: utoken(1_000_000n)[0] });
    for (const key of people)
      chain.mustSend(
        key,
        Array.from({ length: delegations }, (_, i) => delegate(key.address, i)),
      );
    return { chain, txs: people.map((key) => one(key, splitVote(key, 1n))) };
  },
});

/** The most expensive contents of the messages of module gov. */
export const GOVERNANCE: Cases = {
  "sdk.gov.v1.MsgSubmitProposal": [
    submitted("a short text", [], 10),
    submitted(`${MAX_NESTED_MESSAGES} messages and the longest texts`, LONG, 2),
    submitted(`${MAX_CHANGES} parameters in the form of before 0.46, which are tried`, [manyChanges], 2),
  ],
  "sdk.gov.v1.MsgDeposit": [
    byCitizens("to a text", [], deposit),
    byCitizens(`to a proposal of ${MAX_NESTED_MESSAGES} messages`, LONG, deposit),
  ],
  "sdk.gov.v1.MsgVote": [
    byCitizens("on a text", [], vote),
    byCitizens(`on a proposal of ${MAX_NESTED_MESSAGES} messages`, LONG, vote),
  ],
  "sdk.gov.v1.MsgVoteWeighted": [byCitizens("for four options", [], splitVote), byDelegators(50)],
  "sdk.gov.v1.MsgCancelProposal": [
    cancelled("that nobody joined", [], 10),
    cancelled("100 deposits and 100 votes", CITIZENS, 1),
  ],
};
