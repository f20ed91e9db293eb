import { equalBytes, toHex } from "../util/index.ts";
import type { Validator } from "../wire/index.ts";
import { type LightBlock, type LightHeader, totalPower } from "./block.ts";

/** Proof that validators signed a second chain. */
export interface AttackEvidence {
  /** The block that is not on the chain of the node that gets the evidence. */
  readonly conflictingBlock: LightBlock;
  /** The last height at which both chains agree; that of the block where it differs in nothing but its contents. */
  readonly commonHeight: bigint;
  /** Validators that signed both. */
  readonly byzantine: readonly Validator[];
  readonly totalPower: bigint;
  /** Time of the block at the common height, in nanoseconds since 1970. */
  readonly time: bigint;
}

/** Blocks of an attack, as one of the nodes sees it. */
export interface Attack {
  /** The last block that both nodes have. */
  readonly common: LightBlock;
  /** The node's own block. */
  readonly own: LightBlock;
  /** The other node's block of the same height. */
  readonly conflicting: LightBlock;
}

export function attackEvidence({ common, own, conflicting }: Attack): AttackEvidence {
  const isForged = hasForgedState(own.header, conflicting.header);
  const base = isForged ? common : own;
  return {
    conflictingBlock: conflicting,
    commonHeight: base.header.height,
    byzantine: byzantineIn({ common, own, conflicting }, isForged),
    totalPower: totalPower(base.validators),
    time: base.header.time,
  };
}

/** Whether a header says of the state what no honest validator signs. */
function hasForgedState(own: LightHeader, other: LightHeader): boolean {
  const fields = ["validatorsHash", "nextValidatorsHash", "consensusHash", "appHash", "lastResultsHash"] as const;
  return fields.some((name) => !equalBytes(own[name], other[name]));
}

function byzantineIn({ common, own, conflicting }: Attack, isForged: boolean): readonly Validator[] {
  const signers = signersOf(conflicting);
  if (isForged) return byPower(common.validators.filter(({ address }) => signers.has(toHex(address))));
  // In another round validators may have voted for another block: no name is certain.
  if (own.commit.round !== conflicting.commit.round) return [];
  const others = signersOf(own);
  return byPower(
    conflicting.validators.filter(({ address }) => signers.has(toHex(address)) && others.has(toHex(address))),
  );
}

function signersOf({ commit: { signatures } }: LightBlock): ReadonlySet<string> {
  const signed = signatures.filter(({ flag }) => flag === 2);
  return new Set(signed.map(({ validatorAddress }) => toHex(validatorAddress)));
}

/** The engine's order: most power first, then by address. */
function byPower(validators: readonly Validator[]): readonly Validator[] {
  const key = ({ address }: Validator) => toHex(address);
  return validators.toSorted((a, b) => (a.power === b.power ? (key(a) < key(b) ? -1 : 1) : a.power > b.power ? -1 : 1));
}
