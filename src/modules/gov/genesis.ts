import { create } from "@bufbuild/protobuf";
import { type Context, defineGenesis, entryProblems, type GenesisPart, readCoins } from "../../runtime/index.ts";
import { toHex, toUtf8, tryParseInt } from "../../util/index.ts";
import {
  type GenesisState,
  GenesisStateSchema,
  type Params,
  type Proposal,
  ProposalStatus,
} from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { GOV_ADDRESS } from "./account.ts";
import { beginVote } from "./deposits.ts";
import { ballotOf, EXPEDITED_BALLOTS, type GovKeeper, isOpen, store, timeOf } from "./keeper.ts";
import { defaultParams, paramsProblems } from "./params.ts";
import { putVote } from "./voting/ballots.ts";
import { checkMetadata, checkParts } from "./voting/votes.ts";

/** Far from the numbers of ballots that are not ids. */
const MOST_PROPOSALS = EXPEDITED_BALLOTS / 2n;

export function govGenesis(keeper: GovKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { startingProposalId: 1n, params: defaultParams() }),
    validate: (state) => problems(keeper, state),
    init: (ctx, state) => importState(keeper, ctx, state),
    export: (ctx) => exportState(keeper, ctx),
  });
}

/** Before release 0.47, parameters came in three parts. */
function paramsOf({ params, depositParams, votingParams, tallyParams }: GenesisState): Params {
  if (params !== undefined) return params;
  const { minDeposit, maxDepositPeriod } = depositParams ?? {};
  const parts = { minDeposit, maxDepositPeriod, ...votingParams, ...tallyParams };
  const given = Object.entries(parts).filter(([name, value]) => name !== "$typeName" && value !== undefined);
  return { ...defaultParams(), ...Object.fromEntries(given) };
}

function importState(keeper: GovKeeper, ctx: Context, state: GenesisState): void {
  const { params, ids, deposits, depositQueue, votingQueue, ended, constitution } = keeper.records;
  const to = store(ctx);
  params.set(to, paramsOf(state));
  ids.set(to, state.startingProposalId);
  if (state.constitution !== "") constitution.set(to, toUtf8(state.constitution));
  for (const deposit of state.deposits)
    deposits.set(to, [deposit.proposalId, decodeAddress(deposit.depositor)], deposit);
  for (const proposal of state.proposals) {
    const { id, status, depositEndTime, votingEndTime } = proposal;
    keeper.setProposal(ctx, proposal);
    if (status === ProposalStatus.DEPOSIT_PERIOD) depositQueue.push(to, timeOf(depositEndTime), id);
    if (status === ProposalStatus.VOTING_PERIOD) votingQueue.push(to, timeOf(votingEndTime), id);
  }
  for (const each of state.ended) ended.set(to, each.proposalId, each);
  for (const { proposalId } of state.tallies) voteAgain(keeper, ctx, keeper.proposal(ctx, proposalId));
  const begun = new Set(state.tallies.map(({ proposalId }) => proposalId));
  const ballots = new Map(state.proposals.map((proposal) => [proposal.id, ballotOf(proposal)]));
  for (const vote of state.votes) {
    const ballot = ballots.get(vote.proposalId);
    if (ballot !== undefined && !begun.has(vote.proposalId))
      putVote(keeper, ctx, [ballot, decodeAddress(vote.voter)], vote);
  }
}

function exportState(keeper: GovKeeper, ctx: Context): GenesisState {
  const { records } = keeper;
  const from = store(ctx);
  return create(GenesisStateSchema, {
    startingProposalId: records.ids.peek(from),
    deposits: [...records.deposits.values(from)],
    votes: [...records.votes.iterate(from)].flatMap(([[ballot], vote]) =>
      records.closed.has(from, ballot) ? [] : [vote],
    ),
    proposals: [...records.proposals.values(from)],
    params: keeper.getParams(ctx),
    constitution: Buffer.from(records.constitution.get(from) ?? new Uint8Array(0)).toString(),
    tallies: [...records.tallies.values(from)],
    ended: [...records.ended.values(from)],
  });
}

/**
 * Version 1 read all votes at the end of a vote. This computes the sums of open votes. An unfinished count has lost
 * some votes: its vote begins again.
 */
export function sumVotes(keeper: GovKeeper, ctx: Context): void {
  const { votingQueue, votes, tallies } = keeper.records;
  const to = store(ctx);
  for (const { key: id } of [...votingQueue.iterate(to)]) {
    const proposal = keeper.proposal(ctx, id);
    const found = [...votes.iterate(to, { prefix: [id] })];
    for (const [key] of found) votes.delete(to, key);
    if (tallies.has(to, id)) voteAgain(keeper, ctx, proposal);
    else for (const [[, voter], vote] of found) putVote(keeper, ctx, [ballotOf(proposal), voter], vote);
    tallies.delete(to, id);
  }
}

function voteAgain(keeper: GovKeeper, ctx: Context, proposal: Proposal): void {
  keeper.records.votingQueue.remove(store(ctx), timeOf(proposal.votingEndTime), proposal.id);
  beginVote(keeper, ctx, proposal, keeper.getParams(ctx));
}

function problems(keeper: GovKeeper, state: GenesisState): string[] {
  const byId = new Map(state.proposals.map((proposal) => [proposal.id, proposal]));
  const endedIds = new Set(state.ended.map(({ proposalId }) => proposalId));
  const voting = (id: bigint): void => {
    if (byId.get(id)?.status !== ProposalStatus.VOTING_PERIOD)
      throw new Error(`proposal ${id} is not in its voting period`);
  };
  return [
    ...paramsProblems(paramsOf(state)),
    ...(state.startingProposalId < 1n || state.startingProposalId > MOST_PROPOSALS
      ? [`starting_proposal_id: must be 1 to ${MOST_PROPOSALS}`]
      : []),
    ...entryProblems("proposals", state.proposals, (proposal) => {
      if (proposal.id < 1n || proposal.id >= state.startingProposalId)
        throw new Error("the id must be below starting_proposal_id");
      checkProposal(keeper, proposal);
      return `${proposal.id}`;
    }),
    ...entryProblems("deposits", state.deposits, ({ proposalId, depositor, amount }) => {
      const proposal = byId.get(proposalId);
      if (!endedIds.has(proposalId) && (proposal === undefined || !isOpen(proposal)))
        throw new Error(`proposal ${proposalId} holds no deposits`);
      readCoins(amount);
      return `${proposalId} ${toHex(decodeAddress(depositor))}`;
    }),
    ...entryProblems("votes", state.votes, ({ proposalId, voter, options, metadata }) => {
      voting(proposalId);
      checkParts(options);
      checkMetadata(metadata);
      return `${proposalId} ${toHex(decodeAddress(voter))}`;
    }),
    ...entryProblems("tallies", state.tallies, ({ proposalId }) => {
      voting(proposalId);
      return `${proposalId}`;
    }),
    ...entryProblems("ended", state.ended, ({ proposalId }) => `${proposalId}`),
  ];
}

function checkProposal(keeper: GovKeeper, proposal: Proposal): void {
  const { status, messages, depositEndTime, votingEndTime, votingStartTime, totalDeposit, finalTallyResult } = proposal;
  if (ProposalStatus[status] === undefined || status === ProposalStatus.UNSPECIFIED)
    throw new Error("the status is missing");
  if (timeOf(depositEndTime) <= 0n) throw new Error("deposit_end_time is missing");
  if (status === ProposalStatus.VOTING_PERIOD && (timeOf(votingEndTime) <= 0n || votingStartTime === undefined))
    throw new Error("voting_start_time or voting_end_time is missing");
  readCoins(totalDeposit);
  const { yesCount, abstainCount, noCount, noWithVetoCount } = finalTallyResult ?? {};
  for (const count of [yesCount, abstainCount, noCount, noWithVetoCount])
    if (count !== undefined && tryParseInt(count) === undefined) throw new Error("final_tally_result is malformed");
  if (isOpen(proposal)) keeper.deps.messages.check(messages, GOV_ADDRESS);
}
