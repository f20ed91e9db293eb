import { sha256 } from "../../crypto/index.ts";
import { concatBytes } from "../../util/index.ts";

/** Proof that a leaf is part of a tree (RFC 6962). */
export interface MerkleProof {
  readonly total: number;
  readonly index: number;
  readonly leafHash: Uint8Array;
  /** Siblings from the leaf upwards. */
  readonly aunts: readonly Uint8Array[];
}

const LEAF = Uint8Array.of(0);
const INNER = Uint8Array.of(1);
const EMPTY_ROOT = sha256(new Uint8Array());

/** Root of a Merkle tree over byte strings (RFC 6962 section 2.1); without leaves, the hash of the empty string. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return EMPTY_ROOT;
  return rootOf(leaves.map(leafHash), 0, leaves.length);
}

/** The path from leaf `index` to the root. */
export function merkleProof(leaves: readonly Uint8Array[], index: number): MerkleProof {
  const hashes = leaves.map(leafHash);
  const leaf = hashes[index];
  if (leaf === undefined) throw new Error(`there is no leaf ${index} among ${leaves.length}`);
  const aunts: Uint8Array[] = [];
  let from = 0;
  let to = hashes.length;
  while (to - from > 1) {
    const middle = from + splitPoint(to - from);
    if (index < middle) {
      aunts.push(rootOf(hashes, middle, to));
      to = middle;
    } else {
      aunts.push(rootOf(hashes, from, middle));
      from = middle;
    }
  }
  return { total: leaves.length, index, leafHash: leaf, aunts: aunts.reverse() };
}

/** The root that a proof leads to, for comparison with a trusted one. */
export function merkleRootOfProof(proof: MerkleProof): Uint8Array {
  const climb = (index: number, total: number, aunts: readonly Uint8Array[]): Uint8Array => {
    const last = aunts.at(-1);
    if (last === undefined) return proof.leafHash;
    const split = splitPoint(total);
    const rest = aunts.slice(0, -1);
    return index < split
      ? innerHash(climb(index, split, rest), last)
      : innerHash(last, climb(index - split, total - split, rest));
  };
  return climb(proof.index, proof.total, proof.aunts);
}

export function leafHash(leaf: Uint8Array): Uint8Array {
  return sha256(concatBytes(LEAF, leaf));
}

function innerHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(INNER, left, right));
}

function rootOf(hashes: readonly Uint8Array[], from: number, to: number): Uint8Array {
  const only = hashes[from];
  if (to - from === 1 && only !== undefined) return only;
  const middle = from + splitPoint(to - from);
  return innerHash(rootOf(hashes, from, middle), rootOf(hashes, middle, to));
}

/** The largest power of two below `count`. */
function splitPoint(count: number): number {
  return 2 ** (31 - Math.clz32(count - 1));
}
