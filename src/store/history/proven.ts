import { toHex } from "../../util/index.ts";
import type { MovedKey, SparseMerkleTree, TreeTop, TreeUpdate } from "../tree/smt.ts";

/** Heights behind the last one that can be proved. */
export const PROVEN_HEIGHTS = 128n;
/** Nodes of older trees in memory, some 45 bytes each: a chain under full load proves fewer heights. */
export const MAX_KEPT_NODES = 4_000_000;
/** Cost of a deleted key, in nodes. */
const GONE_KEY_NODES = 6;
/** Old values that a start reads to make the older trees again. */
export const MAX_UNWOUND = 50_000;

/** A store's tree, as the steps name it. */
export interface NamedTree {
  readonly name: string;
  readonly tree: SparseMerkleTree;
}

/** A store's tree of a height. */
export interface OldTree {
  readonly top: TreeTop;
  readonly root: Uint8Array;
}

/** Changes of one block to the trees, with the nodes that they replaced. */
export interface Step {
  readonly height: bigint;
  /** By name of the store. */
  readonly before: ReadonlyMap<string, OldTree>;
  /** Nodes that only trees before the block have. */
  readonly nodes: ReadonlyMap<NamedTree, Int32Array>;
  /** Keys that the block took away: store and path -> key. */
  readonly gone: ReadonlyMap<string, Uint8Array>;
}

/** The trees of the last heights: what blocks replaced stays until the height before them is given up. */
export class ProvenHeights {
  readonly #limits: { readonly heights: bigint; readonly nodes: number };
  /** From old to new, without gaps. */
  readonly #steps: Step[] = [];
  #nodes = 0;

  constructor(limits: { readonly heights: bigint; readonly nodes: number }) {
    this.#limits = limits;
  }

  /** The lowest height that has its trees, where the last one is `height`. */
  lowest(height: bigint): bigint {
    return height - BigInt(this.#steps.length);
  }

  /** The trees of a height below the last one. */
  at(height: bigint): ReadonlyMap<string, OldTree> | undefined {
    return this.#steps.find((step) => step.height === height + 1n)?.before;
  }

  /** The key of a path that a height had and a later block took away. */
  goneKey(height: bigint, store: string, path: Uint8Array): Uint8Array | undefined {
    const name = goneName(store, path);
    for (const step of this.#steps) {
      const key = step.height > height ? step.gone.get(name) : undefined;
      if (key !== undefined) return key;
    }
    return undefined;
  }

  /** Adds the step of a block behind the last one. */
  push(step: Step): void {
    this.#steps.push(step);
    this.#nodes += sizeOf(step);
    while (this.#steps.length > Number(this.#limits.heights) || this.#nodes > this.#limits.nodes) this.#dropOldest();
  }

  /** Adds the step of the block before the first one; false when there is no room for it. */
  unshift(step: Step): boolean {
    const size = sizeOf(step);
    if (this.#steps.length >= Number(this.#limits.heights) || this.#nodes + size > this.#limits.nodes) return false;
    this.#steps.unshift(step);
    this.#nodes += size;
    return true;
  }

  #dropOldest(): void {
    const oldest = this.#steps.shift();
    if (oldest === undefined) return;
    this.#nodes -= sizeOf(oldest);
    for (const [{ tree }, nodes] of oldest.nodes) tree.free(nodes);
  }
}

/** The step of a block from the updates that it makes of the trees. */
export function stepOf(
  height: bigint,
  before: ReadonlyMap<string, OldTree>,
  updates: ReadonlyMap<NamedTree, { readonly update: TreeUpdate; readonly moved: readonly MovedKey[] }>,
): Step {
  const gone = new Map<string, Uint8Array>();
  const nodes = new Map<NamedTree, Int32Array>();
  for (const [store, { update, moved }] of updates) {
    nodes.set(store, Int32Array.from(update.replaced));
    for (const { path, key, isGone } of moved) if (isGone) gone.set(goneName(store.name, path), key);
  }
  return { height, before, nodes, gone };
}

/** The same from the updates that lead from the block back to its predecessor. */
export function stepBack(
  height: bigint,
  before: ReadonlyMap<string, OldTree>,
  updates: ReadonlyMap<NamedTree, TreeUpdate>,
): Step {
  const gone = new Map<string, Uint8Array>();
  const nodes = new Map<NamedTree, Int32Array>();
  for (const [store, update] of updates) {
    nodes.set(store, Int32Array.from(update.created));
    // A key that returns on the way back was deleted by the block.
    for (const { path, key, isGone } of store.tree.movedKeys(update))
      if (!isGone) gone.set(goneName(store.name, path), key);
  }
  return { height, before, nodes, gone };
}

function goneName(store: string, path: Uint8Array): string {
  return `${store} ${toHex(path)}`;
}

function sizeOf({ nodes, gone }: Step): number {
  let size = gone.size * GONE_KEY_NODES;
  for (const each of nodes.values()) size += each.length;
  return size;
}
