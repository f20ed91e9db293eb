import { create } from "@bufbuild/protobuf";
import { moduleAddress } from "../../../src/crypto/index.ts";
import type { TestKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { MsgSendSchema, MsgSetSendEnabledSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { CommunityPoolSpendProposalSchema } from "../../../src/wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import { MsgCommunityPoolSpendSchema } from "../../../src/wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { ProposalStatus } from "../../../src/wire/gen/sdk/gov/v1/gov_pb.js";
import { Query } from "../../../src/wire/gen/sdk/gov/v1/query_pb.js";
import {
  MsgCancelProposalSchema,
  MsgDepositSchema,
  MsgSubmitProposalSchema,
  MsgUpdateParamsSchema,
  MsgVoteSchema,
  MsgVoteWeightedSchema,
} from "../../../src/wire/gen/sdk/gov/v1/tx_pb.js";
import { TextProposalSchema } from "../../../src/wire/gen/sdk/gov/v1beta1/gov_pb.js";
import {
  MsgDepositSchema as OlderDepositSchema,
  MsgSubmitProposalSchema as OlderSubmitSchema,
  MsgVoteSchema as OlderVoteSchema,
  MsgVoteWeightedSchema as OlderVoteWeightedSchema,
} from "../../../src/wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { ParameterChangeProposalSchema } from "../../../src/wire/gen/sdk/params/v1beta1/query_pb.js";
import { type Any, encodeAddress, packAny } from "../../../src/wire/index.ts";
import type { SimAction, SimOperation, SimRandom } from "./operation.ts";
import { chosenUpdate } from "./parameters.ts";
import type { StakeSimulation } from "./stake.ts";

const GOV = encodeAddress(moduleAddress("gov"));
const NEWEST = 60n;

type Build = (sim: StakeSimulation, from: TestKey) => SimAction["message"] | undefined;

/** Everything that people do with proposals, each with its weight: some of it is refused. */
const BUILDS: readonly (readonly [name: string, weight: number, build: Build])[] = [
  ["submit", 8, submit],
  ["older submit", 3, olderSubmit],
  [
    "proposal deposit",
    8,
    (sim, from) => {
      const proposalId = open(sim);
      return proposalId === undefined
        ? undefined
        : create(MsgDepositSchema, { proposalId, depositor: from.address, amount: deposit(sim) });
    },
  ],
  [
    "vote",
    24,
    (sim, from) => {
      const proposalId = open(sim);
      return proposalId === undefined
        ? undefined
        : create(MsgVoteSchema, { proposalId, voter: from.address, option: option(sim) });
    },
  ],
  ["split vote", 8, splitVote],
  ["older vote", 4, olderVote],
  ["older deposit", 2, olderDeposit],
  ["cancel proposal", 3, cancelOwn],
];

export const govOperations: readonly SimOperation<StakeSimulation>[] = BUILDS.map(([name, weight, build]) => ({
  name,
  weight,
  build(sim) {
    const from = sim.sender ?? (build === cancelOwn ? proposerOf(sim) : sim.random.pick(sim.holders));
    const message = from === undefined ? undefined : build(sim, from);
    return from === undefined || message === undefined ? undefined : { signer: from.address, message };
  },
}));

/** The accounts that made a proposal which is open. */
function proposerOf(sim: StakeSimulation): TestKey | undefined {
  const id = open(sim);
  const { proposals } = newest(sim);
  const proposer = proposals.find((each) => each.id === id)?.proposer;
  return sim.holders.find(({ address }) => address === proposer);
}

/** Cancels a proposal of the account, if there is one. */
function cancelOwn(sim: StakeSimulation, { address }: TestKey) {
  const { proposals } = newest(sim);
  const own = proposals.filter(({ proposer }) => proposer === address);
  const proposalId = own[0]?.id ?? open(sim);
  return proposalId === undefined ? undefined : create(MsgCancelProposalSchema, { proposalId, proposer: address });
}

/** One of the proposals that accept deposits or votes. */
function open(sim: StakeSimulation): bigint | undefined {
  const { random } = sim;
  const { proposals } = newest(sim);
  const status = [ProposalStatus.DEPOSIT_PERIOD, ProposalStatus.VOTING_PERIOD];
  const found = proposals.filter((each) => status.includes(each.status));
  return (random.int(20) === 0 ? random.pick(proposals) : random.pick(found))?.id;
}

/** The newest proposals, including all open ones; ended ones stay in the state forever. */
function newest({ query }: StakeSimulation) {
  return query(Query.method.proposals, { pagination: { reverse: true, limit: NEWEST } });
}

function option({ random }: StakeSimulation): number {
  return random.pick([1, 1, 1, 1, 2, 3, 4]);
}

function deposit({ random }: StakeSimulation) {
  const amount = random.pick([99_999n, 100_000n, 3_333_333n, 10_000_000n, 10_000_000n, 50_000_000n]);
  return [{ denom: random.int(20) === 0 ? "uother" : NATIVE_DENOM, amount: `${amount}` }];
}

function submit(sim: StakeSimulation, from: TestKey) {
  const { random } = sim;
  const messages = Array.from({ length: random.int(3) }, () => message(sim, from));
  return create(MsgSubmitProposalSchema, {
    ...{ messages, initialDeposit: deposit(sim), proposer: from.address, expedited: random.int(3) === 0 },
    ...{ title: "T", summary: "S", metadata: messages.length === 0 ? "M" : "" },
  });
}

function message({ random, query }: StakeSimulation, from: TestKey): Any {
  const amount = [{ denom: NATIVE_DENOM, amount: `${1 + random.int(20_000)}` }];
  const kind = random.int(8);
  if (kind > 5) return chosenUpdate(random);
  if (kind === 5) return setSendEnabled(random);
  if (kind === 0) return packAny(MsgSendSchema, { fromAddress: GOV, toAddress: from.address, amount });
  if (kind > 1) return packAny(MsgCommunityPoolSpendSchema, { authority: GOV, recipient: from.address, amount });
  const { params } = query(Query.method.params, {});
  const change = {
    burnVoteQuorum: random.int(2) === 0,
    burnProposalDepositPrevote: random.int(2) === 0,
    quorum: random.pick(["0.1", "0.334", "0"]),
    votingPeriod: { seconds: BigInt(random.pick([18, 30, 42])) },
  };
  return packAny(MsgUpdateParamsSchema, { authority: GOV, params: { ...params, ...change } as never });
}

/** The coins of fees and leases stay free to send. */
function setSendEnabled(random: SimRandom): Any {
  const sendEnabled = random.int(2) === 0 ? [] : [{ denom: "uother", enabled: random.int(2) === 0 }];
  const useDefaultFor = random.int(3) === 0 ? ["uother"] : [];
  return packAny(MsgSetSendEnabledSchema, { authority: GOV, sendEnabled, useDefaultFor });
}

function olderSubmit(sim: StakeSimulation, from: TestKey) {
  const content = olderContent(sim, from);
  return create(OlderSubmitSchema, { content, initialDeposit: deposit(sim), proposer: from.address });
}

/** A text, coins of the community, or another parameter. */
function olderContent({ random }: StakeSimulation, { address: recipient }: TestKey): Any {
  const about = { title: "T", description: "D" };
  const kind = random.int(3);
  if (kind === 0) return packAny(TextProposalSchema, about);
  const amount = [{ denom: NATIVE_DENOM, amount: `${1 + random.int(20_000)}` }];
  if (kind === 1) return packAny(CommunityPoolSpendProposalSchema, { ...about, recipient, amount });
  const value = random.pick(["2", "4", "0", '"x"']);
  const changes = [{ subspace: "staking", key: "MaxValidators", value }];
  return packAny(ParameterChangeProposalSchema, { ...about, changes });
}

function olderDeposit(sim: StakeSimulation, { address: depositor }: TestKey) {
  const proposalId = open(sim);
  return proposalId === undefined
    ? undefined
    : create(OlderDepositSchema, { proposalId, depositor, amount: deposit(sim) });
}

function olderVote(sim: StakeSimulation, { address: voter }: TestKey) {
  const proposalId = open(sim);
  if (proposalId === undefined) return undefined;
  if (sim.random.int(2) === 0) return create(OlderVoteSchema, { proposalId, voter, option: option(sim) });
  const options = ["250000000000000000", "750000000000000000"].map((weight, i) => ({ option: i * 2 + 1, weight }));
  return create(OlderVoteWeightedSchema, { proposalId, voter, options });
}

function splitVote(sim: StakeSimulation, from: TestKey) {
  const proposalId = open(sim);
  if (proposalId === undefined) return undefined;
  const weights = sim.random.pick([
    ["0.3", "0.7"],
    ["0.333333333333333333", "0.666666666666666667"],
    ["0.5", "0.4"],
  ]);
  const options = weights.map((weight, i) => ({ option: i * 2 + 1, weight }));
  return create(MsgVoteWeightedSchema, { proposalId, voter: from.address, options });
}
