import { type Context, type Invariant, readCoins } from "../../runtime/index.ts";
import { formatCoins, type IntCoin, parseDec, sumCoins, toHex } from "../../util/index.ts";
import { ProposalStatus } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { ACCOUNT } from "./account.ts";
import { ballotOf, type GovKeeper, isOpen, store, timeOf } from "./keeper.ts";
import type { VotedKey } from "./records.ts";

export function govInvariants(keeper: GovKeeper): Readonly<Record<string, Invariant>> {
  return {
    deposits: (ctx) => accountHoldsDeposits(keeper, ctx),
    totals: (ctx) => totalsAreSums(keeper, ctx),
    queues: (ctx) => openAreQueued(keeper, ctx),
    votes: (ctx) => sumsAreOfVotes(keeper, ctx),
  };
}

function accountHoldsDeposits(keeper: GovKeeper, ctx: Context): string | undefined {
  let sum: IntCoin[] = [];
  for (const { amount } of keeper.records.deposits.values(store(ctx))) sum = sumCoins(sum, readCoins(amount));
  const held = formatCoins(keeper.deps.bank.moduleBalances(ctx, ACCOUNT));
  return held === formatCoins(sum) ? undefined : `deposits are ${formatCoins(sum)}, the account holds ${held}`;
}

/** Checks proposals that take deposits. */
function totalsAreSums(keeper: GovKeeper, ctx: Context): string | undefined {
  const sums = new Map<bigint, IntCoin[]>();
  for (const { proposalId, amount } of keeper.records.deposits.values(store(ctx)))
    sums.set(proposalId, sumCoins(sums.get(proposalId) ?? [], readCoins(amount)));
  for (const proposal of keeper.records.proposals.values(store(ctx))) {
    if (!isOpen(proposal)) continue;
    const [sum, total] = [formatCoins(sums.get(proposal.id) ?? []), formatCoins(proposal.totalDeposit)];
    if (sum !== total) return `proposal ${proposal.id} has the total ${total}, its deposits are ${sum}`;
  }
  return undefined;
}

/** Counts the votes of open ballots anew, by the voters' delegations. */
function sumsAreOfVotes(keeper: GovKeeper, ctx: Context): string | undefined {
  const { proposals, votes, voted, closed } = keeper.records;
  const sums = new Map<string, bigint>();
  const add = ([ballot, operator, option]: VotedKey, amount: bigint): void => {
    const id = `${ballot} ${toHex(operator)} ${option}`;
    const sum = (sums.get(id) ?? 0n) + amount;
    if (sum === 0n) sums.delete(id);
    else sums.set(id, sum);
  };
  for (const [[ballot, voter], { proposalId, options }] of votes.iterate(store(ctx))) {
    if (closed.has(store(ctx), ballot)) continue;
    const proposal = proposals.get(store(ctx), proposalId);
    if (proposal?.status !== ProposalStatus.VOTING_PERIOD || ballotOf(proposal) !== ballot)
      return `there is a vote on proposal ${proposalId}, which is not in its vote`;
    for (const [operator, shares] of keeper.deps.stake.delegations(ctx, voter))
      for (const { option, weight } of options) add([ballot, operator, option], shares * parseDec(weight));
  }
  for (const [key, sum] of voted.iterate(store(ctx))) if (!closed.has(store(ctx), key[0])) add(key, -sum);
  const [wrong] = sums;
  return wrong === undefined
    ? votes.verifyIndexes(store(ctx))[0]
    : `the sum of ${wrong[0]} differs from its votes by ${wrong[1]}`;
}

function openAreQueued(keeper: GovKeeper, ctx: Context): string | undefined {
  const { proposals, depositQueue, votingQueue } = keeper.records;
  let [deposit, voting] = [0, 0];
  for (const { id, status, depositEndTime, votingEndTime } of proposals.values(store(ctx))) {
    if (status === ProposalStatus.DEPOSIT_PERIOD) {
      deposit += 1;
      if (!depositQueue.has(store(ctx), timeOf(depositEndTime), id)) return `proposal ${id} waits for nothing`;
    }
    if (status === ProposalStatus.VOTING_PERIOD) {
      voting += 1;
      if (!votingQueue.has(store(ctx), timeOf(votingEndTime), id)) return `the vote on proposal ${id} has no end`;
    }
  }
  const queued = [...depositQueue.iterate(store(ctx))].length + [...votingQueue.iterate(store(ctx))].length;
  return queued === deposit + voting ? undefined : `${queued} proposals are queued, ${deposit + voting} are open`;
}
