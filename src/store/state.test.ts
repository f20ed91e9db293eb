import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromUtf8, toHex, toUtf8 } from "../util/index.ts";
import {
  type Database,
  memoryDatabase,
  pathTable,
  type StateBranch,
  StateStore,
  stateTable,
  storeErrors,
  type Write,
} from "./index.ts";

const NAMES = ["auth", "bank"];

function execute(state: StateStore, changes: readonly (readonly [store: string, key: string, value: string | null])[]) {
  const branch = state.branch();
  for (const [name, key, value] of changes) {
    if (value === null) branch.store(name).delete(toUtf8(key));
    else branch.store(name).set(toUtf8(key), toUtf8(value));
  }
  return state.workingHash(branch);
}

function read(state: Pick<StateStore, "store">, name: string, key: string): string | undefined {
  const value = state.store(name).get(toUtf8(key));
  return value && fromUtf8(value);
}

/** All that the tables of the state hold, in hex. */
function rowsOf(database: Database): string[] {
  return NAMES.flatMap((name) => [stateTable(name), pathTable(name)]).flatMap((table) =>
    [...database.table(table).iterate()].map(([key, value]) => `${table} ${toHex(key)} ${toHex(value)}`),
  );
}

/** Prefix in front of the store's own entry. */
const OWN = Uint8Array.of(0xff);

function keys(state: Pick<StateStore, "store">): string[] {
  return [...state.store("bank").iterate({ end: OWN })].map(([key]) => fromUtf8(key));
}

describe("state store", () => {
  test("begins empty and commits blocks of several stores", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    expect([state.height, state.isEmpty]).toEqual([0n, true]);
    state.commit(1n, execute(state, []));
    const empty = toHex(state.appHash);
    const prepared = execute(state, [
      ["bank", "alice", "5"],
      ["auth", "alice", "0"],
    ]);
    expect(toHex(state.appHash)).toBe(empty);
    expect(read(state, "bank", "alice")).toBeUndefined();
    state.commit(2n, prepared);
    expect([state.height, state.isEmpty]).toEqual([2n, false]);
    expect(state.appHash).toEqual(prepared.appHash);
    expect(toHex(state.appHash)).not.toBe(empty);
    expect(read(state, "bank", "alice")).toBe("5");
    state.commit(
      3n,
      execute(state, [
        ["bank", "alice", null],
        ["auth", "alice", null],
      ]),
    );
    expect(toHex(state.appHash)).toBe(empty);
  });

  test("shows absent keys once they are written, although it remembered their absence", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    for (let height = 1n; height < 6n; height++) {
      expect(read(state, "bank", `key ${height}`)).toBeUndefined();
      state.commit(
        height,
        execute(state, [
          ["bank", `key ${height}`, "1"],
          ["bank", `key ${height - 1n}`, null],
        ]),
      );
      expect(read(state, "bank", `key ${height}`)).toBe("1");
      expect(read(state, "bank", `key ${height - 1n}`)).toBeUndefined();
    }
  });

  test("weighs several candidates for one height and commits one", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    state.commit(
      1n,
      execute(state, [
        ["bank", "a", "1"],
        ["bank", "b", "1"],
      ]),
    );
    const first = execute(state, [["bank", "a", "2"]]);
    const second = execute(state, [
      ["bank", "b", null],
      ["auth", "c", "3"],
    ]);
    const again = execute(state, [["bank", "a", "2"]]);
    expect(toHex(again.appHash)).toBe(toHex(first.appHash));
    expect(toHex(second.appHash)).not.toBe(toHex(first.appHash));
    state.release(first);
    state.commit(2n, second);
    expect([read(state, "bank", "a"), read(state, "bank", "b"), read(state, "auth", "c")]).toEqual([
      "1",
      undefined,
      "3",
    ]);
    expect(() => state.commit(3n, again)).toThrow("prepared before the last commit");
    expect(() => state.commit(3n, first)).toThrow("prepared before the last commit");
  });

  test("takes genesis and the first block over it as if both were one set of changes", () => {
    const key = fc.integer({ min: 0, max: 40 }).map((n) => `key ${n}`);
    const change = (value: fc.Arbitrary<string | null>) => fc.tuple(fc.constantFrom(...NAMES), key, value);
    const genesis = fc.uniqueArray(change(fc.constantFrom("1", "2")), { selector: ([name, at]) => name + at });
    const block = fc.uniqueArray(change(fc.constantFrom("1", "3", null)), { selector: ([name, at]) => name + at });
    fc.assert(
      fc.property(genesis, block, block, (first, second, third) => {
        const apply = (branch: StateBranch, changes: readonly (readonly [string, string, string | null])[]) => {
          for (const [name, at, value] of changes) {
            if (value === null) branch.store(name).delete(toUtf8(at));
            else branch.store(name).set(toUtf8(at), toUtf8(value));
          }
        };
        const [over, whole] = [memoryDatabase(), memoryDatabase()];
        const state = StateStore.open(over, NAMES);
        const branch = state.branch();
        apply(branch, first);
        const prepared = state.workingHash(branch);
        const dropped = state.workingHash(state.branchOver(branch, prepared));
        expect(toHex(dropped.appHash)).toBe(toHex(prepared.appHash));
        const above = state.branchOver(branch, prepared);
        apply(above, second);
        state.commit(1n, state.workingHash(above));
        const other = StateStore.open(whole, NAMES);
        const single = other.branch();
        apply(single, first);
        apply(single, second);
        other.commit(1n, other.workingHash(single));
        expect(rowsOf(over)).toEqual(rowsOf(whole));
        expect(toHex(state.appHash)).toBe(toHex(other.appHash));
        const next = [state, other].map((each) => {
          const later = each.branch();
          apply(later, third);
          each.commit(2n, each.workingHash(later));
          return toHex(each.appHash);
        });
        expect(next[0]).toBe(next[1]);
        expect(rowsOf(over)).toEqual(rowsOf(whole));
        expect(toHex(StateStore.open(over, NAMES).appHash)).toBe(next[0]);
      }),
    );
  });

  test("lets nothing be executed over a genesis that is not there", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    const branch = state.branch();
    const prepared = state.workingHash(branch);
    const above = state.branchOver(branch, prepared);
    state.release(prepared);
    expect(() => state.workingHash(above)).toThrow("was released");
    expect(() => state.branchOver(branch, prepared)).toThrow("is prepared and not committed");
    state.commit(1n, state.workingHash(state.branch()));
    expect(() => state.workingHash(above)).toThrow("before the last commit");
  });

  test("writes the caller's records in the same transaction, and nothing when the database refuses", () => {
    const inner = memoryDatabase();
    const written: (readonly Write[])[] = [];
    let full = false;
    const database: Database = {
      table: (name) => inner.table(name),
      snapshot: () => inner.snapshot(),
      close: () => inner.close(),
      write(writes) {
        if (full) throw new Error("no space left on device");
        written.push(writes);
        inner.write(writes);
      },
    };
    const state = StateStore.open(database, NAMES);
    const block = { table: "blocks", key: toUtf8("1"), value: toUtf8("block") };
    state.commit(1n, execute(state, []));
    state.commit(2n, execute(state, [["bank", "a", "1"]]), { writes: [block] });
    expect(written).toHaveLength(2);
    expect(written[1]?.map(({ table }) => table)).toEqual([
      ...["state/bank", "paths/bank", "blocks"],
      ...["history/values", "history/epochs", "commit"],
    ]);
    const before = toHex(state.appHash);
    const prepared = execute(state, [["bank", "a", "2"]]);
    full = true;
    expect(() => state.commit(3n, prepared)).toThrow("no space left");
    expect([state.height, toHex(state.appHash), read(state, "bank", "a")]).toEqual([2n, before, "1"]);
    full = false;
    state.commit(3n, prepared);
    expect(read(state, "bank", "a")).toBe("2");
  });

  test("refuses misuse in clear words", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    const old = state.branch();
    state.commit(5n, execute(state, []));
    expect(() => state.workingHash(old)).toThrow("take a new one");
    expect(() => state.commit(5n, execute(state, []))).toThrow("height 5 does not follow the last commit 5");
    expect(() => state.branch().flush()).toThrow("committed through its state store");
    expect(() => state.branch().store("nope")).toThrow('there is no store "nope"');
    for (const table of [stateTable("bank"), pathTable("bank"), "commit"]) {
      const intruder = { table, key: toUtf8("a"), value: null };
      expect(() => state.commit(6n, execute(state, []), { writes: [intruder] })).toThrow(
        "written by the state store alone",
      );
    }
  });

  test("opens again with the same height and hash, whatever the order of names", () => {
    const database = memoryDatabase();
    const state = StateStore.open(database, NAMES);
    state.commit(
      7n,
      execute(state, [
        ["bank", "a", "1"],
        ["auth", "b", "2"],
      ]),
    );
    const again = StateStore.open(database, [...NAMES].reverse());
    expect([again.height, toHex(again.appHash)]).toEqual([7n, toHex(state.appHash)]);
    const changes = [["bank", "a", null]] as const;
    expect(toHex(execute(again, changes).appHash)).toBe(toHex(execute(state, changes).appHash));
  });

  test("takes a new store in, and refuses to leave one out", () => {
    const database = memoryDatabase();
    const state = StateStore.open(database, NAMES);
    state.commit(1n, execute(state, [["bank", "a", "1"]]));
    const wider = StateStore.open(database, [...NAMES, "gov"]);
    expect(toHex(wider.appHash)).toBe(toHex(state.appHash));
    wider.commit(2n, execute(wider, [["gov", "p", "1"]]));
    expect(toHex(wider.appHash)).not.toBe(toHex(state.appHash));
    expect(() => StateStore.open(database, NAMES)).toThrow("gov: the data directory holds a store that this version");
  });

  test.each([
    ["a changed value", { table: stateTable("bank"), key: toUtf8("a"), value: toUtf8("9") }],
    ["a lost key", { table: stateTable("bank"), key: toUtf8("a"), value: null }],
    ["an added key", { table: stateTable("auth"), key: toUtf8("x"), value: toUtf8("") }],
    ["a lost record of the commit", { table: "commit", key: toUtf8("last"), value: null }],
  ])("finds %s at start", (_what, damage) => {
    const database = memoryDatabase();
    const state = StateStore.open(database, NAMES);
    state.commit(
      3n,
      execute(state, [
        ["bank", "a", "1"],
        ["auth", "b", "1"],
      ]),
    );
    database.write([damage]);
    expect(() => StateStore.open(database, NAMES)).toThrow(
      /^store (bank|auth) at height [03]: state does not match the last header$/,
    );
  });

  test("refuses a record of the commit that it cannot read", () => {
    const database = memoryDatabase();
    database.write([{ table: "commit", key: toUtf8("last"), value: toUtf8("{") }]);
    expect(() => StateStore.open(database, NAMES)).toThrow(storeErrors.badMeta.description);
  });

  test("refuses tables of another form, with the remedy", () => {
    const database = memoryDatabase();
    const meta = '{"format":1,"height":"7","appHash":"","stores":{}}';
    database.write([{ table: "commit", key: toUtf8("last"), value: toUtf8(meta) }]);
    expect(() => StateStore.open(database, NAMES)).toThrow(
      expect.objectContaining({
        message: "the data directory has format 1: the state has the form of another version of svc",
        hint: expect.stringContaining("start the version of svc that wrote it"),
      }),
    );
  });

  test("serves a height to the end while others are committed", () => {
    const state = StateStore.open(memoryDatabase(), NAMES);
    state.commit(
      1n,
      execute(state, [
        ["bank", "a", "1"],
        ["bank", "b", "1"],
      ]),
    );
    const snapshot = state.snapshot();
    state.commit(
      2n,
      execute(state, [
        ["bank", "a", "2"],
        ["bank", "b", null],
        ["bank", "c", "1"],
      ]),
    );
    expect([snapshot.height, read(snapshot, "bank", "a"), read(snapshot, "bank", "c")]).toEqual([1n, "1", undefined]);
    expect(keys(snapshot)).toEqual(["a", "b"]);
    expect(toHex(snapshot.appHash)).not.toBe(toHex(state.appHash));
    expect(keys(state.committed())).toEqual(["a", "c"]);
    snapshot.close();
  });

  test("has an app hash that depends on the content alone", () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
    console.log(`seed ${seed}`);
    const name = fc.constantFrom(...NAMES);
    const key = fc.nat({ max: 20 }).map((n) => `k${n}`);
    const change = fc.tuple(name, key, fc.option(fc.nat({ max: 2 }).map(String), { nil: null }));
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 10 }), { minLength: 1, maxLength: 8 }), (blocks) => {
        const database = memoryDatabase();
        const state = StateStore.open(database, NAMES);
        for (const [i, block] of blocks.entries()) {
          execute(state, [...block].reverse());
          state.commit(BigInt(i + 1), execute(state, block));
        }
        expect(toHex(StateStore.open(database, NAMES).appHash)).toBe(toHex(state.appHash));
        const content = NAMES.flatMap((store) =>
          [...state.store(store).iterate({ end: OWN })].map(([k, v]) => [store, fromUtf8(k), fromUtf8(v)] as const),
        );
        const fresh = StateStore.open(memoryDatabase(), NAMES);
        fresh.commit(1n, execute(fresh, content));
        expect(toHex(fresh.appHash)).toBe(toHex(state.appHash));
      }),
      { seed },
    );
  });
});
