import type { Misbehavior } from "../../src/abci/index.ts";
import { consensusAddress, ed25519PublicKey, ed25519Signer, sha256 } from "../../src/crypto/index.ts";
import { voteSignBytes } from "../../src/engine/embedded/blocks/vote.ts";
import { fromHex, toBase64, toHexUpper, toUtf8 } from "../../src/util/index.ts";
import { parseTimestamp, toNanos } from "../../src/wire/index.ts";

interface VotingRow {
  readonly voting_power: string;
}

/** A validator, its index at a height, and the seed of its key. */
export interface DoubleVoter {
  readonly height: number;
  readonly index: number;
  readonly validators: readonly VotingRow[];
  readonly seed: Uint8Array;
}

const PRECOMMIT = 2;

/**
 * Evidence, in the form of the ecosystem's engines, that a validator voted for two blocks; `time` is the true block's.
 */
export function doubleVote(chainId: string, voter: DoubleVoter, time: string): object {
  const hashes = ["one", "other"].map((text) => Uint8Array.from(sha256(toUtf8(text))));
  const votes = hashes.map((hash) => signedVote(chainId, { voter, hash, time }));
  votes.sort((a, b) => (a.block_id.hash < b.block_id.hash ? -1 : 1));
  const power = (row: VotingRow | undefined) => BigInt(row?.voting_power ?? 0);
  return {
    type: "tendermint/DuplicateVoteEvidence",
    value: {
      ...{ vote_a: votes[0], vote_b: votes[1], Timestamp: time },
      TotalVotingPower: `${voter.validators.reduce((sum, row) => sum + power(row), 0n)}`,
      ValidatorPower: `${power(voter.validators[voter.index])}`,
    },
  };
}

interface VoteParts {
  readonly voter: DoubleVoter;
  readonly hash: Uint8Array;
  readonly time: string;
}

function signedVote(chainId: string, { voter, hash, time }: VoteParts) {
  const { height, index, seed } = voter;
  const blockId = { hash, parts: { total: 1, hash } };
  const vote = { chainId, height: BigInt(height), round: 0, blockId, timestamp: nanos(time) };
  return {
    ...{ type: PRECOMMIT, height: `${height}`, round: 0, timestamp: time, validator_index: index },
    block_id: { hash: toHexUpper(hash), parts: { total: 1, hash: toHexUpper(hash) } },
    validator_address: toHexUpper(consensusAddress(ed25519PublicKey(seed))),
    signature: toBase64(ed25519Signer(seed)(voteSignBytes(vote))),
  };
}

/** A block's record of a validator that voted twice. */
export function misbehaviorOf({ value }: { readonly value: BlockEvidence }): Misbehavior {
  const address = fromHex(value.vote_a.validator_address.toLowerCase());
  return {
    kind: "duplicateVote",
    validator: { address, power: BigInt(value.ValidatorPower) },
    height: BigInt(value.vote_a.height),
    time: nanos(value.Timestamp),
    totalVotingPower: BigInt(value.TotalVotingPower),
  };
}

interface BlockEvidence {
  readonly vote_a: { readonly height: string; readonly validator_address: string };
  readonly ValidatorPower: string;
  readonly TotalVotingPower: string;
  readonly Timestamp: string;
}

function nanos(text: string): bigint {
  const parsed = parseTimestamp(text);
  if (parsed === undefined) throw new Error(`${text} is not a time`);
  return toNanos(parsed);
}
