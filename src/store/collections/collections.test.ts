import { describe, expect, test } from "vitest";
import { SvcError, toHex, toUtf8 } from "../../util/index.ts";
import {
  addressKey,
  bigintValue,
  CacheStore,
  checkPrefixes,
  collection,
  index,
  item,
  type KVStore,
  mappedKey,
  memoryDatabase,
  queue,
  sequence,
  stringKey,
  tupleKey,
  uint8Key,
  uint64Key,
  uint64Value,
  type ValueCodec,
} from "../index.ts";

interface Order {
  readonly owner: Uint8Array;
  readonly dseq: bigint;
  readonly state: number;
  readonly tags: readonly string[];
}

const orderValue: ValueCodec<Order> = {
  encode: (order) =>
    toUtf8(JSON.stringify({ ...order, owner: Buffer.from(order.owner).toString("hex"), dseq: `${order.dseq}` })),
  decode: (bytes) => {
    const raw: { owner: string; dseq: string; state: number; tags: string[] } = JSON.parse(
      Buffer.from(bytes).toString(),
    );
    return { ...raw, owner: Buffer.from(raw.owner, "hex"), dseq: BigInt(raw.dseq) };
  },
};

interface OrderId {
  readonly owner: Uint8Array;
  readonly dseq: bigint;
}

const orderKey = mappedKey(tupleKey(addressKey, uint64Key), {
  to: (id: OrderId) => [id.owner, id.dseq],
  from: ([owner, dseq]) => ({ owner, dseq }),
});

const orders = collection({
  name: "order",
  prefix: 0x10,
  key: orderKey,
  value: orderValue,
  indexes: {
    state: index({
      prefix: 0x11,
      key: tupleKey(uint8Key, addressKey),
      of: (order: Order) => (order.state === 0 ? undefined : [order.state, order.owner]),
    }),
    tag: index({ prefix: 0x12, key: stringKey, each: (order: Order) => order.tags }),
  },
});

const balances = collection({
  name: "balance",
  prefix: 0x02,
  key: tupleKey(addressKey, stringKey),
  value: bigintValue,
});

const alice = Uint8Array.of(1, 2, 3);
const bob = Uint8Array.of(1, 2, 4);

function freshStore(): KVStore {
  return new CacheStore(memoryDatabase().table("test"));
}

function order(owner: Uint8Array, dseq: bigint, rest: Partial<Order> = {}): [OrderId, Order] {
  return [
    { owner, dseq },
    { owner, dseq, state: 1, tags: [], ...rest },
  ];
}

describe("collection", () => {
  test("keeps records under module prefix and typed key", () => {
    const store = freshStore();
    balances.set(store, [alice, "utoken"], 5n);
    expect(balances.get(store, [alice, "utoken"])).toBe(5n);
    expect(balances.has(store, [bob, "utoken"])).toBe(false);
    expect([...store.iterate()].map(([key]) => Buffer.from(key).toString("hex"))).toEqual(["020301020375746f6b656e00"]);
    balances.delete(store, [alice, "utoken"]);
    expect(balances.get(store, [alice, "utoken"])).toBeUndefined();
  });

  test("walks prefixes and ranges of tuples in key order", () => {
    const store = freshStore();
    for (const [owner, denom, amount] of [
      [bob, "a", 1n],
      [alice, "b", 2n],
      [alice, "a", 3n],
      [alice, "ab", 4n],
    ] as const)
      balances.set(store, [owner, denom], amount);
    expect([...balances.keys(store, { prefix: [alice] })].map(([, denom]) => denom)).toEqual(["a", "ab", "b"]);
    expect([...balances.values(store, { prefix: [alice], reverse: true })]).toEqual([2n, 4n, 3n]);
    expect([...balances.values(store, { start: [alice, "ab"], end: [bob, "a"] })]).toEqual([4n, 2n]);
    expect(balances.count(store)).toBe(4);
  });

  test("reports a missing record with the module's own error", () => {
    expect(() => balances.require(freshStore(), [alice, "utoken"])).toThrow(SvcError);
    expect(() => balances.require(freshStore(), [alice, "utoken"])).toThrow(/^balance 03010203.*: not found$/);
  });

  test("may be written while it is iterated", () => {
    const store = freshStore();
    for (let i = 0n; i < 50n; i++) orders.set(store, ...order(alice, i));
    const seen: bigint[] = [];
    for (const [id, record] of orders.iterate(store)) {
      seen.push(id.dseq);
      orders.delete(store, id);
      orders.set(store, { ...id, dseq: id.dseq + 1000n }, record);
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => BigInt(i)));
    expect(orders.count(store)).toBe(50);
    expect(orders.verifyIndexes(store)).toEqual([]);
  });
});

describe("index", () => {
  test("follows set and delete", () => {
    const store = freshStore();
    orders.set(store, ...order(alice, 1n, { tags: ["x", "y"] }));
    orders.set(store, ...order(bob, 2n, { tags: ["y"] }));
    expect([...orders.by.tag.entries(store)].map(([tag, id]) => `${tag}${id.dseq}`)).toEqual(["x1", "y1", "y2"]);
    orders.set(store, ...order(alice, 1n, { state: 2, tags: ["y", "z"] }));
    const states = [...orders.by.state.entries(store)].map(([[state, owner], id]) => [state, toHex(owner), id.dseq]);
    expect(states).toEqual([
      [1, "010204", 2n],
      [2, "010203", 1n],
    ]);
    orders.set(store, ...order(alice, 1n, { state: 0 }));
    orders.delete(store, { owner: bob, dseq: 2n });
    expect(orders.by.state.count(store)).toBe(0);
    expect(orders.by.tag.count(store)).toBe(0);
    expect(orders.verifyIndexes(store)).toEqual([]);
  });

  test("is checked by a recount", () => {
    const store = freshStore();
    orders.set(store, ...order(alice, 1n));
    const entry = [...store.iterate({ start: Uint8Array.of(0x11), end: Uint8Array.of(0x12) })][0]?.[0] ?? alice;
    store.delete(entry);
    store.set(Uint8Array.of(0x12, 65, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 9), Uint8Array.of(1));
    expect(orders.verifyIndexes(store)).toEqual([
      "order: index entry 12410001010000000000000009 has no such record",
      `order: index entry ${Buffer.from(entry).toString("hex")} is missing`,
    ]);
  });

  test("pages through records", () => {
    const store = freshStore();
    for (let i = 0n; i < 5n; i++) orders.set(store, ...order(i % 2n === 0n ? alice : bob, i));
    const first = orders.by.state.paginate(store, { limit: 2n, countTotal: true }, { prefix: [1, alice] });
    expect(first.items.map(([id]) => id.dseq)).toEqual([0n, 2n]);
    expect(first.pagination.total).toBe(3n);
    const second = orders.by.state.paginate(
      store,
      { limit: 2n, key: first.pagination.nextKey },
      { prefix: [1, alice] },
    );
    expect(second.items.map(([id]) => id.dseq)).toEqual([4n]);
    expect(second.pagination.nextKey).toHaveLength(0);
  });
});

describe("item, sequence, queue", () => {
  test("an item is one value", () => {
    const store = freshStore();
    const supply = item({ name: "supply", prefix: 1, value: bigintValue });
    expect(supply.get(store)).toBeUndefined();
    expect(() => supply.require(store)).toThrow("supply: not found");
    supply.set(store, -7n);
    expect(supply.require(store)).toBe(-7n);
    supply.delete(store);
    expect(supply.has(store)).toBe(false);
  });

  test("a sequence counts from its first number", () => {
    const store = freshStore();
    const ids = sequence({ name: "next proposal", prefix: 1, first: 1n });
    expect([ids.next(store), ids.next(store), ids.peek(store)]).toEqual([1n, 2n, 3n]);
  });

  test("a queue is drained until the budget is used up", () => {
    const store = new CacheStore(memoryDatabase().table("test"));
    const waiting = queue({ name: "expiry", prefix: 1, key: stringKey });
    for (const [height, key] of [
      [5n, "a"],
      [6n, "b"],
      [6n, "c"],
      [9n, "d"],
    ] as const)
      waiting.push(store, height, key);
    const taken: string[] = [];
    const take = (cost: number) => (key: string) => {
      taken.push(key);
      return cost;
    };
    expect(waiting.drain(store, { height: 8n, budget: 3 }, take(2))).toBe(-1);
    expect(taken).toEqual(["a", "b"]);
    expect(waiting.drain(store, { height: 8n, budget: 0 }, take(1))).toBe(0);
    expect(waiting.drain(store, { height: 8n, budget: 3 }, take(1))).toBe(2);
    expect(taken).toEqual(["a", "b", "c"]);
    expect([...waiting.iterate(store)]).toEqual([{ height: 9n, key: "d" }]);
  });

  test("a queue gives what is due, first heights first, up to the cap", () => {
    const store = freshStore();
    const expiries = queue({ name: "expiry", prefix: 1, key: stringKey });
    expiries.push(store, 12n, "c");
    expiries.push(store, 9n, "b");
    expiries.push(store, 9n, "a");
    expiries.push(store, 10n, "gone");
    expiries.remove(store, 10n, "gone");
    expect(expiries.popDue(store, 8n, 10)).toEqual([]);
    expect(expiries.popDue(store, 11n, 1)).toEqual([{ height: 9n, key: "a" }]);
    expect(expiries.popDue(store, 11n, 10)).toEqual([{ height: 9n, key: "b" }]);
    expect([...expiries.iterate(store)]).toEqual([{ height: 12n, key: "c" }]);
    expect(expiries.has(store, 12n, "c")).toBe(true);
  });

  test("two parts of a module cannot share a prefix", () => {
    const a = item({ name: "a", prefix: 0x11, value: uint64Value });
    expect(() => checkPrefixes({ orders, a })).toThrow("orders and a both use the store prefix 17");
    expect(() => checkPrefixes({ orders, balances })).not.toThrow();
  });
});
