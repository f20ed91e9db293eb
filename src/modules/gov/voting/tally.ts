import { create } from "@bufbuild/protobuf";
import type { Context } from "../../../runtime/index.ts";
import { DEC_ONE, type Dec, decFromInt, decQuo, decTruncate } from "../../../util/index.ts";
import {
  type Params,
  type Proposal,
  type TallyResult,
  TallyResultSchema,
  VoteOption,
} from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import type { BondedValidator } from "../../staking/index.ts";
import { ballotOf, type GovKeeper, store } from "../keeper.ts";
import { ratio } from "../params.ts";
import { OPTIONS, weightOf } from "./ballots.ts";

/** Voting power by option. */
export class Tally {
  readonly #power = new Map<VoteOption, Dec>();

  power(option: VoteOption): Dec {
    return this.#power.get(option) ?? 0n;
  }

  get total(): Dec {
    return OPTIONS.reduce((sum, option) => sum + this.power(option), 0n);
  }

  add(option: VoteOption, power: Dec): void {
    this.#power.set(option, this.power(option) + power);
  }

  result(): TallyResult {
    const text = (option: VoteOption): string => `${decTruncate(this.power(option))}`;
    return create(TallyResultSchema, {
      yesCount: text(VoteOption.YES),
      abstainCount: text(VoteOption.ABSTAIN),
      noCount: text(VoteOption.NO),
      noWithVetoCount: text(VoteOption.NO_WITH_VETO),
    });
  }
}

/**
 * Counts the votes on a proposal by the stake of this moment. Delegators who vote count for themselves; the validator's own
 * vote counts for the rest of its shares.
 */
export function countVotes(
  keeper: GovKeeper,
  ctx: Context,
  proposal: Proposal,
  bonded: readonly BondedValidator[],
): Tally {
  const { votes, voted } = keeper.records;
  const ballot = ballotOf(proposal);
  const tally = new Tally();
  for (const { operator, tokens, shares } of bonded) {
    if (shares === 0n) continue;
    const own = votes.get(store(ctx), [ballot, operator])?.options ?? [];
    const sums = OPTIONS.map((option) => voted.get(store(ctx), [ballot, operator, option]) ?? 0n);
    // The weights of a vote add up to one.
    const rest = shares - sums.reduce((sum, each) => sum + each, 0n) / DEC_ONE;
    OPTIONS.forEach((option, i) => {
      const counted = (sums[i] ?? 0n) + weightOf(own, option) * rest;
      // Cut at the last digit.
      tally.add(option, (counted * tokens) / shares);
    });
  }
  return tally;
}

/** Whether a proposal passes, and the fate of its deposits otherwise. */
export interface Verdict {
  readonly passes: boolean;
  readonly burns: boolean;
}

/** The verdict of the parameters on a finished count. */
export function verdict(tally: Tally, params: Params, proposal: Proposal, totalBonded: bigint): Verdict {
  const { total } = tally;
  const rejected = { passes: false, burns: false };
  if (totalBonded === 0n) return rejected;
  if (decQuo(total, decFromInt(totalBonded)) < ratio(params.quorum))
    return { passes: false, burns: params.burnVoteQuorum };
  const decided = total - tally.power(VoteOption.ABSTAIN);
  if (decided === 0n) return rejected;
  if (decQuo(tally.power(VoteOption.NO_WITH_VETO), total) > ratio(params.vetoThreshold))
    return { passes: false, burns: params.burnVoteVeto };
  const threshold = ratio(proposal.expedited ? params.expeditedThreshold : params.threshold);
  return { passes: decQuo(tally.power(VoteOption.YES), decided) > threshold, burns: false };
}
