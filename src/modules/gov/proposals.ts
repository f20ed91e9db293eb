import { create } from "@bufbuild/protobuf";
import { type Context, readCoins } from "../../runtime/index.ts";
import { errorText, SvcError, sdkErrors } from "../../util/index.ts";
import { ProposalSchema, ProposalStatus, TallyResultSchema } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { MsgExecLegacyContentSchema, type MsgSubmitProposal } from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { type Any, decodeAddress, encodeMessage, govErrors as errors, fromNanos, unpackAs } from "../../wire/index.ts";
import { GOV_ADDRESS } from "./account.ts";
import { addDeposit, chargeDeposits, checkInitialDeposit } from "./deposits.ts";
import { type GovKeeper, isOpen, store, timeOf } from "./keeper.ts";
import { MAX_SUMMARY } from "./limits.ts";
import { period } from "./params.ts";
import { checkMetadata } from "./voting/votes.ts";

/** Fields of a new proposal, from either of the two messages. */
export type Submission = Pick<
  MsgSubmitProposal,
  "messages" | "initialDeposit" | "proposer" | "metadata" | "title" | "summary" | "expedited"
>;

const NO_VOTES = create(TallyResultSchema, { yesCount: "0", abstainCount: "0", noCount: "0", noWithVetoCount: "0" });

/** Stateless requirements of a new proposal: its texts, and messages that governance may send. */
export function checkSubmission(keeper: GovKeeper, submission: Submission): void {
  const { title, summary, metadata, messages, proposer, initialDeposit } = submission;
  if (title === "") throw sdkErrors.invalidRequest("proposal title cannot be empty");
  if (summary === "") throw sdkErrors.invalidRequest("proposal summary cannot be empty");
  decodeAddress(proposer);
  if (messages.length === 0 && metadata === "")
    throw errors.noMessages("either metadata or Msgs length must be non-nil");
  checkTold(submission);
  readCoins(initialDeposit);
  checkMetadata(metadata);
  const { length } = Buffer.from(summary);
  if (length > MAX_SUMMARY) throw errors.summaryTooLong(`got summary with length ${length}`);
  checkMetadata(title);
  checkMessages(keeper, messages);
}

/** Metadata in the recommended form repeats the title and the summary. */
function checkTold({ metadata, title, summary }: Submission): void {
  const told = readTold(metadata);
  if (told === undefined) return;
  const [toldTitle, toldSummary] = [told.title ?? "", told.summary ?? ""];
  if (toldTitle !== title)
    throw errors.invalidContent(`metadata title '${toldTitle}' must equal proposal title '${title}'`);
  if (toldSummary !== summary)
    throw errors.invalidContent(`metadata summary '${toldSummary}' must equal proposal summary '${summary}'`);
}

function readTold(metadata: string): { readonly title?: string; readonly summary?: string } | undefined {
  try {
    const told: unknown = JSON.parse(metadata);
    if (typeof told !== "object" || told === null || Array.isArray(told)) return undefined;
    const { title = "", summary = "" }: { readonly title?: unknown; readonly summary?: unknown } = told;
    return typeof title === "string" && typeof summary === "string" ? { title, summary } : undefined;
  } catch {
    return undefined;
  }
}

/** Governance signs each, there is a handler for it, and its own check passes. */
function checkMessages(keeper: GovKeeper, messages: readonly Any[]): void {
  try {
    keeper.deps.messages.check(messages, GOV_ADDRESS);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (isRow(error, sdkErrors.unauthorized)) throw errors.invalidSigner(error.message);
    if (isRow(error, sdkErrors.unknownRequest)) throw errors.unroutable(error.message);
    if (error.codespace === "gov") throw error;
    throw errors.invalidMessage(error.message);
  }
}

function isRow({ codespace, code }: SvcError, row: { readonly codespace: string; readonly code: number }): boolean {
  return codespace === row.codespace && code === row.code;
}

/** Stores a new proposal with its first deposit. Returns its id. */
export function submit(keeper: GovKeeper, ctx: Context, submission: Submission): bigint {
  const { messages, metadata, title, summary, proposer, expedited } = submission;
  const params = keeper.getParams(ctx);
  const coins = readCoins(submission.initialDeposit);
  checkInitialDeposit(params, coins, expedited);
  for (const message of messages) tryContent(keeper, ctx, message);
  const { ids, depositQueue } = keeper.records;
  const id = ids.next(store(ctx));
  const end = ctx.block.time + period(params.maxDepositPeriod);
  const proposal = create(ProposalSchema, {
    id,
    messages: [...messages],
    status: ProposalStatus.DEPOSIT_PERIOD,
    finalTallyResult: NO_VOTES,
    submitTime: fromNanos(ctx.block.time),
    depositEndTime: fromNanos(end),
    ...{ metadata, title, summary, proposer, expedited },
  });
  keeper.setProposal(ctx, proposal);
  depositQueue.push(store(ctx), end, id);
  keeper.tell("afterProposalSubmission", ctx, id);
  ctx.events.emit("submit_proposal", {
    proposal_id: `${id}`,
    proposal_proposer: proposer,
    proposal_messages: messages.map(({ typeUrl }) => `,${typeUrl}`).join(""),
  });
  const bytes = BigInt(encodeMessage(ProposalSchema, proposal).length);
  ctx.gas.consume(3n * keeper.deps.costs(ctx).writeByte * bytes, "submit proposal");
  const begins = addDeposit(keeper, ctx, { id, depositor: decodeAddress(proposer), coins });
  if (begins) ctx.events.emit("submit_proposal", { voting_period_start: `${id}` });
  return id;
}

/** The content of an older release must be executable when it is proposed; nothing of the trial is kept. */
function tryContent(keeper: GovKeeper, ctx: Context, message: Any): void {
  if (unpackAs(MsgExecLegacyContentSchema, message) === undefined) return;
  const undone = new Error("a trial");
  try {
    ctx.attempt((branch) => {
      keeper.deps.messages.execute(branch, [message], GOV_ADDRESS);
      throw undone;
    });
  } catch (error) {
    if (error === undone) return;
    if (error instanceof SvcError && isRow(error, errors.noHandler)) throw error;
    if (error instanceof SvcError && isRow(error, sdkErrors.outOfGas)) throw error;
    throw error instanceof SvcError ? errors.invalidContent(errorText(error)) : error;
  }
}

/** Charged beside reads and writes: it looks for deposits and votes, and leaves all queues. */
const CANCEL_GAS = 20_000n;

/** Cancels a proposal: part of its deposits is charged, votes are forgotten. Only its proposer may do that. */
export function cancel(keeper: GovKeeper, ctx: Context, id: bigint, proposer: string): void {
  ctx.gas.consume(CANCEL_GAS, "cancel proposal");
  const proposal = keeper.proposal(ctx, id);
  if (proposal.proposer === "")
    throw errors.invalidProposal(`proposal ${id} doesn't have proposer ${proposer}, so cannot be canceled`);
  if (proposal.proposer !== proposer) throw errors.invalidProposer(`invalid proposer ${proposer}`);
  if (!isOpen(proposal)) throw errors.invalidProposal("proposal should be in the deposit or voting period");
  const isOver = proposal.votingEndTime !== undefined && timeOf(proposal.votingEndTime) < ctx.block.time;
  if (isOver) throw errors.votingEnded(`voting period is already ended for this proposal ${id}`);
  chargeDeposits(keeper, ctx, id);
  keeper.removeProposal(ctx, proposal);
  ctx.events.emit("cancel_proposal", { sender: proposer, proposal_id: `${id}` });
}
