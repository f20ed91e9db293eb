import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../test/support/runs.ts";
import { fromUtf8, toHex, toUtf8 } from "../util/index.ts";
import { type StoreClaim, verifyStoreProof } from "../wire/index.ts";
import { checkPrefixes, memoryDatabase, pathTable, StateStore } from "./index.ts";
import { sha256 } from "./tree/hash.ts";

const NAMES = ["auth", "bank", "gov"];

type Block = ReadonlyMap<string, string | null>;

function commit(state: StateStore, block: Block): void {
  const branch = state.branch();
  for (const [key, value] of block) {
    if (value === null) branch.store("bank").delete(toUtf8(key));
    else branch.store("bank").set(toUtf8(key), toUtf8(value));
  }
  state.commit(state.height + 1n, state.workingHash(branch));
}

/** Throws unless the state proves what it says of a key. */
function check(state: StateStore, key: Uint8Array, claim: Partial<StoreClaim> = {}): Uint8Array | undefined {
  const store = claim.store ?? "bank";
  const { value, ops } = state.prove(store, key);
  verifyStoreProof(ops, { appHash: state.appHash, store, key, value, ...claim });
  return value;
}

function seeded(): { seed: number; numRuns: number } {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  return { seed, numRuns: runs(25) };
}

const name = fc.nat({ max: 40 }).map((n) => `key ${n}`);
const block = fc
  .array(fc.tuple(name, fc.option(fc.constantFrom("1", "2"), { nil: null })), { maxLength: 20 })
  .map((changes) => new Map(changes));

describe("proofs of the state", () => {
  test("show every key with its value and every other key as missing, after any blocks", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), (blocks) => {
        const database = memoryDatabase();
        const state = StateStore.open(database, NAMES);
        const model = new Map<string, string>();
        for (const changes of blocks) {
          commit(state, changes);
          for (const [key, value] of changes) {
            if (value === null) model.delete(key);
            else model.set(key, value);
          }
          for (let n = 0; n <= 40; n++) {
            const value = check(state, toUtf8(`key ${n}`));
            expect(value && fromUtf8(value)).toBe(model.get(`key ${n}`));
          }
        }
        const again = StateStore.open(database, NAMES);
        for (let n = 0; n <= 40; n++) check(again, toUtf8(`key ${n}`));
      }),
      seeded(),
    );
  });

  test("know the key of each path of the tree and of no other", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 8 }), (blocks) => {
        const database = memoryDatabase();
        const state = StateStore.open(database, NAMES);
        for (const changes of blocks) {
          // One that is not committed leaves nothing.
          state.workingHash(state.branch());
          commit(state, changes);
        }
        for (const store of NAMES) {
          const keys = [...state.store(store).iterate()].map(([key]) => `${toHex(sha256(key))} ${toHex(key)}`);
          const paths = [...database.table(pathTable(store)).iterate()].map(([path, key]) => [path, key].map(toHex));
          expect(paths.map((pair) => pair.join(" "))).toEqual(keys.sort());
        }
      }),
      seeded(),
    );
  });

  test("hold in a store without entries and in one with a single entry, in front of all keys and behind them", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    commit(state, new Map([["a", "1"]]));
    const missing = Array.from({ length: 200 }, (_, n) => toUtf8(`missing ${n}`));
    for (const store of NAMES) for (const key of missing) expect(check(state, key, { store })).toBeUndefined();
    expect(check(state, toUtf8("a"))).toEqual(toUtf8("1"));
  });

  test("show nothing else: another value, key, store, state, or the contrary", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    commit(state, new Map([...Array(50).keys()].map((n) => [`key ${n}`, `${n}`])));
    const { appHash } = state;
    commit(state, new Map([["key 1", "other"]]));
    const there = toUtf8("key 7");
    const gone = toUtf8("key 70");
    for (const claim of [{ value: toUtf8("8") }, { value: undefined }, { key: toUtf8("key 8") }, { appHash }])
      expect(() => check(state, there, claim)).toThrow();
    for (const claim of [{ value: toUtf8("70") }, { key: there }, { key: toUtf8("key 71") }, { appHash }])
      expect(() => check(state, gone, claim)).toThrow();
    const { ops, value } = state.prove("bank", there);
    for (const store of ["auth", "nope"])
      expect(() => verifyStoreProof(ops, { appHash: state.appHash, store, key: there, value })).toThrow();
  });

  test("are of the last commit, whatever is prepared", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    expect(() => state.prove("bank", toUtf8("a"))).toThrow("there is a commit to prove something of");
    commit(state, new Map([["a", "1"]]));
    const branch = state.branch();
    branch.store("bank").set(toUtf8("a"), toUtf8("2"));
    branch.store("bank").set(toUtf8("b"), toUtf8("2"));
    const prepared = state.workingHash(branch);
    expect([check(state, toUtf8("a")), check(state, toUtf8("b"))]).toEqual([toUtf8("1"), undefined]);
    state.commit(2n, prepared);
    expect([check(state, toUtf8("a")), check(state, toUtf8("b"))]).toEqual([toUtf8("2"), toUtf8("2")]);
  });

  test("need one entry of every store, whose key no module may take", () => {
    expect(() => checkPrefixes({ mine: { prefixes: [0xff] } })).toThrow("prefix 255 is not a byte below 255");
    const state = StateStore.open(memoryDatabase(), NAMES);
    commit(state, new Map());
    expect(check(state, Uint8Array.of(0xff), { store: "gov" })).toEqual(Uint8Array.of(1));
  });
});
