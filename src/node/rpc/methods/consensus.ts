import { type Commit, formatRfc3339, type Validator } from "../../../engine/index.ts";
import { toHexUpper } from "../../../util/index.ts";
import { defineEngineMethod } from "../calls/method.ts";
import { validatorJson } from "../json/json.ts";

/** The step in which a height waits for its first proposal. */
const NEW_HEIGHT = 1;
const NO_VOTE = "nil-Vote";

/**
 * Consensus as the reference's engine reports it. Our engine makes a block in one go, so between two blocks it rests at
 * the next height.
 */
export const consensusMethods = {
  consensus_state: defineEngineMethod("consensus_state", async ({ chain }) => {
    const { height, startTime, validators } = await chain.consensus();
    const [proposer] = validators;
    return {
      round_state: {
        "height/round/step": `${height}/0/${NEW_HEIGHT}`,
        start_time: formatRfc3339(startTime),
        proposal_block_hash: "",
        locked_block_hash: "",
        valid_block_hash: "",
        height_vote_set: votesOf(validators),
        proposer: { address: toHexUpper(proposer?.address ?? new Uint8Array()), index: 0 },
      },
    };
  }),

  dump_consensus_state: defineEngineMethod("dump_consensus_state", async ({ chain }) => {
    const { height, startTime, validators, last } = await chain.consensus();
    const lastVoters = last?.validators ?? [];
    const commit = last?.record.commit;
    return {
      round_state: {
        height: height.toString(),
        round: 0,
        step: NEW_HEIGHT,
        start_time: formatRfc3339(startTime),
        commit_time: formatRfc3339(commit?.signatures[0]?.timestamp ?? startTime),
        validators: validatorSetJson(validators),
        proposal: null,
        proposal_block: null,
        proposal_block_parts: null,
        locked_round: -1,
        locked_block: null,
        locked_block_parts: null,
        valid_round: -1,
        valid_block: null,
        valid_block_parts: null,
        votes: votesOf(validators),
        commit_round: -1,
        last_commit: commit === undefined ? null : lastCommitJson(commit, lastVoters),
        last_validators: validatorSetJson(lastVoters),
        triggered_timeout_precommit: false,
      },
      peers: [],
    };
  }),
};

/** The votes of the only round, which has none yet. */
function votesOf(validators: readonly Validator[]) {
  const none = validators.map(() => NO_VOTE);
  const bits = bitArray(
    validators,
    validators.map(() => false),
  );
  return [{ round: 0, prevotes: none, prevotes_bit_array: bits, precommits: none, precommits_bit_array: bits }];
}

function validatorSetJson(validators: readonly Validator[]) {
  const [proposer] = validators;
  if (proposer === undefined) return { validators: null, proposer: null };
  return { validators: validators.map(validatorJson), proposer: validatorJson(proposer) };
}

function lastCommitJson({ height, round, blockId, signatures }: Commit, voters: readonly Validator[]) {
  const place = `${height}/${round.toString().padStart(2, "0")}/SIGNED_MSG_TYPE_PRECOMMIT(Precommit)`;
  const votes = signatures.map(({ flag, validatorAddress, timestamp, signature }, i) => {
    const hash = fingerprint(flag === 2 ? blockId.hash : new Uint8Array());
    const who = `${i}:${fingerprint(validatorAddress)}`;
    const signed = `${fingerprint(signature)} ${fingerprint(new Uint8Array())}`;
    return flag === 1 ? NO_VOTE : `Vote{${who} ${place} ${hash} ${signed} @ ${formatRfc3339(timestamp)}}`;
  });
  const voted = signatures.map(({ flag }) => flag !== 1);
  return { votes, votes_bit_array: bitArray(voters, voted), peer_maj_23s: {} };
}

/** `BA{2:x_} 10/15 = 0.67`: who voted, and with how much of the power. */
function bitArray(voters: readonly Validator[], voted: readonly boolean[]): string {
  const power = (those: readonly Validator[]) => those.reduce((sum, each) => sum + each.power, 0n);
  const [given, total] = [power(voters.filter((_, i) => voted[i])), power(voters)];
  const share = total === 0n ? 0 : Number(given) / Number(total);
  const bits = voters.map((_, i) => (voted[i] ? "x" : "_")).join("");
  return `BA{${voters.length}:${bits}} ${given}/${total} = ${share.toFixed(2)}`;
}

/** The first six bytes in hex, zeros where there are fewer. */
function fingerprint(bytes: Uint8Array): string {
  return toHexUpper(bytes.subarray(0, 6)).padEnd(12, "0");
}
