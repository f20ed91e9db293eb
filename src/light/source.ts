import { equalBytes } from "../util/index.ts";
import type { Validator } from "../wire/index.ts";
import type { LightBlock, SignedHeader } from "./block.ts";
import { lightErrors } from "./errors.ts";
import type { AttackEvidence } from "./evidence.ts";

/** A node that blocks are fetched from. Nothing that it says is believed. */
export interface Source {
  /** Address of the node, for messages. */
  readonly name: string;
  /** The header of a height with its votes, the latest without a height; undefined if the node does not have it. */
  signedHeader(height?: bigint): Promise<SignedHeader | undefined>;
  /** Voters on the block of a height, in the order of its commit. */
  validators(height: bigint): Promise<readonly Validator[]>;
  /** Sends the proof of an attack to the node. */
  report(evidence: AttackEvidence): Promise<void>;
}

/**
 * A block of a source, the latest without a height. Its validators are fetched unless a known block has the same.
 * Undefined if the source does not have the block.
 */
export async function loadBlock(
  source: Source,
  height: bigint | undefined,
  known: LightBlock,
): Promise<LightBlock | undefined> {
  const signed = await source.signedHeader(height);
  if (signed === undefined) return undefined;
  const { header } = signed;
  if (height !== undefined && header.height !== height) {
    throw lightErrors.badBlock(`${source.name} answers with block ${header.height} for block ${height}`);
  }
  const isKnown = equalBytes(header.validatorsHash, known.header.validatorsHash);
  return { ...signed, validators: isKnown ? known.validators : await source.validators(header.height) };
}

/** The block of a height, which the source must have. */
export async function requireBlock(source: Source, height: bigint, known: LightBlock): Promise<LightBlock> {
  const block = await loadBlock(source, height, known);
  if (block === undefined) throw missing(source, height);
  return block;
}

export function missing(source: Source, height: bigint): Error {
  return lightErrors.badBlock(`${source.name} does not have block ${height}`);
}
