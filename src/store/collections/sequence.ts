import { uint64Value } from "../codec/values.ts";
import type { KVReader, KVStore } from "../kv.ts";
import { Item } from "./collections.ts";

/** Declares a counter of unsigned 64-bit numbers. */
export function sequence(spec: { readonly name: string; readonly prefix: number; readonly first?: bigint }): Sequence {
  return new Sequence(spec);
}

export class Sequence {
  readonly prefixes: readonly number[];
  readonly #first: bigint;
  readonly #next: Item<bigint>;

  constructor(spec: { readonly name: string; readonly prefix: number; readonly first?: bigint }) {
    this.prefixes = [spec.prefix];
    this.#first = spec.first ?? 0n;
    this.#next = new Item({ ...spec, value: uint64Value });
  }

  /** The number that `next` would give. */
  peek(store: KVReader): bigint {
    return this.#next.get(store) ?? this.#first;
  }

  /** Returns the next number and moves on. */
  next(store: KVStore): bigint {
    const value = this.peek(store);
    this.#next.set(store, value + 1n);
    return value;
  }

  /** Sets the next number (genesis import). */
  set(store: KVStore, next: bigint): void {
    this.#next.set(store, next);
  }
}
