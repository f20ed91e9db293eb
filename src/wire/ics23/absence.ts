import { sha256 } from "../../crypto/index.ts";
import { compareBytes, equalBytes } from "../../util/index.ts";
import { wireErrors } from "../codec/index.ts";
import type { ExistenceProof, NonExistenceProof } from "../gen/sdk/ics23/v1/proofs_pb.js";
import { verifyExistence } from "./existence.ts";
import type { ProofSpec } from "./specs.ts";
import type { Step } from "./steps.ts";

/**
 * Throws `wireErrors.badProof` unless the proof shows that the key is absent under the root: both neighbours are
 * present with no leaf between them, or one is present with no leaf beyond it.
 */
export function verifyAbsence(
  spec: ProofSpec,
  proof: NonExistenceProof,
  expected: { readonly root: Uint8Array; readonly key: Uint8Array },
): void {
  const place = orderOf(spec, expected.key);
  const left = stepsOf(spec, proof.left, expected.root);
  const right = stepsOf(spec, proof.right, expected.root);
  if (proof.left !== undefined && compareBytes(orderOf(spec, proof.left.key), place) >= 0) {
    throw wireErrors.badProof("the left neighbour is not left of the key");
  }
  if (proof.right !== undefined && compareBytes(place, orderOf(spec, proof.right.key)) >= 0) {
    throw wireErrors.badProof("the right neighbour is not right of the key");
  }
  if (left === undefined && right === undefined) throw wireErrors.badProof("it has no neighbour of the key");
  if (!areNeighbours(spec, left, right)) throw wireErrors.badProof("there may be keys between the neighbours");
}

function orderOf({ ordersByHash }: ProofSpec, key: Uint8Array): Uint8Array {
  return ordersByHash ? sha256(key) : key;
}

function stepsOf(spec: ProofSpec, proof: ExistenceProof | undefined, root: Uint8Array): readonly Step[] | undefined {
  if (proof === undefined) return undefined;
  return verifyExistence(spec, proof, { root, key: proof.key, value: proof.value }).steps;
}

function areNeighbours(
  spec: ProofSpec,
  left: readonly Step[] | undefined,
  right: readonly Step[] | undefined,
): boolean {
  if (left === undefined) return isOutermost(spec, right ?? [], "left");
  if (right === undefined) return isOutermost(spec, left, "right");
  let [i, j] = [left.length - 1, right.length - 1];
  while (i >= 0 && j >= 0 && isSame(left[i], right[j])) [i, j] = [i - 1, j - 1];
  // Here the paths part: one goes left, the other right.
  if (left[i]?.side !== "left" || right[j]?.side !== "right") return false;
  return isOutermost(spec, left.slice(0, i), "right") && isOutermost(spec, right.slice(0, j), "left");
}

/** Whether no leaf is further to a side than the one of the path. */
function isOutermost({ emptyChild }: ProofSpec, steps: readonly Step[], side: Step["side"]): boolean {
  return steps.every(
    (step) => step.side === side || (emptyChild !== undefined && equalBytes(step.sibling, emptyChild)),
  );
}

function isSame(a: Step | undefined, b: Step | undefined): boolean {
  return a !== undefined && b !== undefined && a.side === b.side && equalBytes(a.sibling, b.sibling);
}
