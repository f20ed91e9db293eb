import { equalBytes } from "../../util/index.ts";
import { wireErrors } from "../codec/index.ts";
import { HashOp, type InnerOp } from "../gen/sdk/ics23/v1/proofs_pb.js";
import { checkIavlHeader } from "./iavl.ts";
import type { ProofSpec } from "./specs.ts";

/** One level of a path: on which side of its parent the child is, and the other child. */
export interface Step {
  readonly side: "left" | "right";
  readonly sibling: Uint8Array;
}

/**
 * Reads a level of a path; `layer` counts them from 1 at the leaf. The other child must be whole, in front or behind,
 * so that no bytes are left that could be chosen freely. Throws `wireErrors.badProof`.
 */
export function readStep(spec: ProofSpec, op: InnerOp, layer: number): Step {
  const { prefix, suffix } = op;
  if (op.hash !== HashOp.SHA256) throw wireErrors.badProof("an inner node is not hashed with SHA-256");
  const { prefix: leafPrefix } = spec.leaf;
  if (equalBytes(prefix.subarray(0, leafPrefix.length), leafPrefix))
    throw wireErrors.badProof("an inner node looks like a leaf");
  const side = sideOf(spec, op);
  const header = side === "left" ? prefix : prefix.subarray(0, prefix.length - spec.childSize);
  if (spec.name === "iavl") checkIavlHeader(header, layer);
  return { side, sibling: side === "left" ? suffix : prefix.subarray(header.length) };
}

function sideOf({ childSize, minPrefix, maxPrefix }: ProofSpec, { prefix, suffix }: InnerOp): Step["side"] {
  const isHeader = (length: number): boolean => length >= minPrefix && length <= maxPrefix;
  if (isHeader(prefix.length) && suffix.length === childSize) return "left";
  if (isHeader(prefix.length - childSize) && suffix.length === 0) return "right";
  throw wireErrors.badProof("an inner node has a prefix or suffix of a wrong length");
}
