import { create } from "@bufbuild/protobuf";
import { assert, toUtf8 } from "../../util/index.ts";
import {
  type CommitmentProof,
  CommitmentProofSchema,
  type ExistenceProof,
  ExistenceProofSchema,
  HashOp,
  type InnerOp,
  InnerOpSchema,
  NonExistenceProofSchema,
} from "../../wire/gen/sdk/ics23/v1/proofs_pb.js";
import { encodeMessage, type ProofOp, type ProofSpec, SMT_SPEC, TENDERMINT_SPEC } from "../../wire/index.ts";
import type { Sibling } from "./hash.ts";
import { HASH_BYTES, pathInApp, sha256 } from "./hash.ts";
import type { TreeView } from "./smt.ts";

/** A tree, with the keys and values that it has only the hashes of. */
export interface ProvenTree {
  readonly tree: TreeView;
  /** The key of a path. */
  key(path: Uint8Array): Uint8Array | undefined;
  value(key: Uint8Array): Uint8Array | undefined;
}

const INNER = Uint8Array.of(1);
const NOTHING = new Uint8Array(0);

/** The part of a proof that shows what a store has under a key, or that it has nothing there (ICS 23). */
export function proveInStore(store: ProvenTree, key: Uint8Array): ProofOp {
  const path = sha256(key);
  const proof: CommitmentProof["proof"] =
    store.tree.siblings(path) === undefined
      ? { case: "nonexist", value: create(NonExistenceProofSchema, { key, ...neighbours(store, path) }) }
      : { case: "exist", value: existence(store, path) };
  return { type: "ics23:smt", key, data: encodeProof(proof) };
}

/** The part of a proof that shows a store's root under the app hash. */
export function proveInApp(roots: ReadonlyMap<string, Uint8Array>, store: string): ProofOp {
  const key = toUtf8(store);
  const value = roots.get(store) ?? new Uint8Array(HASH_BYTES);
  const proof = existenceProof(TENDERMINT_SPEC, { key, value, siblings: pathInApp(roots, store) });
  return { type: "ics23:simple", key, data: encodeProof({ case: "exist", value: proof }) };
}

function neighbours(store: ProvenTree, path: Uint8Array): { left?: ExistenceProof; right?: ExistenceProof } {
  const { left, right } = store.tree.neighbours(path);
  return {
    ...(left === undefined ? {} : { left: existence(store, left) }),
    ...(right === undefined ? {} : { right: existence(store, right) }),
  };
}

function existence({ tree, key, value }: ProvenTree, path: Uint8Array): ExistenceProof {
  const siblings = tree.siblings(path);
  const keyBytes = key(path);
  const bytes = keyBytes && value(keyBytes);
  assert(siblings !== undefined && keyBytes !== undefined && bytes !== undefined, "a leaf has its key and its value");
  return existenceProof(SMT_SPEC, { key: keyBytes, value: bytes, siblings });
}

interface Leaf {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** From the leaf upwards. */
  readonly siblings: readonly Sibling[];
}

function existenceProof({ leaf }: ProofSpec, { key, value, siblings }: Leaf): ExistenceProof {
  return create(ExistenceProofSchema, { key, value, leaf, path: siblings.map(innerOp) });
}

function innerOp({ side, hash }: Sibling): InnerOp {
  const isLeft = side === "left";
  const prefix = isLeft ? Buffer.concat([INNER, hash]) : INNER;
  return create(InnerOpSchema, { hash: HashOp.SHA256, prefix, suffix: isLeft ? NOTHING : hash });
}

function encodeProof(proof: CommitmentProof["proof"]): Uint8Array {
  return encodeMessage(CommitmentProofSchema, create(CommitmentProofSchema, { proof }));
}
