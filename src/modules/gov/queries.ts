import { create } from "@bufbuild/protobuf";
import { type BoundService, bindService, type Context, StatusError } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import {
  type Deposit,
  type Proposal,
  ProposalStatus,
  type TallyResult,
  TallyResultSchema,
  type Vote,
} from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import {
  Query,
  type QueryParamsRequest,
  type QueryProposalsRequest,
  type QueryVotesRequest,
} from "../../wire/gen/sdk/gov/v1/query_pb.js";
import { MsgExecLegacyContentSchema } from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import {
  type Any,
  decodeAddress,
  govErrors as errors,
  makeAny,
  type Namespace,
  packAny,
  toNamespace,
  unpackAs,
} from "../../wire/index.ts";
import { ballotOf, type GovKeeper, store } from "./keeper.ts";
import { countVotes } from "./voting/tally.ts";

export function govQueries(keeper: GovKeeper): BoundService {
  const { records } = keeper;
  return bindService(Query, {
    constitution: (ctx) => ({
      constitution: Buffer.from(records.constitution.get(store(ctx)) ?? new Uint8Array(0)).toString(),
    }),
    proposal: (ctx, { proposalId }) => ({ proposal: findProposal(keeper, ctx, proposalId) }),
    proposals: (ctx, request) => findProposals(keeper, ctx, request),
    vote: (ctx, { proposalId, voter }) => ({ vote: findVote(keeper, ctx, proposalId, voter) }),
    votes: (ctx, request) => findVotes(keeper, ctx, request),
    params: (ctx, request) => findParams(keeper, ctx, request),
    deposit: (ctx, { proposalId, depositor }) => ({ deposit: findDeposit(keeper, ctx, proposalId, depositor) }),
    deposits: (ctx, request) => findDeposits(keeper, ctx, request),
    tallyResult: (ctx, { proposalId }) => ({ tally: presentTally(keeper, ctx, proposalId) }),
  });
}

/** Throws `sdk/18` for 0, `gov/2` if there is no such proposal. */
export function findProposal(keeper: GovKeeper, ctx: Context, id: bigint): Proposal {
  return spelled(keeper.proposal(ctx, checkId(id)), ctx.namespace);
}

export function findProposals(keeper: GovKeeper, ctx: Context, request: Omit<QueryProposalsRequest, "$typeName">) {
  const { proposals, votes, deposits } = keeper.records;
  const { proposalStatus: status, pagination: page } = request;
  const [voter, depositor] = [request.voter, request.depositor].map((text) =>
    text === "" ? undefined : decodeAddress(text),
  );
  const filters: ((proposal: Proposal) => boolean)[] = [];
  if (status !== ProposalStatus.UNSPECIFIED && ProposalStatus[status] !== undefined)
    filters.push((proposal) => proposal.status === status);
  if (voter !== undefined) filters.push((proposal) => votes.has(store(ctx), [openBallot(proposal), voter]));
  if (depositor !== undefined) filters.push(({ id }) => deposits.has(store(ctx), [id, depositor]));
  const filter = (proposal: Proposal) => filters.every((holds) => holds(proposal));
  const found = proposals.paginate(store(ctx), page, filters.length === 0 ? {} : { filter });
  return {
    proposals: found.items.map(([, proposal]) => spelled(proposal, ctx.namespace)),
    pagination: found.pagination,
  };
}

export function findVote(keeper: GovKeeper, ctx: Context, id: bigint, voter: string): Vote {
  if (voter === "") throw sdkErrors.invalidRequest("empty voter address");
  const { proposals, votes } = keeper.records;
  const ballot = openBallot(proposals.get(store(ctx), checkId(id)));
  const vote = votes.get(store(ctx), [ballot, decodeAddress(voter)]);
  if (vote !== undefined) return vote;
  // Clients of the ecosystem know this status and these words.
  const words = `voter: ${voter} not found for proposal: ${id}`;
  throw new StatusError("InvalidArgument", errors.voteNotFound(words), words);
}

export function findVotes(
  keeper: GovKeeper,
  ctx: Context,
  { proposalId, pagination: page }: Omit<QueryVotesRequest, "$typeName">,
) {
  const { proposals, votes } = keeper.records;
  const ballot = openBallot(proposals.get(store(ctx), checkId(proposalId)));
  const { items, pagination } = votes.paginate(store(ctx), page, { prefix: [ballot] });
  return { votes: items.map(([, vote]) => vote), pagination };
}

export function findDeposit(keeper: GovKeeper, ctx: Context, id: bigint, depositor: string): Deposit {
  if (depositor === "") throw sdkErrors.invalidRequest("empty depositor address");
  return keeper.records.deposits.require(store(ctx), [checkId(id), decodeAddress(depositor)]);
}

export function findDeposits(
  keeper: GovKeeper,
  ctx: Context,
  { proposalId, pagination: page }: Omit<QueryVotesRequest, "$typeName">,
) {
  const { items, pagination } = keeper.records.deposits.paginate(store(ctx), page, { prefix: [checkId(proposalId)] });
  return { deposits: items.map(([, deposit]) => deposit), pagination };
}

function findParams(keeper: GovKeeper, ctx: Context, { paramsType }: Pick<QueryParamsRequest, "paramsType">) {
  const params = keeper.getParams(ctx);
  const { minDeposit, maxDepositPeriod, votingPeriod, quorum, threshold, vetoThreshold } = params;
  if (paramsType === "") return { params };
  if (paramsType === "deposit")
    return { params, depositParams: { minDeposit, ...(maxDepositPeriod === undefined ? {} : { maxDepositPeriod }) } };
  if (paramsType === "voting") return { params, votingParams: votingPeriod === undefined ? {} : { votingPeriod } };
  if (paramsType === "tallying") return { params, tallyParams: { quorum, threshold, vetoThreshold } };
  throw sdkErrors.invalidRequest(`unknown params type: ${paramsType.slice(0, 80)}`);
}

/** The count of votes now, or when the vote ended. Changes nothing. */
export function presentTally(keeper: GovKeeper, ctx: Context, proposalId: bigint): TallyResult {
  const proposal = keeper.proposal(ctx, checkId(proposalId));
  const { status, finalTallyResult } = proposal;
  if (status === ProposalStatus.DEPOSIT_PERIOD) return emptyTally();
  if (status !== ProposalStatus.VOTING_PERIOD) return finalTallyResult ?? emptyTally();
  return countVotes(keeper, ctx, proposal, keeper.deps.stake.bondedValidators(ctx)).result();
}

/** The ballot of a proposal in its vote; the votes on others are not shown, even if they are still to be deleted. */
function openBallot(proposal: Proposal | undefined): bigint {
  return proposal?.status === ProposalStatus.VOTING_PERIOD ? ballotOf(proposal) : 0n;
}

function emptyTally(): TallyResult {
  return create(TallyResultSchema, { yesCount: "0", abstainCount: "0", noCount: "0", noWithVetoCount: "0" });
}

function checkId(id: bigint): bigint {
  if (id === 0n) throw sdkErrors.invalidRequest("proposal id can not be 0");
  return id;
}

/** The proposal with its type URLs in the spelling that was asked for. */
function spelled(proposal: Proposal, namespace: Namespace): Proposal {
  return { ...proposal, messages: proposal.messages.map((any) => spelledAny(any, namespace)) };
}

function spelledAny(any: Any, namespace: Namespace): Any {
  const legacy = unpackAs(MsgExecLegacyContentSchema, any);
  if (legacy?.content === undefined) return makeAny(toNamespace(any.typeUrl, namespace), any.value);
  const content = makeAny(toNamespace(legacy.content.typeUrl, namespace), legacy.content.value);
  return packAny(MsgExecLegacyContentSchema, { ...legacy, content }, namespace);
}
