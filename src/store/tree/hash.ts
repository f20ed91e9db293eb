import * as crypto from "node:crypto";
import { compareBytes, concatBytes, toUtf8 } from "../../util/index.ts";

/** Bytes of a SHA-256 hash. */
export const HASH_BYTES = 32;

/** The other child of a node on the way to a leaf, and on which side of that way it is. */
export interface Sibling {
  readonly side: "left" | "right";
  readonly hash: Uint8Array;
}

/** Hashes `data` and writes the 32 bytes at `offset` of `out`. */
export const sha256Into: (data: Uint8Array, out: Buffer, offset: number) => void =
  typeof crypto.hash === "function" ? hashAtOnce : hashByObject;

/** A one-shot hash returned as a string costs a third of one returned as a new Buffer. */
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
  return merkleRoot(sortedStores(roots).map(storeLeaf));
}

/** The other children on the way from a store's root to the app hash. */
export function pathInApp(roots: ReadonlyMap<string, Uint8Array>, store: string): Sibling[] {
  const stores = sortedStores(roots);
  return merklePath(
    stores.map(storeLeaf),
    stores.findIndex(({ name }) => name === store),
  );
}

interface NamedRoot {
  readonly name: string;
  /** The name in UTF-8. */
  readonly bytes: Uint8Array;
  readonly root: Uint8Array;
}

function sortedStores(roots: ReadonlyMap<string, Uint8Array>): NamedRoot[] {
  const stores = [...roots].map(([name, root]) => ({ name, bytes: toUtf8(name), root }));
  return stores.sort((a, b) => compareBytes(a.bytes, b.bytes));
}

function storeLeaf({ bytes, root }: NamedRoot): Uint8Array {
  if (bytes.length > 127) throw new Error("a store name has at most 127 bytes");
  return concatBytes(Uint8Array.of(bytes.length), bytes, Uint8Array.of(HASH_BYTES), sha256(root));
}
