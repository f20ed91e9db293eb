import * as crypto from "node:crypto";
import { concatBytes, toUtf8 } from "../../util/index.ts";
import type { Sibling } from "./nodes.ts";

/** Bytes of a SHA-256 hash. */
export const HASH_BYTES = 32;

/** Hashes `data` and writes the 32 bytes at `offset` of `out`. */
export const sha256Into: (data: Uint8Array, out: Buffer, offset: number) => void =
  typeof crypto.hash === "function" ? hashAtOnce : hashByObject;

/** A one-shot hash given as a string costs a third of one given as a new Buffer. */
function hashAtOnce(data: Uint8Array, out: Buffer, offset: number): void {
  out.write(crypto.hash("sha256", data, "binary"), offset, HASH_BYTES, "latin1");
}

function hashByObject(data: Uint8Array, out: Buffer, offset: number): void {
  out.set(crypto.createHash("sha256").update(data).digest(), offset);
}

export function sha256(data: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafeSlow(HASH_BYTES);
  sha256Into(data, out, 0);
  return out;
}

/** Root of the Merkle tree of RFC 6962 section 2.1 over leaves in the order given. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [first] = leaves;
  if (first === undefined) return sha256(new Uint8Array(0));
  if (leaves.length === 1) return sha256(concatBytes(Uint8Array.of(0), first));
  const split = splitPoint(leaves.length);
  const left = merkleRoot(leaves.slice(0, split));
  return sha256(concatBytes(Uint8Array.of(1), left, merkleRoot(leaves.slice(split))));
}

/** The other children on the way from a leaf to the root. */
function merklePath(leaves: readonly Uint8Array[], index: number): Sibling[] {
  if (leaves.length <= 1) return [];
  const split = splitPoint(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...merklePath(left, index), { side: "right", hash: merkleRoot(right) }]
    : [...merklePath(right, index - split), { side: "left", hash: merkleRoot(left) }];
}

/** The largest power of two below a number of leaves. */
function splitPoint(leaves: number): number {
  let split = 1;
  while (split * 2 < leaves) split *= 2;
  return split;
}

/**
 * The app hash of named store roots: Merkle root over the stores sorted by name, each leaf the length-prefixed name and
 * the length-prefixed hash of the root (the multistore form of the ICS23 `tendermint` proof specification).
 */
export function appHashOf(roots: ReadonlyMap<string, Uint8Array>): Uint8Array {
  return merkleRoot(storeLeaves(roots, sortedNames(roots)));
}

/** The other children on the way from a store's root to the app hash. */
export function pathInApp(roots: ReadonlyMap<string, Uint8Array>, store: string): Sibling[] {
  const names = sortedNames(roots);
  return merklePath(storeLeaves(roots, names), names.indexOf(store));
}

function sortedNames(roots: ReadonlyMap<string, Uint8Array>): string[] {
  return [...roots.keys()].sort((a, b) => Buffer.compare(toUtf8(a), toUtf8(b)));
}

function storeLeaves(roots: ReadonlyMap<string, Uint8Array>, names: readonly string[]): Uint8Array[] {
  return names.map((name) => storeLeaf(toUtf8(name), roots.get(name) ?? new Uint8Array(HASH_BYTES)));
}

function storeLeaf(name: Uint8Array, root: Uint8Array): Uint8Array {
  if (name.length > 127) throw new Error("a store name has at most 127 bytes");
  return concatBytes(Uint8Array.of(name.length), name, Uint8Array.of(HASH_BYTES), sha256(root));
}
