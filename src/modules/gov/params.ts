import { create } from "@bufbuild/protobuf";
import { type Context, durationProblems, readCoins, readSomeCoins } from "../../runtime/index.ts";
import {
  DEC_ONE,
  type Dec,
  errorText,
  formatCoin,
  formatDec,
  type IntCoin,
  NATIVE_DENOM,
  parseDec,
  tryParseDec,
} from "../../util/index.ts";
import { type Params, ParamsSchema } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { govErrors as errors, isAddress, toNanos } from "../../wire/index.ts";
import { type GovKeeper, store } from "./keeper.ts";

const DAY = 86_400n;
const MOST_YEARS = 10n;
/** Every deposit looks through the list. */
const MOST_DENOMS = 20;

const dec = (text: string): string => formatDec(parseDec(text));

export function defaultParams(): Params {
  return create(ParamsSchema, {
    minDeposit: [{ denom: NATIVE_DENOM, amount: "10000000" }],
    maxDepositPeriod: { seconds: 2n * DAY },
    votingPeriod: { seconds: 2n * DAY },
    quorum: dec("0.334"),
    threshold: dec("0.5"),
    vetoThreshold: dec("0.334"),
    minInitialDepositRatio: dec("0"),
    proposalCancelRatio: dec("0.5"),
    expeditedVotingPeriod: { seconds: DAY },
    expeditedThreshold: dec("0.667"),
    expeditedMinDeposit: [{ denom: NATIVE_DENOM, amount: "50000000" }],
    burnVoteVeto: true,
    minDepositRatio: dec("0.01"),
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  const found = [
    ...minimumProblems("min_deposit", params),
    ...minimumProblems("expedited_min_deposit", params),
    ...ratioProblems("quorum", params.quorum),
    ...ratioProblems("threshold", params.threshold, "positive"),
    ...ratioProblems("expedited_threshold", params.expeditedThreshold, "positive"),
    ...ratioProblems("veto_threshold", params.vetoThreshold, "positive"),
    ...ratioProblems("min_initial_deposit_ratio", params.minInitialDepositRatio),
    ...ratioProblems("proposal_cancel_ratio", params.proposalCancelRatio),
    ...ratioProblems("min_deposit_ratio", params.minDepositRatio),
    ...durationProblems("max_deposit_period", params.maxDepositPeriod, MOST_YEARS),
    ...durationProblems("voting_period", params.votingPeriod, MOST_YEARS),
    ...durationProblems("expedited_voting_period", params.expeditedVotingPeriod, MOST_YEARS),
    ...(params.proposalCancelDest === "" || isAddress(params.proposalCancelDest)
      ? []
      : ["proposal_cancel_dest: must be empty or the address of an account"]),
  ];
  const all = found.length > 0 ? found : expeditedProblems(params);
  return all.map((problem) => `params.${problem}`);
}

/** An expedited proposal requires more, and its time is shorter. */
function expeditedProblems(params: Params): string[] {
  const least = readSomeCoins(params.minDeposit);
  const asked = readSomeCoins(params.expeditedMinDeposit);
  return [
    ...(covers(least, asked) ? ["expedited_min_deposit: must be greater than min_deposit"] : []),
    ...(ratio(params.expeditedThreshold) <= ratio(params.threshold)
      ? ["expedited_threshold: must be greater than threshold"]
      : []),
    ...(period(params.expeditedVotingPeriod) >= period(params.votingPeriod)
      ? ["expedited_voting_period: must be shorter than voting_period"]
      : []),
  ];
}

/** A deposit may require at most this fraction of a coin's supply. */
const LEAST_DEPOSITS = 10n;

/** An unaffordable deposit would end all proposals. */
export function changeParams(keeper: GovKeeper, ctx: Context, params: Params): void {
  const before = keeper.getParams(ctx).minDeposit;
  const isKnown = ({ denom, amount }: IntCoin): boolean => covers(readCoins(before), [{ denom, amount }]);
  for (const coin of readSomeCoins(params.minDeposit)) {
    if (isKnown(coin) || coin.amount * LEAST_DEPOSITS <= keeper.deps.bank.supply(ctx, coin.denom)) continue;
    throw errors.invalidParams(`params.min_deposit: ${formatCoin(coin)} is more than a tenth of all there is of it`);
  }
  keeper.records.params.set(store(ctx), params);
}

function minimumProblems(name: string, params: Params): string[] {
  const coins = name === "min_deposit" ? params.minDeposit : params.expeditedMinDeposit;
  if (coins.length > MOST_DENOMS) return [`${name}: there may be at most ${MOST_DENOMS} coins`];
  try {
    readSomeCoins(coins);
    return [];
  } catch (error) {
    return [`${name}: ${errorText(error)}`];
  }
}

function ratioProblems(name: string, text: string, least: "zero" | "positive" = "zero"): string[] {
  const value = tryParseDec(text);
  const isGood = value !== undefined && value <= DEC_ONE && (least === "zero" ? value >= 0n : value > 0n);
  return isGood ? [] : [`${name}: must be ${least === "zero" ? "0 to 1" : "more than 0 and at most 1"}`];
}

/** A ratio of the parameters. */
export function ratio(text: string): Dec {
  return parseDec(text);
}

/** A period of the parameters in nanoseconds. */
export function period(duration: Params["votingPeriod"]): bigint {
  return duration === undefined ? 0n : toNanos(duration);
}

/** Whether there is at least as much of everything in `coins` as in `least`. */
export function covers(coins: readonly IntCoin[], least: readonly IntCoin[]): boolean {
  const held = new Map(coins.map(({ denom, amount }) => [denom, amount]));
  return least.every(({ denom, amount }) => (held.get(denom) ?? 0n) >= amount);
}
