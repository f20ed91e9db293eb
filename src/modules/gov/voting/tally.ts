import { create } from "@bufbuild/protobuf";
import type { Context } from "../../../runtime/index.ts";
import { type Dec, decFromInt, decMul, decQuo, decTruncate, parseDec, toHex } from "../../../util/index.ts";
import {
  type OpenTally,
  OpenTallySchema,
  type Params,
  type Proposal,
  type TallyResult,
  TallyResultSchema,
  type Vote,
  VoteOption,
} from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import { decodeAddress, encodeAddress } from "../../../wire/index.ts";
import type { BondedValidator } from "../../staking/index.ts";
import { type GovKeeper, store } from "../keeper.ts";
import { ratio } from "../params.ts";
import type { Part } from "./votes.ts";

interface Counted extends BondedValidator {
  /** Shares of delegators who voted themselves. */
  deducted: Dec;
  vote: readonly Part[];
}

/**
 * A count of votes. Validators are taken as they are when it begins; delegators who vote count for themselves, and what
 * is left of a validator's shares follows the validator's own vote.
 */
export class Tally {
  readonly #validators: ReadonlyMap<string, Counted>;
  readonly #power = new Map<VoteOption, Dec>();
  #total: Dec;

  private constructor(validators: readonly Counted[], total: Dec) {
    this.#validators = new Map(validators.map((each) => [toHex(each.operator), each]));
    this.#total = total;
  }

  static begin(validators: readonly BondedValidator[]): Tally {
    return new Tally(
      validators.map((each) => ({ ...each, deducted: 0n, vote: [] })),
      0n,
    );
  }

  /** A count that was stored with `record`. */
  static resume(record: OpenTally): Tally {
    const validators = record.validators.map(({ operator, tokens, shares, deducted, options }) => ({
      operator: decodeAddress(operator, "valoper"),
      tokens: BigInt(tokens),
      shares: BigInt(shares),
      deducted: BigInt(deducted),
      vote: options,
    }));
    const tally = new Tally(validators, BigInt(record.total));
    const { yes, abstain, no, noWithVeto } = record;
    tally.#power.set(VoteOption.YES, BigInt(yes));
    tally.#power.set(VoteOption.ABSTAIN, BigInt(abstain));
    tally.#power.set(VoteOption.NO, BigInt(no));
    tally.#power.set(VoteOption.NO_WITH_VETO, BigInt(noWithVeto));
    return tally;
  }

  record(proposalId: bigint): OpenTally {
    return create(OpenTallySchema, {
      proposalId,
      total: `${this.#total}`,
      yes: `${this.power(VoteOption.YES)}`,
      abstain: `${this.power(VoteOption.ABSTAIN)}`,
      no: `${this.power(VoteOption.NO)}`,
      noWithVeto: `${this.power(VoteOption.NO_WITH_VETO)}`,
      validators: [...this.#validators.values()].map(({ operator, tokens, shares, deducted, vote }) => ({
        operator: encodeAddress(operator, "valoper"),
        tokens: `${tokens}`,
        shares: `${shares}`,
        deducted: `${deducted}`,
        options: vote.map(({ option, weight }) => ({ option, weight })),
      })),
    });
  }

  power(option: VoteOption): Dec {
    return this.#power.get(option) ?? 0n;
  }

  get total(): Dec {
    return this.#total;
  }

  /** Counts one vote. Returns its work: itself, and the delegations that were read. */
  count(keeper: GovKeeper, ctx: Context, vote: Vote): number {
    const voter = decodeAddress(vote.voter);
    const own = this.#validators.get(toHex(voter));
    if (own !== undefined) own.vote = vote.options;
    const delegations = this.#delegations(keeper, ctx, voter);
    for (const [operator, shares] of delegations.rows) {
      const validator = this.#validators.get(toHex(operator));
      if (validator === undefined) continue;
      // The validator has no shares for what was delegated since the count began.
      const left = validator.shares - validator.deducted;
      const counted = shares < left ? shares : left;
      if (counted === 0n) continue;
      validator.deducted += counted;
      this.#add(decQuo(counted * validator.tokens, validator.shares), vote.options);
    }
    return 1 + delegations.work;
  }

  /** When all votes are counted: the validators that voted add the shares that nobody claimed. */
  close(): void {
    for (const { shares, deducted, tokens, vote } of this.#validators.values())
      if (vote.length > 0 && shares > 0n) this.#add(decQuo((shares - deducted) * tokens, shares), vote);
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

  #add(power: Dec, parts: readonly Part[]): void {
    for (const { option, weight } of parts)
      this.#power.set(option, this.power(option) + decMul(power, parseDec(weight)));
    this.#total += power;
  }

  /** An account may delegate to any number of validators; no more are read than there are bonded ones, twice. */
  #delegations(keeper: GovKeeper, ctx: Context, voter: Uint8Array) {
    const { stake } = keeper.deps;
    const most = this.#validators.size;
    const first = stake.delegations(ctx, voter, most + 1);
    if (first.length <= most) return { rows: first, work: first.length };
    const rows = [...this.#validators.values()].flatMap(({ operator }) => {
      const shares = stake.shares(ctx, voter, operator);
      return shares === undefined ? [] : [[operator, shares] as const];
    });
    return { rows, work: first.length + most };
  }
}

/** Whether a proposal passes, and what happens with its deposits if it does not. */
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

/**
 * Counts votes of a proposal until the work is `most`, and removes them from the state if `forget` is set. Returns the
 * work, and whether none is left.
 */
export function countVotes(
  keeper: GovKeeper,
  ctx: Context,
  { tally, id, most, forget }: { tally: Tally; id: bigint; most: number; forget: boolean },
): { readonly work: number; readonly isDone: boolean } {
  const { votes } = keeper.records;
  const counted: (readonly [bigint, Uint8Array])[] = [];
  let [work, isDone] = [0, true];
  for (const [key, vote] of votes.iterate(store(ctx), { prefix: [id] })) {
    if (work >= most) {
      isDone = false;
      break;
    }
    work += tally.count(keeper, ctx, vote);
    counted.push(key);
  }
  if (forget) for (const key of counted) votes.delete(store(ctx), key);
  return { work, isDone };
}
