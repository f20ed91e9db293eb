import type { Sibling } from "./hash.ts";
import { HASH_BYTES, sha256Into } from "./hash.ts";
import { hashOffset, Inners, Leaves } from "./nodes.ts";

/**
 * Compact sparse Merkle tree over (sha256 of key, sha256 of value), the form of the ICS23 `smt` proof specification:
 *
 *   leaf  = sha256(0x00 || sha256(key) || sha256(value))
 *   inner = sha256(0x01 || left || right), left where the path bit is 0
 *   empty = 32 zero bytes
 *
 * A subtree with one leaf is that leaf, so the shape depends on the keys alone and not on the order of writes.
 * Updates copy the paths they touch and leave the tree as it is: several can be prepared over the same tree, one
 * applied and the others dropped. Every new node is hashed once an update.
 */
export class SparseMerkleTree {
  #root = EMPTY;
  readonly #leaves = new Leaves();
  readonly #inners = new Inners();
  readonly #scratch = Buffer.alloc(1 + 2 * HASH_BYTES);

  /** Number of keys, including those of prepared updates. */
  get leafCount(): number {
    return this.#leaves.used;
  }

  /** Number of inner nodes, including those of prepared updates. */
  get innerCount(): number {
    return this.#inners.used;
  }

  /** Whether it has no key; prepared updates do not count. */
  get isEmpty(): boolean {
    return this.#root === EMPTY;
  }

  /** Root hash, 32 bytes. */
  root(): Uint8Array {
    return this.#hashOf(this.#root);
  }

  /** The current tree, for `at` and `update`, as long as its nodes are kept. */
  get top(): TreeTop {
    return this.#root;
  }

  /**
   * Prepares changes (`null` deletes; each key at most once) of the tree, or of an older one whose nodes are kept. Must be
   * applied, kept or dropped.
   */
  update(changes: TreeChanges, base: TreeTop = this.#root): TreeUpdate {
    const keyAt = base === EMPTY ? changes.keyAt?.bind(changes) : undefined;
    const keys = keyAt === undefined ? new Map<number, Uint8Array>() : new ListedKeys(keyAt);
    const work: Work = { batch: [], created: [], replaced: [], keys, gone: [] };
    for (const [key, value] of changes) {
      const item = this.#batchItem(key, value);
      work.batch.push(item);
      work.keys.set(item, key);
    }
    const node = this.#apply(work, base, { low: 0, high: work.batch.length, depth: 0 });
    const { created, replaced, gone } = work;
    return { base, node, root: this.#hashOf(node), created, replaced, newKeys: keys, gone };
  }

  /** Fills an empty tree; `update` would also remember every key. */
  fill(entries: Iterable<readonly [key: Uint8Array, value: Uint8Array]>): void {
    if (!this.isEmpty) throw new Error("only an empty tree is filled");
    const work: Work = { batch: [], created: [], replaced: [], keys: new Map(), gone: [] };
    for (const [key, value] of entries) work.batch.push(this.#batchItem(key, value));
    this.#root = this.#apply(work, EMPTY, { low: 0, high: work.batch.length, depth: 0 });
  }

  /**
   * The paths at which a prepared update adds a key, in their order, and the paths at which it deletes one (`null`).
   * Call it before the update is applied or dropped.
   */
  *movedKeys({ created, newKeys, gone }: TreeUpdate): IterableIterator<MovedKey> {
    for (const { slot, key } of gone) yield { path: this.#leaves.path(slot), key, isGone: true };
    for (const node of created) {
      const key = isLeaf(node) ? newKeys.get(-node) : undefined;
      if (key !== undefined) yield { path: this.#leaves.path(-node), key, isGone: false };
    }
  }

  /** The tree of a top whose nodes are kept. */
  at(top: TreeTop): TreeView {
    return {
      neighbours: (path) => this.neighbours(path, top),
      siblings: (path) => this.siblings(path, top),
    };
  }

  /** The path of the leaf before that of `path` and of the leaf after it, whether or not there is a leaf at it. */
  neighbours(path: Uint8Array, top: TreeTop = this.#root): Neighbours {
    return { left: this.#pathBeside(top, path, "left"), right: this.#pathBeside(top, path, "right") };
  }

  /** The other children on the way from the leaf of `path` to the root; undefined if there is no such leaf. */
  siblings(path: Uint8Array, top: TreeTop = this.#root): Sibling[] | undefined {
    const siblings: Sibling[] = [];
    let node = top;
    for (let depth = 0; isInner(node); depth++) {
      const [left, right] = [this.#inners.left(node), this.#inners.right(node)];
      const goesRight = pathBit(path, depth) === 1;
      siblings.push({ side: goesRight ? "left" : "right", hash: this.#hashOf(goesRight ? left : right) });
      node = goesRight ? right : left;
    }
    const isThere = isLeaf(node) && Buffer.compare(this.#leaves.path(-node), path) === 0;
    return isThere ? siblings.reverse() : undefined;
  }

  #pathBeside(top: TreeTop, path: Uint8Array, side: Sibling["side"]): Uint8Array | undefined {
    const leaf = this.#leafBeside(top, path, { side, depth: 0 });
    return leaf === EMPTY ? undefined : this.#leaves.path(-leaf);
  }

  /** The leaf of a subtree that is next to a path which runs through it. */
  #leafBeside(node: number, path: Uint8Array, at: { readonly side: Sibling["side"]; readonly depth: number }): number {
    const { side, depth } = at;
    if (node === EMPTY) return EMPTY;
    if (isLeaf(node)) {
      const order = Buffer.compare(this.#leaves.path(-node), path);
      return (side === "left" ? order < 0 : order > 0) ? node : EMPTY;
    }
    const [left, right] = [this.#inners.left(node), this.#inners.right(node)];
    const goesRight = pathBit(path, depth) === 1;
    const below = this.#leafBeside(goesRight ? right : left, path, { side, depth: depth + 1 });
    if (below !== EMPTY || goesRight !== (side === "left")) return below;
    return this.#outermost(goesRight ? left : right, goesRight);
  }

  /** The last leaf of a subtree, or its first. */
  #outermost(node: number, last: boolean): number {
    let at = node;
    while (isInner(at)) {
      const [left, right] = [this.#inners.left(at), this.#inners.right(at)];
      at = last ? right || left : left || right;
    }
    return at;
  }

  /** Makes a prepared update the tree. Other updates prepared over the same tree can then only be dropped. */
  apply(update: TreeUpdate): void {
    this.keep(update);
    this.free(update.replaced);
  }

  /** The same with the nodes of the tree before it kept, until the caller frees what the update replaced. */
  keep(update: TreeUpdate): void {
    if (update.base !== this.#root) throw new Error("the tree has changed since this update was prepared");
    this.#root = update.node;
  }

  /** Frees what a prepared update holds. */
  drop(update: TreeUpdate): void {
    this.free(update.created);
  }

  /** A leaf slot for a change: positive to set, negative to delete. */
  #batchItem(key: Uint8Array, value: Uint8Array | null): number {
    const slot = this.#leaves.take();
    const paths = this.#leaves.paths.segment(slot);
    const at = hashOffset(slot);
    sha256Into(key, paths, at);
    if (value === null) return -slot;
    const scratch = this.#scratch;
    scratch[0] = LEAF_PREFIX;
    paths.copy(scratch, 1, at, at + HASH_BYTES);
    sha256Into(value, scratch, 1 + HASH_BYTES);
    sha256Into(scratch, this.#leaves.hashes.segment(slot), at);
    return slot;
  }

  /** The node that replaces `node` once the batch items of `span` are in it. */
  #apply(work: Work, node: number, span: Span): number {
    const { low, high, depth } = span;
    if (low === high) return node;
    if (node === EMPTY) return this.#build(work, EMPTY, span);
    if (isLeaf(node)) return this.#build(work, this.#meetLeaf(work, node, span), span);
    const middle = this.#partition(work.batch, span);
    const left = this.#inners.left(node);
    const right = this.#inners.right(node);
    const newLeft = this.#apply(work, left, { low, high: middle, depth: depth + 1 });
    const newRight = this.#apply(work, right, { low: middle, high, depth: depth + 1 });
    if (newLeft === left && newRight === right) return node;
    work.replaced.push(node);
    return this.#join(work, newLeft, newRight);
  }

  /** Merges an existing leaf with the batch: returns what of it must be built in beside the batch items. */
  #meetLeaf(work: Work, node: number, { low, high }: Span): number {
    const old = -node;
    for (let i = low; i < high; i++) {
      const item = work.batch[i] ?? 0;
      if (!this.#leaves.samePath(Math.abs(item), old)) continue;
      const key = work.keys.get(item);
      if (item > 0) work.keys.delete(item);
      else if (key !== undefined) work.gone.push({ slot: old, key });
      if (item > 0 && this.#leaves.sameHash(item, old)) {
        // Nothing changed: the old leaf stays, and the item becomes a deletion of a key that is not there.
        work.batch[i] = -item;
        return node;
      }
      work.replaced.push(node);
      return EMPTY;
    }
    return node;
  }

  /** Builds a subtree of batch items and at most one existing leaf whose path is not in the batch. */
  #build(work: Work, leaf: number, { low, high, depth }: Span): number {
    if (low === high) return leaf;
    if (high - low === 1) {
      const item = work.batch[low] ?? 0;
      if (item < 0) {
        this.#leaves.give(-item);
        return leaf;
      }
      if (leaf === EMPTY) {
        work.created.push(-item);
        return -item;
      }
    }
    const middle = this.#partition(work.batch, { low, high, depth });
    const goesRight = leaf !== EMPTY && this.#leaves.bit(-leaf, depth) === 1;
    const left = this.#build(work, goesRight ? EMPTY : leaf, { low, high: middle, depth: depth + 1 });
    const right = this.#build(work, goesRight ? leaf : EMPTY, { low: middle, high, depth: depth + 1 });
    return this.#join(work, left, right);
  }

  #join(work: Work, left: number, right: number): number {
    if (left === EMPTY && !isInner(right)) return right;
    if (right === EMPTY && !isInner(left)) return left;
    const slot = this.#inners.take(left, right);
    const scratch = this.#scratch;
    scratch[0] = INNER_PREFIX;
    this.#copyHash(left, scratch, 1);
    this.#copyHash(right, scratch, 1 + HASH_BYTES);
    sha256Into(scratch, this.#inners.hashes.segment(slot), hashOffset(slot));
    work.created.push(slot);
    return slot;
  }

  /** Moves items whose path bit is 0 to the front; gives the index of the first with bit 1. */
  #partition(batch: number[], { low, high, depth }: Span): number {
    let front = low;
    let back = high;
    while (front < back) {
      const item = batch[front] ?? 0;
      if (this.#leaves.bit(Math.abs(item), depth) === 0) {
        front += 1;
        continue;
      }
      back -= 1;
      batch[front] = batch[back] ?? 0;
      batch[back] = item;
    }
    return front;
  }

  #copyHash(node: number, out: Buffer, offset: number): void {
    if (node === EMPTY) {
      out.fill(0, offset, offset + HASH_BYTES);
      return;
    }
    const column = isLeaf(node) ? this.#leaves.hashes : this.#inners.hashes;
    const at = hashOffset(Math.abs(node));
    column.segment(Math.abs(node)).copy(out, offset, at, at + HASH_BYTES);
  }

  #hashOf(node: number): Uint8Array {
    const out = Buffer.alloc(HASH_BYTES);
    this.#copyHash(node, out, 0);
    return out;
  }

  /** Frees nodes that no tree has any more. */
  free(nodes: Iterable<number>): void {
    for (const node of nodes) {
      if (isLeaf(node)) this.#leaves.give(-node);
      else this.#inners.give(node);
    }
  }
}

/** Changes by key. For the first changes of a tree, `keyAt` saves keeping the keys in memory. */
export interface TreeChanges extends Iterable<readonly [key: Uint8Array, value: Uint8Array | null]> {
  keyAt?(index: number): Uint8Array;
}

/** The keys of batch items. */
interface NewKeys {
  get(item: number): Uint8Array | undefined;
  set(item: number, key: Uint8Array): void;
  delete(item: number): void;
}

/** The places of keys in the list that has them. Items are set in its order. */
class ListedKeys implements NewKeys {
  readonly #keyAt: (index: number) => Uint8Array;
  readonly #places: (number | undefined)[] = [];
  #next = 0;

  constructor(keyAt: (index: number) => Uint8Array) {
    this.#keyAt = keyAt;
  }

  get(item: number): Uint8Array | undefined {
    const place = this.#places[item];
    return place === undefined ? undefined : this.#keyAt(place);
  }

  set(item: number): void {
    // Deletions are skipped: there is nothing to delete in an empty tree.
    if (item > 0) this.#places[item] = this.#next;
    this.#next += 1;
  }

  delete(item: number): void {
    this.#places[item] = undefined;
  }
}

/** A prepared change of a tree. */
export interface TreeUpdate {
  /** Root hash of the tree with the changes, 32 bytes. */
  readonly root: Uint8Array;
  readonly base: number;
  readonly node: number;
  readonly created: readonly number[];
  readonly replaced: readonly number[];
  /** New keys by their leaf; deleted keys by the negative of their leaf. */
  readonly newKeys: Pick<NewKeys, "get">;
  /** Leaves of keys that are there no longer. */
  readonly gone: readonly GoneKey[];
}

/** A tree of some moment, by its uppermost node. */
export type TreeTop = number;

interface GoneKey {
  readonly slot: number;
  readonly key: Uint8Array;
}

/** A key that an update adds or removes, and its path. */
export interface MovedKey {
  readonly path: Uint8Array;
  readonly key: Uint8Array;
  readonly isGone: boolean;
}

/** The paths of the leaves beside one. */
export interface Neighbours {
  readonly left: Uint8Array | undefined;
  readonly right: Uint8Array | undefined;
}

/** The view of a tree that proofs read. */
export interface TreeView {
  neighbours(path: Uint8Array): Neighbours;
  siblings(path: Uint8Array): Sibling[] | undefined;
}

/** Nodes are numbers: 0 is the empty subtree, positive an inner node's slot, negative a leaf's. */
const EMPTY = 0;
const LEAF_PREFIX = 0;
const INNER_PREFIX = 1;

interface Work {
  readonly batch: number[];
  readonly created: number[];
  readonly replaced: number[];
  /** Number of batch items without those that replace a leaf. */
  readonly keys: NewKeys;
  readonly gone: GoneKey[];
}

/** Batch items from `low` up to `high` that share their first `depth` path bits. */
interface Span {
  readonly low: number;
  readonly high: number;
  readonly depth: number;
}

/** Bit `depth` of a path, the most significant bit of the first byte first. */
function pathBit(path: Uint8Array, depth: number): number {
  return ((path[depth >>> 3] ?? 0) >>> (7 - (depth & 7))) & 1;
}

function isLeaf(node: number): boolean {
  return node < 0;
}

function isInner(node: number): boolean {
  return node > 0;
}
