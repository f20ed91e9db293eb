import { verifyEd25519 } from "../crypto/index.ts";
import { equalBytes, toHex } from "../util/index.ts";
import { type Commit, type CommitSig, type Validator, voteSignBytes } from "../wire/index.ts";
import { type LightBlock, totalPower } from "./block.ts";
import { lightErrors } from "./errors.ts";

/** A vote for the block with its validator. */
interface Vote {
  readonly sig: CommitSig;
  readonly validator: Validator;
}

/** Throws `lightErrors.badBlock` unless validators with more than two thirds of the set's power signed the block. */
export function verifyCommit({ header: { chainId }, commit, validators }: LightBlock): void {
  const { height, signatures } = commit;
  if (signatures.length !== validators.length) {
    throw lightErrors.badBlock(`block ${height} has ${validators.length} validators and ${signatures.length} votes`);
  }
  const needed = (totalPower(validators) * 2n) / 3n;
  const votes = votesAbove(needed, votesByPlace(commit, validators));
  if (votes === undefined) {
    throw lightErrors.badBlock(`block ${height} has votes of two thirds of its validators' power at most`);
  }
  verifyVotes(chainId, commit, votes);
}

/**
 * Throws `lightErrors.notEnoughTrust` unless validators with more than a third of a trusted set's power signed the
 * commit, and `lightErrors.badBlock` if one of their signatures is wrong.
 */
export function verifyTrusting(chainId: string, trusted: readonly Validator[], commit: Commit): void {
  const votes = votesAbove(totalPower(trusted) / 3n, votesByAddress(commit, trusted));
  if (votes === undefined) throw lightErrors.notEnoughTrust(`block ${commit.height}`);
  verifyVotes(chainId, commit, votes);
}

const SIGNATURE_BYTES = 64;

/**
 * The first votes that together have more power than needed; undefined if all votes together do not. Throws
 * `lightErrors.badBlock` if a signature is too short or too long.
 */
function votesAbove(needed: bigint, votes: Iterable<Vote>): readonly Vote[] | undefined {
  const taken: Vote[] = [];
  let power = 0n;
  for (const vote of votes) {
    if (vote.sig.signature.length !== SIGNATURE_BYTES) {
      throw lightErrors.badBlock(`the signature of validator ${toHex(vote.validator.address)} has a wrong length`);
    }
    taken.push(vote);
    power += vote.validator.power;
    if (power > needed) return taken;
  }
  return undefined;
}

function* votesByPlace({ height, signatures }: Commit, validators: readonly Validator[]): Generator<Vote> {
  for (const [i, sig] of signatures.entries()) {
    const validator = validators[i];
    if (sig.flag !== 2 || validator === undefined) continue;
    // No signature covers the address beside it.
    if (!equalBytes(sig.validatorAddress, validator.address)) {
      throw lightErrors.badBlock(`vote ${i} of block ${height} has the address of another validator`);
    }
    yield { sig, validator };
  }
}

/** Votes of members of another set; a member that voted twice is refused. */
function* votesByAddress({ height, signatures }: Commit, members: readonly Validator[]): Generator<Vote> {
  const byAddress = new Map(members.map((validator) => [toHex(validator.address), validator]));
  const seen = new Set<Validator>();
  for (const sig of signatures) {
    const validator = sig.flag === 2 ? byAddress.get(toHex(sig.validatorAddress)) : undefined;
    if (validator === undefined) continue;
    if (seen.has(validator)) {
      throw lightErrors.badBlock(`validator ${toHex(validator.address)} voted twice for block ${height}`);
    }
    seen.add(validator);
    yield { sig, validator };
  }
}

function verifyVotes(chainId: string, { height, round, blockId }: Commit, votes: readonly Vote[]): void {
  for (const { sig, validator } of votes) {
    const message = voteSignBytes({ chainId, height, round, blockId, timestamp: sig.timestamp });
    if (!verifyEd25519(validator.pubKey, message, sig.signature)) {
      throw lightErrors.badBlock(`the signature of validator ${toHex(validator.address)} on block ${height} is wrong`);
    }
  }
}
