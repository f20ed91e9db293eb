import type { Context } from "../../../runtime/index.ts";
import { type Dec, parseDec } from "../../../util/index.ts";
import { type Vote, VoteOption } from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import type { StakingHooks } from "../../staking/index.ts";
import { type GovKeeper, store } from "../keeper.ts";
import type { VotedKey, VoteKey } from "../records.ts";

/**
 * Sums of voters' delegations, by validator and option. Every vote and every change of a voter's delegation updates
 * them, so that the end of a vote reads no votes of delegators.
 */

/** A part of a vote, as messages hold it. */
export type Part = Pick<Vote["options"][number], "option" | "weight">;

export const OPTIONS: readonly VoteOption[] = [
  VoteOption.YES,
  VoteOption.ABSTAIN,
  VoteOption.NO,
  VoteOption.NO_WITH_VETO,
];

/** Stores a vote in the place of an earlier one of the same account. */
export function putVote(keeper: GovKeeper, ctx: Context, key: VoteKey, vote: Vote): void {
  const { votes } = keeper.records;
  const before = votes.get(store(ctx), key);
  votes.set(store(ctx), key, vote);
  const changes = OPTIONS.map(
    (option) => [option, weightOf(vote.options, option) - weightOf(before?.options ?? [], option)] as const,
  );
  for (const [operator, shares] of keeper.deps.stake.delegations(ctx, key[1]))
    for (const [option, weight] of changes) addVoted(keeper, ctx, [key[0], operator, option], shares * weight);
}

/** Hears of delegations. An account that has not voted costs one look. */
export function voterHooks(keeper: GovKeeper): Pick<StakingHooks, "afterSharesChanged"> {
  const { votes, closed } = keeper.records;
  return {
    afterSharesChanged(ctx, [delegator, operator], change) {
      for (const key of votes.by.voter.keys(store(ctx), { prefix: [delegator] })) {
        if (closed.has(store(ctx), key[0])) continue;
        for (const { option, weight } of votes.require(store(ctx), key).options)
          addVoted(keeper, ctx, [key[0], operator, option], change * parseDec(weight));
      }
    },
  };
}

function addVoted(keeper: GovKeeper, ctx: Context, key: VotedKey, change: bigint): void {
  if (change === 0n) return;
  const { voted } = keeper.records;
  const sum = (voted.get(store(ctx), key) ?? 0n) + change;
  if (sum === 0n) voted.delete(store(ctx), key);
  else voted.set(store(ctx), key, sum);
}

/** 0 where the vote has no part for the option. */
export function weightOf(parts: readonly Part[], option: VoteOption): Dec {
  const part = parts.find((each) => each.option === option);
  return part === undefined ? 0n : parseDec(part.weight);
}

/** Deletes votes of closed ballots, `most` rows at most. */
export function deleteVotes(keeper: GovKeeper, ctx: Context, most: number): void {
  const { votes, voted, closed } = keeper.records;
  let left = most;
  for (const ballot of closed.keys(store(ctx))) {
    // The sums come last: a delegation of a voter whose vote is still there may not make them anew.
    for (const key of votes.keys(store(ctx), { prefix: [ballot] })) {
      if (left-- <= 0) return;
      votes.delete(store(ctx), key);
    }
    for (const key of voted.keys(store(ctx), { prefix: [ballot] })) {
      if (left-- <= 0) return;
      voted.delete(store(ctx), key);
    }
    closed.delete(store(ctx), ballot);
  }
}
