import { create } from "@bufbuild/protobuf";
import { moduleAddress } from "../../crypto/index.ts";
import { type Context, coinMessage, readCoins } from "../../runtime/index.ts";
import {
  type Dec,
  decMul,
  decTruncate,
  formatCoin,
  formatCoins,
  type IntCoin,
  sdkErrors,
  someCoins,
  sumCoins,
} from "../../util/index.ts";
import {
  DepositSchema,
  type Params,
  type Proposal,
  ProposalSchema,
  ProposalStatus,
} from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { decodeAddress, encodeAddress, govErrors as errors } from "../../wire/index.ts";
import { timeMessage } from "../staking/index.ts";
import { ACCOUNT, GOV_ACCOUNT, GOV_ADDRESS } from "./account.ts";
import { type GovKeeper, isOpen, store, timeOf } from "./keeper.ts";
import { covers, period, ratio } from "./params.ts";

/** The account that holds the community pool. */
const COMMUNITY = encodeAddress(moduleAddress("distribution"));

/** Throws `gov/16` if a new proposal comes with too little, `gov/23` for coins that are not accepted. */
export function checkInitialDeposit(params: Params, coins: readonly IntCoin[], expedited: boolean): void {
  const share = ratio(params.minInitialDepositRatio);
  if (share > 0n) {
    const least = leastDeposit(params, expedited).map(({ denom, amount }) => {
      return { denom, amount: decMul(amount * share, 1n) };
    });
    if (!covers(coins, least)) throw errors.depositTooSmall(`was (${someCoins(coins)}), need (${formatCoins(least)})`);
  }
  checkDenoms(params, coins);
}

/** Adds to the deposit of a proposal; once it is high enough, the vote begins. Returns whether it did. */
export function addDeposit(
  keeper: GovKeeper,
  ctx: Context,
  { id, depositor, coins }: { readonly id: bigint; readonly depositor: Uint8Array; readonly coins: readonly IntCoin[] },
): boolean {
  const proposal = keeper.proposal(ctx, id);
  if (!isOpen(proposal)) throw errors.inactiveProposal(`${id}`);
  const params = keeper.getParams(ctx);
  const least = leastDeposit(params, proposal.expedited);
  checkDenoms(params, coins);
  checkShare(ratio(params.minDepositRatio), least, coins);
  const name = encodeAddress(depositor);
  // The coins would mix with the deposits of others.
  if (name === GOV_ACCOUNT) throw sdkErrors.unauthorized("the governance account cannot make deposits");
  keeper.deps.bank.sendToModule(ctx, depositor, ACCOUNT, coins);
  const total = sumCoins(readCoins(proposal.totalDeposit), coins);
  const funded = {
    ...proposal,
    totalDeposit: create(ProposalSchema, { totalDeposit: total.map(coinMessage) }).totalDeposit,
  };
  const begins = proposal.status === ProposalStatus.DEPOSIT_PERIOD && covers(total, least);
  if (begins) beginVote(keeper, ctx, funded, params);
  else keeper.setProposal(ctx, funded);
  const before = keeper.records.deposits.get(store(ctx), [id, depositor]);
  keeper.tell("afterProposalDeposit", ctx, id, depositor);
  ctx.events.emit("proposal_deposit", { depositor: name, amount: formatCoins(coins), proposal_id: `${id}` });
  const amount = sumCoins(readCoins(before?.amount ?? []), coins).map(coinMessage);
  keeper.records.deposits.set(
    store(ctx),
    [id, depositor],
    create(DepositSchema, { proposalId: id, depositor: name, amount }),
  );
  return begins;
}

/** Gives a proposal its time of voting, which begins now. */
export function beginVote(keeper: GovKeeper, ctx: Context, proposal: Proposal, params: Params): void {
  const { depositQueue, votingQueue } = keeper.records;
  const start = ctx.block.time;
  const end = start + period(proposal.expedited ? params.expeditedVotingPeriod : params.votingPeriod);
  keeper.setProposal(ctx, {
    ...proposal,
    status: ProposalStatus.VOTING_PERIOD,
    votingStartTime: timeMessage(start),
    votingEndTime: timeMessage(end),
  });
  depositQueue.remove(store(ctx), timeOf(proposal.depositEndTime), proposal.id);
  votingQueue.push(store(ctx), end, proposal.id);
}

/** The deposits of a cancelled proposal go back, except a part that is burnt or goes where the parameters say. */
export function chargeDeposits(keeper: GovKeeper, ctx: Context, id: bigint): void {
  const { proposalCancelRatio, proposalCancelDest } = keeper.getParams(ctx);
  const part = ratio(proposalCancelRatio);
  let charged: IntCoin[] = [];
  for (const [key, deposit] of [...keeper.records.deposits.iterate(store(ctx), { prefix: [id] })]) {
    const coins = readCoins(deposit.amount);
    const taken = coins.map(({ denom, amount }) => ({ denom, amount: decTruncate(amount * part) }));
    const left = coins.map(({ denom, amount }, i) => ({ denom, amount: amount - (taken[i]?.amount ?? 0n) }));
    charged = sumCoins(charged, taken.filter(isSome));
    if (left.some(isSome)) keeper.deps.bank.sendFromModule(ctx, ACCOUNT, key[1], left.filter(isSome));
    keeper.records.deposits.delete(store(ctx), key);
  }
  if (charged.length === 0) return;
  if (proposalCancelDest === "") keeper.deps.bank.burn(ctx, ACCOUNT, charged);
  else if (proposalCancelDest === COMMUNITY) keeper.deps.pool.fundPool(ctx, GOV_ADDRESS, charged);
  else payCharge(keeper, ctx, decodeAddress(proposalCancelDest), charged);
}

/** Other modules, and governance itself, could not tell the purpose of the coins. Throws `sdk/4`. */
function payCharge(keeper: GovKeeper, ctx: Context, to: Uint8Array, coins: readonly IntCoin[]): void {
  const { bank } = keeper.deps;
  if (bank.isBlocked(to))
    throw sdkErrors.unauthorized(`${encodeAddress(to)} is not allowed to receive external funds`, {
      hint: "parameter proposal_cancel_dest of module gov names it: governance must change that first",
    });
  bank.sendFromModule(ctx, ACCOUNT, to, coins);
}

/** Returns or burns up to `most` deposits of an ended proposal. Returns their number. */
export function clearDeposits(
  keeper: GovKeeper,
  ctx: Context,
  { id, burn, most }: { readonly id: bigint; readonly burn: boolean; readonly most: number },
): number {
  const { deposits } = keeper.records;
  const found: (readonly [bigint, Uint8Array])[] = [];
  for (const key of deposits.keys(store(ctx), { prefix: [id] })) {
    if (found.length === most) break;
    found.push(key);
  }
  let burnt: IntCoin[] = [];
  for (const key of found) {
    const coins = readCoins(deposits.require(store(ctx), key).amount);
    if (burn) burnt = sumCoins(burnt, coins);
    else keeper.deps.bank.sendFromModule(ctx, ACCOUNT, key[1], coins);
    deposits.delete(store(ctx), key);
  }
  if (burnt.length > 0) keeper.deps.bank.burn(ctx, ACCOUNT, burnt);
  return found.length;
}

function leastDeposit(params: Params, expedited: boolean): IntCoin[] {
  return readCoins(expedited ? params.expeditedMinDeposit : params.minDeposit);
}

function checkDenoms({ minDeposit }: Params, coins: readonly IntCoin[]): void {
  const taken = minDeposit.map(({ denom }) => denom);
  if (coins.every(({ denom }) => taken.includes(denom))) return;
  const list = taken.join(" ");
  throw errors.depositDenom(`deposited ${someCoins(coins)}, but gov accepts only the following denom(s): [${list}]`);
}

/**
 * A deposit needs a minimum share of the required sum in at least one denomination: many small deposits would cost
 * work.
 */
function checkShare(share: Dec, least: readonly IntCoin[], coins: readonly IntCoin[]): void {
  if (share === 0n) return;
  const asked = least.map(({ denom, amount }) => ({ denom, amount: decTruncate(amount * share) }));
  const given = new Map(coins.map(({ denom, amount }) => [denom, amount]));
  if (asked.some(({ denom, amount }) => given.has(denom) && (given.get(denom) ?? 0n) >= amount)) return;
  const list = asked.map(formatCoin).join(",");
  throw errors.depositTooSmall(`received ${someCoins(coins)} but need at least one of the following: ${list}`);
}

function isSome({ amount }: IntCoin): boolean {
  return amount > 0n;
}
