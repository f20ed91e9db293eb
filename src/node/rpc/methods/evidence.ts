import { errorText, fromBase64, fromHex, toHexUpper } from "../../../util/index.ts";
import { defineMethod, refuse } from "../calls/method.ts";
import { json } from "../calls/params.ts";

/** Kinds of evidence that engines of the ecosystem know. */
const DUPLICATE_VOTE = "tendermint/DuplicateVoteEvidence";
const LIGHT_CLIENT_ATTACK = "tendermint/LightClientAttackEvidence";

const PREVOTE = 1;
const PRECOMMIT = 2;
const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
const MOST_SIGNATURE_BYTES = 96;

export const evidenceMethods = {
  /**
   * Reads evidence as the reference does. An engine that makes blocks alone has no other validator to accuse; another
   * one judges it.
   */
  broadcast_evidence: defineMethod({ evidence: json }, ({ chain }, { evidence }) => {
    if (evidence === undefined || evidence === null) throw refuse("no evidence was provided");
    if (chain.ask !== undefined) return chain.ask("broadcast_evidence", { evidence });
    try {
      checkEvidence(evidence);
    } catch (error) {
      throw refuse(`evidence.ValidateBasic failed: ${errorText(error)}`);
    }
    throw refuse("failed to add evidence: this node makes its blocks alone, so there is nobody to accuse");
  }),
};

type Values = Readonly<Record<string, unknown>>;

function checkEvidence(evidence: unknown): void {
  const { type, value } = valuesOf(evidence, "evidence");
  if (type === DUPLICATE_VOTE) checkDuplicateVote(valuesOf(value, "value"));
  else if (type !== LIGHT_CLIENT_ATTACK) throw new Error(`unknown type ${shown(type)}`);
  else if (valuesOf(value, "value").ConflictingBlock === undefined) throw new Error("conflicting block is nil");
}

/** Two valid votes, ordered by their blocks. */
function checkDuplicateVote({ vote_a: a, vote_b: b }: Values): void {
  if (!a || !b) throw new Error("one or both of the votes are empty");
  const [first, second] = [voteKey(a, "VoteA"), voteKey(b, "VoteB")];
  if (first >= second) throw new Error("duplicate votes in invalid order (or the same block id)");
}

/** Checks a vote. Returns the key by which its block is ordered. */
function voteKey(vote: unknown, name: string): string {
  try {
    return checkVote(valuesOf(vote, "vote"));
  } catch (error) {
    throw new Error(`invalid ${name}: ${errorText(error)}`);
  }
}

function checkVote(vote: Values): string {
  if (vote.type !== PREVOTE && vote.type !== PRECOMMIT) throw new Error("invalid Type");
  if (typeof vote.height !== "string" || !/^[1-9]\d{0,18}$/.test(vote.height))
    throw new Error("negative or zero Height");
  if (!isIndex(vote.round)) throw new Error("negative Round");
  if (!isIndex(vote.validator_index)) throw new Error("negative ValidatorIndex");
  if (hexOf(vote.validator_address).length !== ADDRESS_BYTES)
    throw new Error(`expected ValidatorAddress size to be ${ADDRESS_BYTES} bytes`);
  const { length } = typeof vote.signature === "string" ? fromBase64(vote.signature) : [];
  if (length === 0) throw new Error("signature is missing");
  if (length > MOST_SIGNATURE_BYTES) throw new Error(`signature is too big (max: ${MOST_SIGNATURE_BYTES})`);
  return blockKey(valuesOf(vote.block_id, "block_id"));
}

/** A vote is for a whole block, or for none. */
function blockKey({ hash, parts }: Values): string {
  const { total, hash: root } = valuesOf(parts, "parts");
  const [block, part] = [hexOf(hash), hexOf(root)];
  const isNone = block.length === 0 && part.length === 0 && total === 0;
  const isWhole = block.length === HASH_BYTES && part.length === HASH_BYTES && isIndex(total) && total !== 0;
  if (!isNone && !isWhole) throw new Error("blockID must be either empty or complete");
  return `${toHexUpper(block)}${toHexUpper(part)}`;
}

function valuesOf(value: unknown, name: string): Values {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${name} is not an object`);
  return Object.fromEntries(Object.entries(value));
}

function isIndex(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function hexOf(value: unknown): Uint8Array {
  if (typeof value !== "string") throw new Error(`expected hex, got ${shown(value)}`);
  return fromHex(value);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 60);
}
