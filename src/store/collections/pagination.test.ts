import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addressKey,
  bigintValue,
  CacheStore,
  collection,
  type KVStore,
  memoryDatabase,
  type PageRequest,
  tupleKey,
  uint64Key,
} from "../index.ts";

function seeded(): { seed: number } {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  return { seed };
}

const rows = collection({ name: "row", prefix: 7, key: tupleKey(addressKey, uint64Key), value: bigintValue });
const owner = Uint8Array.of(1);

/** `count` rows 0, 1, 2, ... of the owner, with rows of neighbours around them. */
function filled(count: number): KVStore {
  const store = new CacheStore(memoryDatabase().table("test"));
  for (let i = 0n; i < BigInt(count); i++) rows.set(store, [owner, i], i);
  rows.set(store, [Uint8Array.of(0), 5n], -1n);
  rows.set(store, [Uint8Array.of(2), 5n], -2n);
  store.set(Uint8Array.of(8), Uint8Array.of(8));
  return store;
}

function page(store: KVStore, request: PageRequest | undefined, filter?: (value: bigint) => boolean) {
  const { items, pagination } = rows.paginate(store, request, { prefix: [owner], ...(filter ? { filter } : {}) });
  return { values: items.map(([, value]) => Number(value)), ...pagination };
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

describe("pagination", () => {
  test("gives 100 rows and the total when nothing is asked", () => {
    const found = page(filled(130), undefined);
    expect(found.values).toEqual(upTo(100));
    expect(found.total).toBe(130n);
    expect(Buffer.from(found.nextKey).toString("hex")).toBe("0000000000000064");
  });

  test("gives no total for an explicit limit unless asked", () => {
    const store = filled(5);
    expect(page(store, { limit: 2n }).total).toBe(0n);
    expect(page(store, { limit: 2n, countTotal: true }).total).toBe(5n);
    const { nextKey } = page(store, { limit: 2n });
    expect(page(store, { limit: 2n, countTotal: true, key: nextKey }).total).toBe(0n);
    expect(page(store, { key: nextKey }).total).toBe(0n);
  });

  test("walks past a bounded number of rows", () => {
    const most = 50_000;
    const store = filled(most + 200);
    const few = filled(most + 100);
    expect(page(few, undefined).total).toBe(BigInt(most + 100));
    expect(page(few, { limit: 100n, countTotal: true }).total).toBe(BigInt(most + 100));
    expect(page(store, undefined)).toMatchObject({ values: upTo(100), total: 0n });
    const text = /^more than 50000 rows would be walked past/;
    expect(() => page(store, { limit: 100n, countTotal: true })).toThrow(text);
    expect(page(store, { limit: 1n, offset: BigInt(most - 1) }).values).toEqual([most - 1]);
    expect(() => page(store, { limit: 1n, offset: BigInt(most + 1) })).toThrow(text);
    expect(() => page(store, { limit: 1n }, (value) => value > BigInt(most))).toThrow(text);
    expect(page(store, { limit: 1n }, (value) => value === BigInt(most - 1)).values).toEqual([most - 1]);
  });

  test("ends a page of sparse rows after a bounded number, and continues there", () => {
    const store = filled(50_200);
    const ask = (request: PageRequest, from: number) => {
      const filter = (value: bigint) => value === 7n || value >= BigInt(from);
      return rows.paginate(store, request, { prefix: [owner], filter, sparse: true });
    };
    const values = ({ items }: ReturnType<typeof ask>) => items.map(([, value]) => Number(value));
    const first = ask({ limit: 2n }, 50_100);
    expect(values(first)).toEqual([7]);
    expect(Buffer.from(first.pagination.nextKey).readBigUInt64BE()).toBe(50_001n);
    expect(values(ask({ limit: 2n, key: first.pagination.nextKey }, 50_100))).toEqual([50_100, 50_101]);
    expect(ask({}, 50_100).pagination.total).toBe(0n);
    expect(values(ask({ limit: 2n, reverse: true }, 50_199))).toEqual([50_199]);
    const text = /^more than 50000 rows would be walked past/;
    expect(() => ask({ limit: 1n, countTotal: true }, 50_100)).toThrow(text);
    expect(() => ask({ limit: 1n, offset: 2n }, 50_100)).toThrow(text);
  });

  test("ends with an empty next key", () => {
    const store = filled(4);
    expect(page(store, { limit: 4n }).nextKey).toHaveLength(0);
    expect(page(store, { limit: 3n }).nextKey).not.toHaveLength(0);
    expect(page(filled(0), { limit: 3n })).toEqual({ values: [], nextKey: new Uint8Array(0), total: 0n });
    expect(page(store, { offset: 9n, limit: 3n, countTotal: true })).toMatchObject({ values: [], total: 4n });
  });

  test("refuses an offset beside a key, and more than 1,000 rows", () => {
    const store = filled(3);
    expect(() => page(store, { key: Uint8Array.of(0), offset: 1n })).toThrow(
      /^invalid request, either offset or key is expected, got both$/,
    );
    expect(() => page(store, { limit: 1001n })).toThrow("a page has at most 1000 rows, not 1001: invalid request");
    expect(() => page(store, { key: new Uint8Array(2000) })).toThrow("the page key is too long: invalid request");
    expect(page(store, { limit: 1000n }).values).toHaveLength(3);
  });

  test("points at the first row behind the page when rows are filtered", () => {
    const store = filled(10);
    const even = (value: bigint) => value % 2n === 0n;
    const first = page(store, { limit: 2n, countTotal: true }, even);
    expect(first).toMatchObject({ values: [0, 2], total: 5n });
    expect(Buffer.from(first.nextKey).readBigUInt64BE()).toBe(3n);
    expect(page(store, { limit: 9n, key: first.nextKey }, even).values).toEqual([4, 6, 8]);
    expect(page(store, { limit: 2n, offset: 3n }, even).values).toEqual([6, 8]);
  });

  test("reads every row once by keys and by offsets, in both directions, with and without a filter", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 25 }),
        fc.bigInt({ min: 1n, max: 8n }),
        fc.boolean(),
        fc.option(fc.integer({ min: 2, max: 3 }), { nil: undefined }),
        (count, limit, reverse, divisor) => {
          const store = filled(count);
          const filter = divisor === undefined ? undefined : (value: bigint) => value % BigInt(divisor) === 0n;
          const wanted = upTo(count).filter((n) => filter?.(BigInt(n)) ?? true);
          if (reverse) wanted.reverse();
          expect(byKeys(store, { limit, reverse }, filter)).toEqual(wanted);
          expect(byOffsets(store, { limit, reverse }, filter)).toEqual(wanted);
        },
      ),
      seeded(),
    );
  });
});

function byKeys(store: KVStore, request: PageRequest, filter?: (value: bigint) => boolean): number[] {
  const seen: number[] = [];
  let key: Uint8Array | undefined;
  do {
    const found = page(store, key === undefined ? request : { ...request, key }, filter);
    seen.push(...found.values);
    key = found.nextKey;
  } while (key.length > 0);
  return seen;
}

function byOffsets(store: KVStore, request: PageRequest, filter?: (value: bigint) => boolean): number[] {
  const seen: number[] = [];
  for (;;) {
    const found = page(store, { ...request, offset: BigInt(seen.length) }, filter);
    seen.push(...found.values);
    if (found.values.length === 0) return seen;
  }
}
