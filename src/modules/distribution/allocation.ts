import type { VoteInfo } from "../../abci/index.ts";
import type { Context } from "../../runtime/index.ts";
import { DEC_ONE, decFromInt, decQuoTruncate } from "../../util/index.ts";
import type { Validator } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { FEE_COLLECTOR } from "../auth/index.ts";
import { type DecCoins, decCoinsText, fromCoins, minus, plus, times, timesTruncated } from "./deccoins.ts";
import { ACCOUNT, type DistributionKeeper, store } from "./keeper.ts";
import { current, setCurrent } from "./rewards.ts";

/** Shares the fees and new coins of the block before among the validators that voted on it. */
export function beginBlock(keeper: DistributionKeeper, ctx: Context): void {
  if (ctx.height > 1n) allocate(keeper, ctx, ctx.evidence.lastCommit.votes);
  const { proposer } = keeper.records;
  const last = proposer.get(store(ctx));
  if (last === undefined || Buffer.compare(last, ctx.block.proposer) !== 0)
    proposer.set(store(ctx), Uint8Array.from(ctx.block.proposer));
}

/** By their power; rounding remainders, the tax, and the part of voters unknown to staking go to the community. */
function allocate(keeper: DistributionKeeper, ctx: Context, votes: readonly VoteInfo[]): void {
  const collected = keeper.bank.moduleBalances(ctx, FEE_COLLECTOR);
  if (collected.length === 0) return;
  keeper.bank.sendModuleToModule(ctx, FEE_COLLECTOR, ACCOUNT, collected);
  const total = votes.reduce((sum, { validator }) => sum + validator.power, 0n);
  const shared = timesTruncated(fromCoins(collected), DEC_ONE - BigInt(keeper.getParams(ctx).communityTax));
  let left = fromCoins(collected);
  for (const { validator: voter } of votes) {
    const validator = keeper.stake.findByConsensus(ctx, voter.address);
    if (validator === undefined) continue;
    const reward = timesTruncated(shared, decQuoTruncate(decFromInt(voter.power), decFromInt(total)));
    giveRewards(keeper, ctx, validator, reward);
    left = minus(left, reward);
  }
  keeper.addToPool(ctx, left);
}

/** Gives rewards to a validator: its commission, and the rest to its delegators. */
export function giveRewards(keeper: DistributionKeeper, ctx: Context, validator: Validator, coins: DecCoins): void {
  const operator = decodeAddress(validator.operatorAddress, "valoper");
  const commission = times(coins, BigInt(validator.commission?.commissionRates?.rate ?? 0));
  const { rewards, period } = current(keeper, ctx, operator);
  const name = { validator: validator.operatorAddress };
  ctx.events.emit("commission", { amount: decCoinsText(commission), ...name });
  keeper.setCommission(ctx, operator, plus(keeper.commission(ctx, operator), commission));
  setCurrent(keeper, ctx, operator, { rewards: plus(rewards, minus(coins, commission)), period });
  ctx.events.emit("rewards", { amount: decCoinsText(coins), ...name });
  keeper.setOutstanding(ctx, operator, plus(keeper.outstanding(ctx, operator), coins));
}
