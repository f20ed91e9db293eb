import type { LeafOp } from "../gen/sdk/ics23/v1/proofs_pb.js";
import { HashOp, LengthOp } from "../gen/sdk/ics23/v1/proofs_pb.js";

/**
 * The form that proofs of a kind of tree must have. All trees here are binary and hashed with SHA-256, children in the
 * order of their keys.
 */
export interface ProofSpec {
  readonly name: "iavl" | "tendermint" | "smt";
  readonly leaf: Pick<LeafOp, "hash" | "prehashKey" | "prehashValue" | "length" | "prefix">;
  /** Bytes of a child in its parent, length byte included where there is one. */
  readonly childSize: number;
  /** Bytes in front of the first child. */
  readonly minPrefix: number;
  readonly maxPrefix: number;
  /** The hash that takes the place of a missing child; undefined where no child can be missing. */
  readonly emptyChild: Uint8Array | undefined;
  readonly maxDepth: number;
  /** Leaves are in the order of the hashes of their keys. */
  readonly ordersByHash: boolean;
}

const LEAF = {
  hash: HashOp.SHA256,
  prehashKey: HashOp.NO_HASH,
  prehashValue: HashOp.SHA256,
  length: LengthOp.VAR_PROTO,
  prefix: Uint8Array.of(0),
};

/** Stores of the ecosystem's reference chain. */
export const IAVL_SPEC: ProofSpec = {
  name: "iavl",
  leaf: LEAF,
  childSize: 33,
  minPrefix: 4,
  maxPrefix: 12,
  emptyChild: undefined,
  maxDepth: 128,
  ordersByHash: false,
};

/** The tree of the roots of all stores, whose root is the app hash. */
export const TENDERMINT_SPEC: ProofSpec = {
  name: "tendermint",
  leaf: LEAF,
  childSize: 32,
  minPrefix: 1,
  maxPrefix: 1,
  emptyChild: undefined,
  maxDepth: 128,
  ordersByHash: false,
};

/** Sparse Merkle trees: the stores of our chain. */
export const SMT_SPEC: ProofSpec = {
  name: "smt",
  leaf: { ...LEAF, prehashKey: HashOp.SHA256, length: LengthOp.NO_PREFIX },
  childSize: 32,
  minPrefix: 1,
  maxPrefix: 1,
  emptyChild: new Uint8Array(32),
  maxDepth: 256,
  ordersByHash: true,
};
