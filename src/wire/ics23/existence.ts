import { sha256 } from "../../crypto/index.ts";
import { concatBytes, equalBytes } from "../../util/index.ts";
import { wireErrors } from "../codec/index.ts";
import { type ExistenceProof, HashOp, type LeafOp, LengthOp } from "../gen/sdk/ics23/v1/proofs_pb.js";
import { checkIavlLeaf } from "./iavl.ts";
import type { ProofSpec } from "./specs.ts";
import { readStep, type Step } from "./steps.ts";

/** Result of a proof. */
export interface Proven {
  /** Root hash of the tree. */
  readonly root: Uint8Array;
  /** From the leaf to the root. */
  readonly steps: readonly Step[];
}

/**
 * The root of the tree in which the proof's key has the proof's value, after all checks of its form. The caller
 * compares it with a trusted root. Throws `wireErrors.badProof`.
 */
export function existenceRoot(spec: ProofSpec, proof: ExistenceProof): Proven {
  const { key, value, leaf, path } = proof;
  if (leaf === undefined || key.length === 0 || value.length === 0) throw wireErrors.badProof("the leaf is missing");
  checkLeaf(spec, leaf);
  if (path.length > spec.maxDepth) throw wireErrors.badProof(`the path has more than ${spec.maxDepth} steps`);
  const steps = path.map((op, i) => readStep(spec, op, i + 1));
  const root = path.reduce((hash, op) => sha256(concatBytes(op.prefix, hash, op.suffix)), leafHash(leaf, key, value));
  return { root, steps };
}

/** Throws `wireErrors.badProof` unless the proof shows that the key has the value under the root. */
export function verifyExistence(
  spec: ProofSpec,
  proof: ExistenceProof,
  expected: { readonly root: Uint8Array; readonly key: Uint8Array; readonly value: Uint8Array },
): Proven {
  if (!equalBytes(proof.key, expected.key)) throw wireErrors.badProof("it is of another key");
  if (!equalBytes(proof.value, expected.value)) throw wireErrors.badProof("it is of another value");
  const proven = existenceRoot(spec, proof);
  if (!equalBytes(proven.root, expected.root)) throw wireErrors.badProof("it leads to another root");
  return proven;
}

function checkLeaf(spec: ProofSpec, leaf: LeafOp): void {
  const wanted = spec.leaf;
  const same =
    leaf.hash === wanted.hash &&
    leaf.prehashKey === wanted.prehashKey &&
    leaf.prehashValue === wanted.prehashValue &&
    leaf.length === wanted.length;
  if (!same) throw wireErrors.badProof("the leaf is hashed in another way");
  // In IAVL numbers follow the first byte; elsewhere nothing does.
  const isIavl = spec.name === "iavl";
  if (isIavl) checkIavlLeaf(leaf.prefix);
  const prefix = isIavl ? leaf.prefix.subarray(0, wanted.prefix.length) : leaf.prefix;
  if (!equalBytes(prefix, wanted.prefix)) throw wireErrors.badProof("the leaf has another prefix");
}

function leafHash(leaf: LeafOp, key: Uint8Array, value: Uint8Array): Uint8Array {
  const part = (hash: HashOp, bytes: Uint8Array): Uint8Array => {
    const data = hash === HashOp.NO_HASH ? bytes : sha256(bytes);
    return leaf.length === LengthOp.NO_PREFIX ? data : concatBytes(varint(data.length), data);
  };
  return sha256(concatBytes(leaf.prefix, part(leaf.prehashKey, key), part(leaf.prehashValue, value)));
}

function varint(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Uint8Array.from([...bytes, rest]);
}
