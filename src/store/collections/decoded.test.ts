import { describe, expect, it } from "vitest";
import { stringKey, tupleKey } from "../codec/keys.ts";
import type { ValueCodec } from "../codec/values.ts";
import { memoryDatabase } from "../database/memory.ts";
import { CacheMultiStore } from "../layers/multi-store.ts";
import { collection } from "./collections.ts";
import { DecodedValues, decodedStores } from "./decoded.ts";
import { index } from "./indexes.ts";

interface Pet {
  readonly owner: string;
}

function start() {
  let decodings = 0;
  const petValue: ValueCodec<Pet> = {
    encode: ({ owner }) => Buffer.from(owner),
    decode(bytes) {
      decodings += 1;
      return { owner: Buffer.from(bytes).toString() };
    },
  };
  const pets = collection({
    name: "pet",
    prefix: 1,
    key: stringKey,
    value: petValue,
    indexes: { owner: index({ prefix: 2, key: tupleKey(stringKey), of: ({ owner }: Pet) => [owner] as const }) },
  });
  const database = memoryDatabase();
  const stores = new CacheMultiStore({ store: (name) => database.table(name) });
  const values = new DecodedValues();
  const read = () => decodedStores(stores, values).store("pets");
  return { pets, store: stores.store("pets"), read, count: () => decodings };
}

describe("decoded stores", () => {
  it("decode the same bytes once, and bytes that have changed again", () => {
    const { pets, store, read, count } = start();
    pets.set(store, "rex", { owner: "alice" });
    pets.set(store, "tom", { owner: "bob" });
    const owners = () => [...pets.values(read())].map(({ owner }) => owner);
    const before = count();
    expect([owners(), owners(), pets.get(read(), "rex")?.owner]).toEqual([["alice", "bob"], ["alice", "bob"], "alice"]);
    expect(count() - before).toBe(2);
    pets.set(store, "rex", { owner: "carol" });
    expect(owners()).toEqual(["carol", "bob"]);
    pets.delete(store, "tom");
    expect([owners(), pets.count(read()), pets.by.owner.count(read())]).toEqual([["carol"], 1, 1]);
  });

  it("find index entries that are missing or stray, as often as they are asked", () => {
    const { pets, store, read } = start();
    pets.set(store, "rex", { owner: "alice" });
    expect(pets.verifyIndexes(read())).toEqual([]);
    const [entry] = [...pets.by.owner.storedTexts(store)];
    const key = Buffer.from(entry ?? "", "latin1");
    store.delete(key);
    expect(pets.verifyIndexes(read())).toEqual([`pet: index entry ${key.toString("hex")} is missing`]);
    store.set(Buffer.from([2, 65]), Uint8Array.of(1));
    expect(pets.verifyIndexes(read())).toEqual([
      "pet: index entry 0241 has no such record",
      `pet: index entry ${key.toString("hex")} is missing`,
    ]);
    store.set(key, Uint8Array.of(1));
    store.delete(Buffer.from([2, 65]));
    expect(pets.verifyIndexes(read())).toEqual([]);
  });

  it("tell two records with the same bytes apart", () => {
    const { pets, store, read } = start();
    const bytes = Buffer.from("alice");
    for (const name of ["rex", "tom"]) store.set(pets.storeKey(name), bytes);
    expect(pets.verifyIndexes(read())).toHaveLength(2);
    expect(pets.verifyIndexes(read())).toHaveLength(2);
  });

  it("are only read", () => {
    const { pets, read } = start();
    expect(() => pets.set(read(), "rex", { owner: "alice" })).toThrow("only read");
  });
});
