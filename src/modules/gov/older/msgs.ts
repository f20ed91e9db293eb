import { type BoundService, bindService, checkAddress, readSomeCoins } from "../../../runtime/index.ts";
import { formatDec } from "../../../util/index.ts";
import { MsgExecLegacyContentSchema } from "../../../wire/gen/sdk/gov/v1/tx_pb.js";
import type { WeightedVoteOption } from "../../../wire/gen/sdk/gov/v1beta1/gov_pb.js";
import { Msg, type MsgSubmitProposal } from "../../../wire/gen/sdk/gov/v1beta1/tx_pb.js";
import { decodeAddress, namespaceOf, packAny } from "../../../wire/index.ts";
import { GOV_ACCOUNT } from "../account.ts";
import { addDeposit } from "../deposits.ts";
import type { GovKeeper } from "../keeper.ts";
import { checkSubmission, type Submission, submit } from "../proposals.ts";
import type { Part } from "../voting/ballots.ts";
import { addVote, checkParts, wholeVote } from "../voting/votes.ts";
import { checkContent } from "./contents.ts";

/** The messages of releases before 0.46: on the same proposals, deposits and votes. */
export function olderGovMsgs(keeper: GovKeeper): BoundService {
  return bindService(
    Msg,
    {
      submitProposal: (ctx, msg) => ({ proposalId: submit(keeper, ctx, submissionOf(msg)) }),
      vote: (ctx, { proposalId: id, voter, option }) => {
        addVote(keeper, ctx, { id, voter: decodeAddress(voter), parts: wholeVote(option), metadata: "" });
        return {};
      },
      voteWeighted: (ctx, { proposalId: id, voter, options }) => {
        addVote(keeper, ctx, { id, voter: decodeAddress(voter), parts: partsOf(options), metadata: "" });
        return {};
      },
      deposit: (ctx, { proposalId: id, depositor, amount }) => {
        const coins = readSomeCoins(amount);
        const begins = addDeposit(keeper, ctx, { id, depositor: decodeAddress(depositor), coins });
        if (begins) ctx.events.emit("proposal_deposit", { voting_period_start: `${id}` });
        return {};
      },
    },
    {
      submitProposal: (msg) => checkSubmission(keeper, submissionOf(msg)),
      vote: ({ voter, option }) => {
        checkAddress("voter", voter);
        wholeVote(option);
      },
      voteWeighted: ({ voter, options }) => {
        checkAddress("voter", voter);
        checkParts(partsOf(options));
      },
      deposit: ({ depositor, amount }) => {
        checkAddress("depositor", depositor);
        readSomeCoins(amount);
      },
    },
  );
}

/** A content becomes the one message of a proposal. */
function submissionOf({ content, initialDeposit, proposer }: MsgSubmitProposal): Submission {
  const { title, description } = checkContent(content);
  const message = { content, authority: GOV_ACCOUNT };
  return {
    messages: [packAny(MsgExecLegacyContentSchema, message, namespaceOf(content?.typeUrl ?? ""))],
    ...{ initialDeposit, proposer, title },
    summary: description,
    metadata: "",
    expedited: false,
  };
}

/** Weights are decimals with 18 digits here and strings there; a string that is not a number is refused with the same error. */
function partsOf(options: readonly WeightedVoteOption[]): Part[] {
  return options.map(({ option, weight }) => {
    return { option, weight: /^-?\d{1,40}$/.test(weight) ? formatDec(BigInt(weight)) : weight };
  });
}
