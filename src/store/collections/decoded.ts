import type { ValueCodec } from "../codec/values.ts";
import type { KVReader, Range } from "../kv.ts";
import type { MultiBranch, MultiStore } from "../layers/multi-store.ts";
import {
  asTextReader,
  type TextCursor,
  type TextRange,
  type TextReader,
  TextStore,
  textRange,
} from "../layers/text.ts";

/**
 * Remembers the decoded value of stored bytes by the array itself: a store never changes an array that it returned, so
 * the same array always means the same value. For work that reads the whole state repeatedly and changes nothing.
 */
export class DecodedValues {
  readonly #known = new WeakMap<object, WeakMap<Uint8Array, unknown>>();

  /** The result of `make` for these bytes and this owner (a codec, a collection); made on first use. */
  of<V>(owner: object, bytes: Uint8Array, make: () => V): V {
    const known = this.#of(owner);
    const found = known.get(bytes);
    if (found !== undefined) return found as V;
    const made = make();
    known.set(bytes, made);
    return made;
  }

  #of(owner: object): WeakMap<Uint8Array, unknown> {
    const known = this.#known.get(owner);
    if (known !== undefined) return known;
    const made = new WeakMap<Uint8Array, unknown>();
    this.#known.set(owner, made);
    return made;
  }
}

/** A read-only store whose records are decoded once; collections ask it for earlier values. */
export class DecodedStore extends TextStore {
  readonly #parent: TextReader;
  readonly #values: DecodedValues;

  constructor(parent: KVReader, values: DecodedValues) {
    super();
    this.#parent = asTextReader(parent);
    this.#values = values;
  }

  read(text: string, key: Uint8Array): Uint8Array | undefined {
    return this.#parent.read(text, key);
  }

  cursor(range: TextRange): TextCursor {
    return this.#parent.cursor(range);
  }

  write(): never {
    throw new Error("a store with decoded values is only read");
  }

  decoded<V>(codec: ValueCodec<V>, bytes: Uint8Array): V {
    return this.#values.of(codec, bytes, () => codec.decode(bytes));
  }

  /** Additional value made from a record's bytes for a collection. */
  made<V>(owner: object, bytes: Uint8Array, make: () => V): V {
    return this.#values.of(owner, bytes, make);
  }
}

/** The values of a range; keys are not made if they are only texts below. */
export function* storedValues(store: KVReader, range: Range): IterableIterator<Uint8Array> {
  if (!(store instanceof DecodedStore)) {
    for (const [, value] of store.iterate(range)) yield value;
    return;
  }
  const cursor = store.cursor(textRange(range));
  try {
    while (cursor.next()) yield cursor.value;
  } finally {
    cursor.close();
  }
}

/** Stores to read from, whose records are decoded once as long as `values` is kept. */
export function decodedStores(stores: MultiStore, values: DecodedValues): MultiStore {
  const made = new Map<string, DecodedStore>();
  return {
    store(name) {
      const known = made.get(name) ?? new DecodedStore(stores.store(name), values);
      made.set(name, known);
      return known;
    },
    branch: (): MultiBranch => stores.branch(),
  };
}
