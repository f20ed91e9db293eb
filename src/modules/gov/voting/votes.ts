import { create } from "@bufbuild/protobuf";
import type { Context } from "../../../runtime/index.ts";
import { DEC_ONE, formatDec, sdkErrors, tryParseDec } from "../../../util/index.ts";
import { ProposalStatus, VoteOption, VoteSchema } from "../../../wire/gen/sdk/gov/v1/gov_pb.js";
import { encodeAddress, govErrors as errors } from "../../../wire/index.ts";
import { ballotOf, type GovKeeper, store } from "../keeper.ts";
import { MAX_METADATA } from "../limits.ts";
import { OPTIONS, type Part, putVote } from "./ballots.ts";

/** A vote that is not split. Throws `gov/7` for an unknown option. */
export function wholeVote(option: VoteOption): Part[] {
  if (!OPTIONS.includes(option)) throw errors.invalidVote(VoteOption[option] ?? `${option}`);
  return [{ option, weight: formatDec(DEC_ONE) }];
}

/** Throws unless the parts of a vote are different options, each with a weight above 0, that add up to one. */
export function checkParts(parts: readonly Part[]): void {
  if (parts.length === 0) throw sdkErrors.invalidRequest("[]");
  let total = 0n;
  for (const [i, { option, weight }] of parts.entries()) {
    const value = tryParseDec(weight);
    if (!OPTIONS.includes(option) || value === undefined || value <= 0n || value > DEC_ONE)
      throw errors.invalidVote(partText({ option, weight: weight.slice(0, 40) }));
    if (parts.findIndex((each) => each.option === option) < i) throw errors.invalidVote("duplicated vote option");
    total += value;
  }
  if (total > DEC_ONE) throw errors.invalidVote("total weight overflow 1.00");
  if (total < DEC_ONE) throw errors.invalidVote("total weight lower than 1.00");
}

export function checkMetadata(text: string): void {
  const { length } = Buffer.from(text);
  if (length > MAX_METADATA) throw errors.metadataTooLong(`got metadata with length ${length}`);
}

/**
 * Charged in addition to reads and writes: the end of the vote reads validators' votes, and later blocks delete all
 * votes.
 */
const VOTE_GAS = 7_500n;

/** Stores a vote; a later vote of the same account replaces it. */
export function addVote(
  keeper: GovKeeper,
  ctx: Context,
  { id, voter, parts, metadata }: { id: bigint; voter: Uint8Array; parts: readonly Part[]; metadata: string },
): void {
  ctx.gas.consume(VOTE_GAS, "vote");
  const proposal = keeper.records.proposals.get(store(ctx), id);
  if (proposal?.status !== ProposalStatus.VOTING_PERIOD) throw errors.inactiveProposal(`${id}`);
  const name = encodeAddress(voter);
  const options = parts.map(({ option, weight }) => ({ option, weight }));
  const vote = create(VoteSchema, { proposalId: id, voter: name, options, metadata });
  putVote(keeper, ctx, [ballotOf(proposal), voter], vote);
  keeper.tell("afterProposalVote", ctx, id, voter);
  const option = `[${options.map(partText).join(",")}]`;
  ctx.events.emit("proposal_vote", { voter: name, option, proposal_id: `${id}` });
}

function partText({ option, weight }: Part): string {
  return JSON.stringify({ option, weight });
}
