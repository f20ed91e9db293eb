import { type BoundService, bindService, checkAddress, readSomeCoins, updateParams } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { decodeAddress, govErrors as errors, fromNanos } from "../../wire/index.ts";
import { GOV_ACCOUNT } from "./account.ts";
import { addDeposit } from "./deposits.ts";
import type { GovKeeper } from "./keeper.ts";
import { ContentRunner, checkContent } from "./older/contents.ts";
import { changeParams, paramsProblems } from "./params.ts";
import { cancel, checkSubmission, submit } from "./proposals.ts";
import { addVote, checkMetadata, checkParts, wholeVote } from "./voting/votes.ts";

export function govMsgs(keeper: GovKeeper): BoundService {
  const { pool, messages, legacy } = keeper.deps;
  const contents = new ContentRunner(pool, messages, legacy);
  const update = updateParams({
    set: (ctx, params) => changeParams(keeper, ctx, params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      submitProposal: (ctx, msg) => ({ proposalId: submit(keeper, ctx, msg) }),
      execLegacyContent: (ctx, { authority, content }) => {
        if (authority !== GOV_ACCOUNT) throw errors.invalidSigner(`expected ${GOV_ACCOUNT} got ${authority}`);
        contents.run(ctx, content);
        return {};
      },
      vote: (ctx, { proposalId: id, voter, option, metadata }) => {
        addVote(keeper, ctx, { id, voter: decodeAddress(voter), parts: wholeVote(option), metadata });
        return {};
      },
      voteWeighted: (ctx, { proposalId: id, voter, options, metadata }) => {
        addVote(keeper, ctx, { id, voter: decodeAddress(voter), parts: options, metadata });
        return {};
      },
      deposit: (ctx, { proposalId: id, depositor, amount }) => {
        const coins = readSomeCoins(amount);
        const begins = addDeposit(keeper, ctx, { id, depositor: decodeAddress(depositor), coins });
        if (begins) ctx.events.emit("proposal_deposit", { voting_period_start: `${id}` });
        return {};
      },
      updateParams: update.handle,
      cancelProposal: (ctx, { proposalId, proposer }) => {
        cancel(keeper, ctx, proposalId, proposer);
        return { proposalId, canceledTime: fromNanos(ctx.block.time), canceledHeight: ctx.height };
      },
    },
    {
      submitProposal: (msg) => checkSubmission(keeper, msg),
      execLegacyContent: ({ content }) => void checkContent(content),
      vote: ({ voter, option, metadata }) => {
        checkAddress("voter", voter);
        wholeVote(option);
        checkMetadata(metadata);
      },
      voteWeighted: ({ voter, options, metadata }) => {
        checkAddress("voter", voter);
        checkParts(options);
        checkMetadata(metadata);
      },
      deposit: ({ depositor, amount }) => {
        checkAddress("depositor", depositor);
        readSomeCoins(amount);
      },
      updateParams: update.check,
      cancelProposal: ({ proposer }) => checkAddress("proposer", proposer),
    },
  );
}
