import type { ValidatorUpdate } from "../../../abci/index.ts";
import { consensusAddress } from "../../../crypto/index.ts";
import type { Write } from "../../../store/index.ts";
import { toHex } from "../../../util/index.ts";
import { validatorsWrite, votersWrite } from "./block-store.ts";
import type { Validator } from "./types.ts";

/** The signers of blocks, and the application's voters. One key signs here: voters with other keys are absent. */
export interface ValidatorSets {
  readonly signers: readonly Validator[];
  readonly voters: readonly Validator[];
}

/**
 * The sets of the block after the next. A signer that is no longer a voter keeps its power: no other signer can make
 * blocks.
 */
export function applyUpdates(sets: ValidatorSets, updates: readonly ValidatorUpdate[]): ValidatorSets {
  if (updates.length === 0) return sets;
  const powers = new Map(updates.map(({ pubKey, power }) => [toHex(pubKey), power]));
  const changed = (validator: Validator): Validator => ({
    ...validator,
    power: powers.get(toHex(validator.pubKey)) ?? validator.power,
  });
  const known = new Set(sets.voters.map(({ pubKey }) => toHex(pubKey)));
  const added = updates.filter(({ pubKey }) => !known.has(toHex(pubKey))).map(validatorOf);
  return {
    voters: [...sets.voters.map(changed), ...added].filter(({ power }) => power > 0n),
    signers: sets.signers.map((signer) => (changed(signer).power > 0n ? changed(signer) : signer)),
  };
}

/** Rows of the sets from a height on. */
export function setWrites(height: bigint, { signers, voters }: ValidatorSets): Write[] {
  return [validatorsWrite(height, signers), votersWrite(height, voters)];
}

/** A validator of genesis or of an update. */
export function validatorOf({ pubKey, power }: ValidatorUpdate): Validator {
  return { address: consensusAddress(pubKey), pubKey, power };
}
