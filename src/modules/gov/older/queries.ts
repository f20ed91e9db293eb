import { type BoundService, bindService, type Context } from "../../../runtime/index.ts";
import { parseDec, sdkErrors, toUtf8 } from "../../../util/index.ts";
import type { Proposal, TallyResult, Vote } from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import { MsgExecLegacyContentSchema } from "../../../wire/gen/sdk/gov/v1/tx_pb.js";
import { Query } from "../../../wire/gen/sdk/gov/v1beta1/query_pb.js";
import { unpackAs } from "../../../wire/index.ts";
import type { GovKeeper } from "../keeper.ts";
import {
  findDeposit,
  findDeposits,
  findProposal,
  findProposals,
  findVote,
  findVotes,
  presentTally,
} from "../queries.ts";

/** The queries of releases before 0.46: the same proposals, as far as that form can express them. */
export function olderGovQueries(keeper: GovKeeper): BoundService {
  return bindService(Query, {
    proposal: (ctx, { proposalId }) => ({ proposal: olderProposal(findProposal(keeper, ctx, proposalId)) }),
    proposals: (ctx, request) => {
      const { proposals, pagination } = findProposals(keeper, ctx, {
        ...request,
        proposalStatus: Number(request.proposalStatus),
      });
      return { proposals: proposals.map(olderProposal), pagination };
    },
    vote: (ctx, { proposalId, voter }) => ({ vote: olderVote(findVote(keeper, ctx, proposalId, voter)) }),
    votes: (ctx, request) => {
      const { votes, pagination } = findVotes(keeper, ctx, request);
      return { votes: votes.map(olderVote), pagination };
    },
    params: (ctx, { paramsType }) => olderParams(keeper, ctx, paramsType),
    deposit: (ctx, { proposalId, depositor }) => {
      const { proposalId: id, amount, depositor: name } = findDeposit(keeper, ctx, proposalId, depositor);
      return { deposit: { proposalId: id, depositor: name, amount } };
    },
    deposits: (ctx, request) => {
      const { deposits, pagination } = findDeposits(keeper, ctx, request);
      const older = deposits.map(({ proposalId, depositor, amount }) => ({ proposalId, depositor, amount }));
      return { deposits: older, pagination };
    },
    tallyResult: (ctx, { proposalId }) => ({ tally: olderTally(presentTally(keeper, ctx, proposalId)) }),
  });
}

/** A message in the place of the content, if there is no content; several messages have no place there. */
function olderProposal(proposal: Proposal) {
  const { id: proposalId, messages, status, submitTime, depositEndTime, totalDeposit } = proposal;
  const [message, ...others] = messages;
  if (message === undefined || others.length > 0)
    throw sdkErrors.invalidType(
      "can't convert a gov/v1 Proposal to gov/v1beta1 Proposal when amount of proposal messages not exactly one",
    );
  const content = unpackAs(MsgExecLegacyContentSchema, message)?.content ?? message;
  return {
    ...{ proposalId, content, totalDeposit },
    status: Number(status),
    finalTallyResult: olderTally(proposal.finalTallyResult),
    ...given({ submitTime, depositEndTime }),
    ...given({ votingStartTime: proposal.votingStartTime, votingEndTime: proposal.votingEndTime }),
  };
}

function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function olderTally(tally: TallyResult | undefined) {
  const { yesCount = "0", abstainCount = "0", noCount = "0", noWithVetoCount = "0" } = tally ?? {};
  return { yes: yesCount, abstain: abstainCount, no: noCount, noWithVeto: noWithVetoCount };
}

function olderVote({ proposalId, voter, options }: Vote) {
  const older = options.map(({ option, weight }) => ({ option: Number(option), weight: `${parseDec(weight)}` }));
  return { proposalId, voter, options: older };
}

function olderParams(keeper: GovKeeper, ctx: Context, type: string) {
  const { minDeposit, maxDepositPeriod, votingPeriod, quorum, threshold, vetoThreshold } = keeper.getParams(ctx);
  if (type === "deposit") return { depositParams: { minDeposit, ...given({ maxDepositPeriod }) } };
  if (type === "voting") return { votingParams: given({ votingPeriod }) };
  const bytes = (text: string): Uint8Array => toUtf8(`${parseDec(text)}`);
  if (type === "tallying")
    return {
      tallyParams: { quorum: bytes(quorum), threshold: bytes(threshold), vetoThreshold: bytes(vetoThreshold) },
    };
  throw sdkErrors.invalidRequest(`${type.slice(0, 80)} is not a valid parameter type`);
}
