import { verifyEd25519 } from "../../../crypto/index.ts";
import { equalBytes } from "../../../util/index.ts";
import { type Commit, type CommitSig, type Validator, voteSignBytes } from "../../../wire/index.ts";

export { type Precommit, voteSignBytes } from "../../../wire/index.ts";

/** Whether more than two thirds of the voting power signed the commit's block; every signature given must be valid. */
export function verifyCommit(chainId: string, commit: Commit, validators: readonly Validator[]): boolean {
  if (commit.signatures.length !== validators.length) return false;
  let signed = 0n;
  let total = 0n;
  for (const [i, validator] of validators.entries()) {
    total += validator.power;
    const sig = commit.signatures[i];
    if (sig === undefined || sig.flag !== 2) continue;
    // No signature covers the address beside it.
    if (!equalBytes(sig.validatorAddress, validator.address)) return false;
    if (!verifySignature(chainId, commit, { sig, validator })) return false;
    signed += validator.power;
  }
  return signed * 3n > total * 2n;
}

function verifySignature(chainId: string, commit: Commit, vote: { sig: CommitSig; validator: Validator }): boolean {
  const { height, round, blockId } = commit;
  const message = voteSignBytes({ chainId, height, round, blockId, timestamp: vote.sig.timestamp });
  return verifyEd25519(vote.validator.pubKey, message, vote.sig.signature);
}
