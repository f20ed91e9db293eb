import { DEC_ONE, formatDecShort, tryParseDec } from "../../../util/index.ts";
import { type VoteOption, VoteOptionSchema } from "../../../wire/gen/sdk/gov/v1beta1/gov_pb.js";
import { usageError } from "../../errors.ts";

const WORDS = "yes, no, no_with_veto, abstain";

/**
 * A vote's option in any of its spellings: `no_with_veto`, `no-with-veto`, `NoWithVeto`, `VOTE_OPTION_NO_WITH_VETO`.
 */
export function readVoteOption(text: string, name = "<option>"): VoteOption {
  const plain = (word: string): string =>
    word
      .toUpperCase()
      .replaceAll(/[-_]/g, "")
      .replace(/^VOTEOPTION/, "");
  const found = VoteOptionSchema.values.find(({ number, name: word }) => number > 0 && plain(word) === plain(text));
  if (found === undefined) throw usageError(`${name} is ${WORDS}, not "${text.slice(0, 64)}"`);
  return found.number;
}

export interface Weight {
  readonly option: VoteOption;
  /** Scaled 10^18; all of a vote add up to one. */
  readonly weight: bigint;
}

/** The parts of a split vote: `yes=0.6,no=0.4`. */
export function readWeights(text: string): Weight[] {
  const weights = text.split(",").map(readWeight);
  const twice = weights.find(({ option }, i) => weights.findIndex((each) => each.option === option) < i);
  if (twice !== undefined) throw usageError(`<weighted-options>: an option appears twice in "${text.slice(0, 80)}"`);
  const total = weights.reduce((sum, { weight }) => sum + weight, 0n);
  if (total === DEC_ONE) return weights;
  throw usageError(`<weighted-options>: the weights add up to ${formatDecShort(total)}, not to 1`);
}

function readWeight(part: string): Weight {
  const [word = "", number = "", ...rest] = part.trim().split("=");
  const option = readVoteOption(word, "<weighted-options>: an option");
  const weight = tryParseDec(number);
  if (weight === undefined || weight <= 0n || weight > DEC_ONE || rest.length > 0) {
    throw usageError(
      `<weighted-options>: "${part.slice(0, 64)}" has no weight above 0 and up to 1`,
      "write for example yes=0.6,no=0.4",
    );
  }
  return { option, weight };
}
