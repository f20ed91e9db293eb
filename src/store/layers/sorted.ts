import type { TextRange } from "./text.ts";

/** A chunk is split when it grows beyond this; inserting moves at most this many strings. */
const CHUNK = 512;

/**
 * An ordered set of strings that only grows. Adding is one push, and sorting waits until a read: a store without
 * iteration pays nothing, and one that is iterated between writes pays only for the new keys.
 */
export class SortedKeys {
  #chunks: string[][] = [];
  #size = 0;
  #pending: string[] = [];
  #version = 0;

  /** Adds a key that is not in the set yet. */
  add(key: string): void {
    this.#pending.push(key);
  }

  clear(): void {
    this.#chunks = [];
    this.#size = 0;
    this.#pending = [];
    this.#version += 1;
  }

  /** A walk over a range of the keys present now; keys added later may or may not be met. */
  walk(range: TextRange): KeyWalk {
    this.#settle();
    return new KeyWalk(this, range);
  }

  /** Changes whenever positions do. */
  get version(): number {
    return this.#version;
  }

  chunk(index: number): readonly string[] | undefined {
    return this.#chunks[index];
  }

  get chunkCount(): number {
    return this.#chunks.length;
  }

  /** The chunk that holds the first key >= `key`, or would hold `key`. */
  chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#chunks[middle]?.[0] ?? "") <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #settle(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    this.#version += 1;
    if (pending.length * 4 >= this.#size) this.#rebuild(pending);
    else for (const key of pending) this.#insert(key);
    this.#size += pending.length;
  }

  #rebuild(pending: readonly string[]): void {
    const all = this.#chunks.flat().concat(pending).sort();
    this.#chunks = [];
    for (let i = 0; i < all.length; i += CHUNK / 2) this.#chunks.push(all.slice(i, i + CHUNK / 2));
  }

  #insert(key: string): void {
    const index = this.chunkOf(key);
    const chunk = this.#chunks[index];
    if (chunk === undefined) {
      this.#chunks.push([key]);
      return;
    }
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > CHUNK) this.#chunks.splice(index + 1, 0, chunk.splice(CHUNK / 2));
  }
}

/** One walk over a range of a {@link SortedKeys}; finds its place again when the set was rearranged. */
export class KeyWalk {
  readonly #keys: SortedKeys;
  readonly #range: TextRange;
  #version = -1;
  #chunk = 0;
  #index = 0;
  #last: string | undefined;

  constructor(keys: SortedKeys, range: TextRange) {
    this.#keys = keys;
    this.#range = range;
  }

  /** The next key of the range, or undefined at its end. */
  next(): string | undefined {
    if (this.#version !== this.#keys.version) this.#seek();
    const key = this.#range.reverse ? this.#backward() : this.#forward();
    if (key !== undefined) this.#last = key;
    return key;
  }

  #forward(): string | undefined {
    let chunk = this.#keys.chunk(this.#chunk);
    if (chunk !== undefined && this.#index >= chunk.length) {
      this.#chunk += 1;
      this.#index = 0;
      chunk = this.#keys.chunk(this.#chunk);
    }
    const key = chunk?.[this.#index];
    if (key === undefined || (this.#range.end !== undefined && key >= this.#range.end)) return undefined;
    this.#index += 1;
    return key;
  }

  #backward(): string | undefined {
    if (this.#index < 0) {
      this.#chunk -= 1;
      this.#index = (this.#keys.chunk(this.#chunk)?.length ?? 0) - 1;
    }
    const key = this.#keys.chunk(this.#chunk)?.[this.#index];
    if (key === undefined || (this.#range.start !== undefined && key < this.#range.start)) return undefined;
    this.#index -= 1;
    return key;
  }

  #seek(): void {
    this.#version = this.#keys.version;
    if (this.#range.reverse) this.#seekBelow(this.#last ?? this.#range.end);
    else this.#seekAbove();
  }

  #seekAbove(): void {
    const from = this.#last ?? this.#range.start ?? "";
    this.#chunk = this.#keys.chunkOf(from);
    const chunk = this.#keys.chunk(this.#chunk) ?? [];
    this.#index = lowerBound(chunk, from);
    if (this.#last !== undefined && chunk[this.#index] === from) this.#index += 1;
  }

  #seekBelow(bound: string | undefined): void {
    this.#chunk = bound === undefined ? this.#keys.chunkCount - 1 : this.#keys.chunkOf(bound);
    const chunk = this.#keys.chunk(this.#chunk) ?? [];
    this.#index = (bound === undefined ? chunk.length : lowerBound(chunk, bound)) - 1;
  }
}

/** Index of the first element >= `key`. */
function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
