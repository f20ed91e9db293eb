import { create } from "@bufbuild/protobuf";
import { type Context, isFatal, isPanic, limitedGas, runBlockItem } from "../../../runtime/index.ts";
import { formatCoins, PANIC_ERROR, SvcError } from "../../../util/index.ts";
import { EndedProposalSchema, type Proposal, ProposalStatus } from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import { govErrors as errors } from "../../../wire/index.ts";
import { timeMessage } from "../../staking/index.ts";
import { ACCOUNT, GOV_ADDRESS } from "../account.ts";
import { clearDeposits } from "../deposits.ts";
import { type GovKeeper, store, timeOf } from "../keeper.ts";
import { BLOCK_WORK, EXECUTION_GAS, EXECUTION_WORK, MAX_REASON } from "../limits.ts";
import { period } from "../params.ts";
import { deleteVotes } from "./ballots.ts";
import { countVotes, type Tally, verdict } from "./tally.ts";

/**
 * Ends proposals whose time is over, within the work of one block; the rest waits for the next block. Each is an item
 * of its own: an error in one affects no other.
 */
export function endBlock(keeper: GovKeeper, ctx: Context): void {
  const { ended, depositQueue, votingQueue } = keeper.records;
  let left = BLOCK_WORK;
  for (const [id, { burn }] of [...firstOf(ended.iterate(store(ctx)), left)])
    if (left > 0) left -= item(keeper, ctx, id, (one) => clear(keeper, one, { id, burn, most: left }));
  for (const { key: id } of depositQueue.due(store(ctx), ctx.block.time, left))
    if (left > 0) left -= item(keeper, ctx, id, (one) => endWithoutDeposit(keeper, one, id, left));
  for (const { key: id } of votingQueue.due(store(ctx), ctx.block.time, left))
    if (left > 0) left -= item(keeper, ctx, id, (one) => endVote(keeper, one, id, left));
  if (left > 0) runBlockItem(ctx, "gov/votes", (one) => deleteVotes(keeper, one, left));
}

function* firstOf<T>(list: Iterable<T>, most: number): Iterable<T> {
  let count = 0;
  for (const each of list) {
    if (count === most) return;
    count += 1;
    yield each;
  }
}

/** Runs one item and returns its work. A proposal that cannot be ended fails, and its deposits go back. */
function item(keeper: GovKeeper, ctx: Context, id: bigint, work: (ctx: Context) => number): number {
  let done = 1;
  const isDone = runBlockItem(ctx, `gov/proposal/${id}`, (one) => {
    done = Math.max(1, work(one));
  });
  if (!isDone) runBlockItem(ctx, `gov/fail/${id}`, (one) => giveUp(keeper, one, id));
  return done;
}

/** Takes a proposal out of the queues; nothing that could fail again is tried. */
function giveUp(keeper: GovKeeper, ctx: Context, id: bigint): void {
  const { proposals, ended } = keeper.records;
  const proposal = proposals.get(store(ctx), id);
  if (proposal === undefined) {
    ended.delete(store(ctx), id);
    return;
  }
  const failedReason = "the proposal could not be ended";
  keeper.removeProposal(ctx, proposal);
  keeper.setProposal(ctx, { ...proposal, status: ProposalStatus.FAILED, failedReason });
  ended.set(store(ctx), id, create(EndedProposalSchema, { proposalId: id }));
}

/** Returns or burns deposits; deposits beyond this block's work are remembered. Returns the work. */
function clear(
  keeper: GovKeeper,
  ctx: Context,
  { id, burn, most }: { readonly id: bigint; readonly burn: boolean; readonly most: number },
): number {
  const { deposits, ended } = keeper.records;
  const work = clearDeposits(keeper, ctx, { id, burn, most: Math.max(1, most) });
  const [more] = deposits.keys(store(ctx), { prefix: [id] });
  if (more === undefined) ended.delete(store(ctx), id);
  else ended.set(store(ctx), id, create(EndedProposalSchema, { proposalId: id, burn }));
  return work;
}

/** Too little was deposited in time: the proposal is forgotten. */
function endWithoutDeposit(keeper: GovKeeper, ctx: Context, id: bigint, most: number): number {
  const proposal = keeper.records.proposals.get(store(ctx), id);
  if (proposal?.status !== ProposalStatus.DEPOSIT_PERIOD) return 1;
  keeper.removeProposal(ctx, proposal);
  const burn = keeper.getParams(ctx).burnProposalDepositPrevote;
  const work = clear(keeper, ctx, { id, burn, most });
  tellApart(keeper, ctx, "afterProposalFailedMinDeposit", id);
  ctx.events.emit("inactive_proposal", { proposal_id: `${id}`, proposal_result: "proposal_dropped" });
  return 1 + work;
}

/** Errors of listeners do not affect the proposal. */
function tellApart(
  keeper: GovKeeper,
  ctx: Context,
  hook: "afterProposalFailedMinDeposit" | "afterProposalVotingPeriodEnded",
  id: bigint,
): void {
  if ((keeper.deps.listeners ?? []).length > 0) runBlockItem(ctx, `gov/${hook}`, (one) => keeper.tell(hook, one, id));
}

/** Counts the votes and decides. Returns the work: every validator is read, even without votes. */
function endVote(keeper: GovKeeper, ctx: Context, id: bigint, most: number): number {
  const proposal = keeper.records.proposals.get(store(ctx), id);
  if (proposal?.status !== ProposalStatus.VOTING_PERIOD) return 1;
  const bonded = keeper.deps.stake.bondedValidators(ctx);
  const tally = countVotes(keeper, ctx, proposal, bonded);
  keeper.closeBallot(ctx, proposal);
  return bonded.length + decide(keeper, ctx, proposal, { tally, most: most - bonded.length });
}

function decide(
  keeper: GovKeeper,
  ctx: Context,
  proposal: Proposal,
  { tally, most }: { readonly tally: Tally; readonly most: number },
): number {
  const { id, expedited } = proposal;
  const params = keeper.getParams(ctx);
  const { passes, burns } = verdict(tally, params, proposal, keeper.deps.stake.totalBonded(ctx));
  const work = passes || !expedited ? clear(keeper, ctx, { id, burn: burns, most }) : 0;
  keeper.records.votingQueue.remove(store(ctx), timeOf(proposal.votingEndTime), id);
  const counted = { ...proposal, finalTallyResult: tally.result() };
  const { result, log, after } = passes
    ? execute(keeper, ctx, counted)
    : expedited
      ? becomeRegular(keeper, ctx, counted, period(params.votingPeriod))
      : reject(counted);
  keeper.setProposal(ctx, after);
  tellApart(keeper, ctx, "afterProposalVotingPeriodEnded", id);
  ctx.events.emit("active_proposal", { proposal_id: `${id}`, proposal_result: result, proposal_log: log });
  return 1 + work + (passes ? EXECUTION_WORK : 0);
}

interface Ended {
  readonly result: string;
  readonly log: string;
  readonly after: Proposal;
}

function reject(proposal: Proposal): Ended {
  const failedReason = "proposal did not get enough votes to pass";
  const after = { ...proposal, status: ProposalStatus.REJECTED, failedReason };
  return { result: "proposal_rejected", log: "rejected", after };
}

/** An expedited proposal that does not pass gets the time of a regular one, and another count. */
function becomeRegular(keeper: GovKeeper, ctx: Context, proposal: Proposal, votingPeriod: bigint): Ended {
  const end = timeOf(proposal.votingStartTime) + votingPeriod;
  keeper.records.votingQueue.push(store(ctx), end, proposal.id);
  const after = { ...proposal, expedited: false, votingEndTime: timeMessage(end) };
  return { result: "expedited_proposal_rejected", log: "expedited proposal converted to regular", after };
}

/**
 * Runs all messages of a passed proposal, or none. They share this gas, and may not touch the deposits that the account
 * holds.
 */
function execute(keeper: GovKeeper, ctx: Context, proposal: Proposal): Ended {
  const { messages } = proposal;
  const passed = { ...proposal, status: ProposalStatus.PASSED };
  // Its messages must not find the proposal in its vote.
  keeper.setProposal(ctx, passed);
  let index = 0;
  try {
    const limits = { gas: limitedGas(EXECUTION_GAS), costs: keeper.deps.costs(ctx) };
    ctx.with(limits).attempt((branch) => {
      const held = heldBy(keeper, branch);
      for (index = 0; index < messages.length; index++)
        keeper.deps.messages.execute(branch, messages.slice(index, index + 1), GOV_ADDRESS);
      if (heldBy(keeper, branch) !== held) throw errors.touchesDeposits();
    });
    return { result: "proposal_passed", log: "passed", after: passed };
  } catch (error) {
    if (isFatal(error)) throw error;
    if (isPanic(error)) ctx.report({ item: `gov/proposal/${proposal.id}`, height: ctx.height, error });
    const failedReason = reasonOf(error);
    const after = { ...passed, status: ProposalStatus.FAILED, failedReason };
    const url = messages[index]?.typeUrl ?? "";
    const log = `passed, but msg ${index} (${url}) failed on execution: ${failedReason}`;
    return { result: "proposal_failed", log, after };
  }
}

function heldBy(keeper: GovKeeper, ctx: Context): string {
  return formatCoins(keeper.deps.bank.moduleBalances(ctx, ACCOUNT));
}

/** The error of the message itself: its place among the messages does not matter here. */
function reasonOf(error: unknown): string {
  if (!(error instanceof SvcError))
    return `a message of the proposal failed with an internal error: ${PANIC_ERROR.codespace}/${PANIC_ERROR.code}`;
  const inner =
    error.message.startsWith("failed to execute message") && error.cause instanceof SvcError ? error.cause : error;
  return inner.message.slice(0, MAX_REASON);
}
