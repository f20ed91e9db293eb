import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareBytes, fromUtf8, toHex, toUtf8 } from "../../util/index.ts";
import {
  CacheMultiStore,
  CacheStore,
  firstEntry,
  type KVReader,
  type KVStore,
  memoryDatabase,
  prefixRange,
} from "../index.ts";

function seeded(): { seed: number; numRuns: number } {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  return { seed, numRuns: 200 };
}

/** The simplest thing that could be an ordered map: a plain object sorted at every read. */
class Model {
  readonly entries: Map<string, string>;

  constructor(entries: Iterable<[string, string]> = []) {
    this.entries = new Map(entries);
  }

  range(range: {
    start?: Uint8Array | undefined;
    end?: Uint8Array | undefined;
    reverse?: boolean | undefined;
  }): string[] {
    const found = [...this.entries]
      .map(([key, value]): [Buffer, string] => [Buffer.from(key, "hex"), value])
      .filter(([key]) => range.start === undefined || compareBytes(key, range.start) >= 0)
      .filter(([key]) => range.end === undefined || compareBytes(key, range.end) < 0)
      .sort(([a], [b]) => compareBytes(a, b))
      .map(([key, value]) => `${toHex(key)}=${value}`);
    return range.reverse === true ? found.reverse() : found;
  }
}

function listing(reader: KVReader, range: Parameters<Model["range"]>[0] = {}): string[] {
  return [...reader.iterate(range)].map(([key, value]) => `${toHex(key)}=${toHex(value)}`);
}

/** Few bytes, the extreme ones among them, so that keys collide, nest and sit at the ends of ranges. */
const keyBytes = fc
  .array(fc.constantFrom(0, 1, 127, 128, 255), { minLength: 1, maxLength: 3 })
  .map((b) => Uint8Array.from(b));
const bound = fc.option(keyBytes, { nil: undefined });
const range = fc.record({ start: bound, end: bound, reverse: fc.boolean() });
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      key: keyBytes,
      value: fc.uint8Array({ minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("delete" as const), key: keyBytes }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("branch" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("flush" as const, "discard" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("read" as const), key: keyBytes, range }) },
);

/** A stack of branches, and models of their expected contents. */
class Stack {
  readonly stores: CacheStore[];
  readonly models: Model[] = [new Model()];

  constructor() {
    this.stores = [new CacheStore(memoryDatabase().table("test"))];
  }

  get store(): CacheStore {
    return this.stores.at(-1) ?? this.fail();
  }

  get model(): Model {
    return this.models.at(-1) ?? this.fail();
  }

  fail(): never {
    throw new Error("the stack is empty");
  }

  leave(how: "flush" | "discard"): void {
    if (this.stores.length === 1) return;
    this.stores.pop()?.[how]();
    const model = this.models.pop();
    if (how === "flush" && model !== undefined) this.models[this.models.length - 1] = model;
  }
}

describe("cache store", () => {
  test("behaves like a sorted map through any nesting of branches", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const stack = new Stack();
        for (const step of actions) {
          if (step.do === "set") {
            stack.store.set(step.key, step.value);
            stack.model.entries.set(toHex(step.key), toHex(step.value));
          } else if (step.do === "delete") {
            stack.store.delete(step.key);
            stack.model.entries.delete(toHex(step.key));
          } else if (step.do === "branch") {
            stack.stores.push(stack.store.branch());
            stack.models.push(new Model(stack.model.entries));
          } else if (step.do === "read") {
            const expected = stack.model.entries.get(toHex(step.key));
            const found = stack.store.get(step.key);
            expect(found === undefined ? undefined : toHex(found)).toBe(expected);
            expect(stack.store.has(step.key)).toBe(expected !== undefined);
            expect(listing(stack.store, step.range)).toEqual(stack.model.range(step.range));
          } else stack.leave(step.do);
        }
        expect(listing(stack.store)).toEqual(stack.model.range({}));
        while (stack.stores.length > 1) stack.leave("flush");
        expect(listing(stack.store)).toEqual(stack.model.range({}));
      }),
      seeded(),
    );
  });

  test("iterates over the view of the moment the iterator was made", () => {
    const write = fc.record({
      key: keyBytes,
      value: fc.option(fc.uint8Array({ minLength: 1, maxLength: 1 }), { nil: null }),
      nested: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(keyBytes, fc.constantFrom(0, 1, 2)), { maxLength: 30 }),
        fc.array(fc.array(write, { maxLength: 4 }), { maxLength: 30 }),
        range,
        (initial, writes, wanted) => {
          const base = new CacheStore(memoryDatabase().table("test"));
          const store = base.branch();
          for (const [key, level] of initial) (level === 0 ? base : store).set(key, Uint8Array.of(level));
          const expected = listing(store, wanted);
          const seen: string[] = [];
          const pending = [...writes];
          for (const [key, value] of store.iterate(wanted)) {
            seen.push(`${toHex(key)}=${toHex(value)}`);
            for (const each of pending.pop() ?? []) writeThrough(store, each);
            // Another iterator settles the order of keys just written, and must not disturb this one.
            listing(store, { reverse: true });
          }
          expect(seen).toEqual(expected);
        },
      ),
      seeded(),
    );
  });

  test("stays in order with many keys", () => {
    const store = new CacheStore(memoryDatabase().table("test"));
    const model = new Model();
    let state = 1;
    for (let i = 0; i < 5000; i++) {
      state = (state * 48271) % 2147483647;
      const key = Buffer.alloc(4);
      key.writeUInt32BE(state);
      store.set(key, key);
      model.entries.set(toHex(key), toHex(key));
      // Short walks now and then make keys arrive in small and large portions.
      if (i % 7 === 0) firstEntry(store, { start: key });
    }
    expect(listing(store)).toEqual(model.range({}));
    expect(listing(store, { reverse: true })).toEqual(model.range({ reverse: true }));
  });

  test("lists the changes it holds", () => {
    const parent = new CacheStore(memoryDatabase().table("test"));
    parent.set(toUtf8("kept"), toUtf8("1"));
    const store = parent.branch();
    store.set(toUtf8("a"), toUtf8("2"));
    store.delete(toUtf8("kept"));
    expect([...store.changes()].map(([key, value]) => [fromUtf8(key), value && fromUtf8(value)])).toEqual([
      ["a", "2"],
      ["kept", null],
    ]);
    expect(parent.has(toUtf8("kept"))).toBe(true);
  });

  test("refuses keys no database could hold, values no proof could show, and iterators of a flushed branch", () => {
    const store = new CacheStore(memoryDatabase().table("test"));
    expect(() => store.set(new Uint8Array(0), toUtf8("x"))).toThrow("1 to 1024 bytes");
    expect(() => store.set(new Uint8Array(1025), toUtf8("x"))).toThrow("1 to 1024 bytes");
    expect(() => store.set(toUtf8("x"), new Uint8Array(0))).toThrow("a store value has at least one byte");
    expect(() => store.flush()).toThrow("no parent that can be written");
    const branch = store.branch();
    branch.set(toUtf8("a"), toUtf8("1"));
    branch.set(toUtf8("b"), toUtf8("1"));
    const entries = branch.iterate();
    entries.next();
    branch.flush();
    expect(() => entries.next()).toThrow("after its branch was flushed");
  });

  test("works over a store of another make", () => {
    const inner = new CacheStore(memoryDatabase().table("test"));
    const foreign: KVStore = {
      get: (key) => inner.get(key),
      has: (key) => inner.has(key),
      iterate: (wanted) => inner.iterate(wanted),
      set: (key, value) => inner.set(key, value),
      delete: (key) => inner.delete(key),
    };
    foreign.set(toUtf8("b"), toUtf8("1"));
    const store = new CacheStore(foreign);
    store.set(toUtf8("a"), toUtf8("2"));
    store.delete(toUtf8("b"));
    store.set(toUtf8("c"), toUtf8("3"));
    expect(listing(store, { start: toUtf8("a"), reverse: true })).toEqual(["63=33", "61=32"]);
    store.flush();
    expect(listing(inner)).toEqual(["61=32", "63=33"]);
  });
});

describe("prefix range", () => {
  test("covers what begins with the prefix and nothing else", () => {
    fc.assert(
      fc.property(keyBytes, fc.array(keyBytes), (prefix, keys) => {
        const store = new CacheStore(memoryDatabase().table("test"));
        for (const key of keys) store.set(key, key);
        const begins = (key: Uint8Array) => toHex(key).startsWith(toHex(prefix));
        const expected = new Set(keys.filter(begins).map(toHex));
        expect(new Set([...store.iterate(prefixRange(prefix))].map(([key]) => toHex(key)))).toEqual(expected);
      }),
      seeded(),
    );
  });
});

describe("named stores", () => {
  test("are flushed and dropped together", () => {
    const tables = memoryDatabase();
    const base = new CacheMultiStore({ store: (name) => tables.table(name) });
    const branch = base.branch();
    branch.store("bank").set(toUtf8("a"), toUtf8("1"));
    branch.store("auth").set(toUtf8("b"), toUtf8("2"));
    expect(base.store("bank").has(toUtf8("a"))).toBe(false);
    branch.flush();
    expect(base.store("bank").has(toUtf8("a"))).toBe(true);
    branch.store("auth").delete(toUtf8("b"));
    branch.discard();
    expect(branch.store("auth").has(toUtf8("b"))).toBe(true);
  });
});

function writeThrough(store: CacheStore, write: { key: Uint8Array; value: Uint8Array | null; nested: boolean }): void {
  const target = write.nested ? store.branch() : store;
  if (write.value === null) target.delete(write.key);
  else target.set(write.key, write.value);
  if (write.nested) target.flush();
}

test("listed changes are in the order of their keys, with deletions, and give each key by its place", () => {
  const cache = new CacheStore(memoryDatabase().table("t"));
  cache.set(Uint8Array.of(0xff), Uint8Array.of(1));
  cache.set(Uint8Array.of(0x80, 0), Uint8Array.of(2));
  cache.delete(Uint8Array.of(1));
  const listed = cache.sortedChanges();
  expect([...listed].map(([key, value]) => [toHex(key), value && toHex(value)])).toEqual([
    ["01", null],
    ["8000", "02"],
    ["ff", "01"],
  ]);
  expect([0, 1, 2].map((place) => toHex(listed.keyAt(place)))).toEqual(["01", "8000", "ff"]);
  expect(listed.length).toBe(3);
  expect([...listed]).toHaveLength(3);
});
