import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromUtf8, toHex, toUtf8 } from "../../util/index.ts";
import { appHashOf, merkleRoot } from "./hash.ts";
import { SparseMerkleTree } from "./smt.ts";

function hash(...parts: readonly Uint8Array[]): Uint8Array {
  const state = createHash("sha256");
  for (const part of parts) state.update(part);
  return state.digest();
}

type Leaf = { readonly path: Uint8Array; readonly hash: Uint8Array };

/** The definition of the root word by word: recompute everything, sharing nothing with the tree under test. */
function naiveRoot(state: ReadonlyMap<string, string>): string {
  const leaves = [...state].map(([key, value]): Leaf => {
    const path = hash(toUtf8(key));
    return { path, hash: hash(Uint8Array.of(0), path, hash(toUtf8(value))) };
  });
  return toHex(naiveNode(leaves, 0));
}

function naiveNode(leaves: readonly Leaf[], depth: number): Uint8Array {
  const [only] = leaves;
  if (only === undefined) return new Uint8Array(32);
  if (leaves.length === 1) return only.hash;
  const side = (bit: number) =>
    leaves.filter(({ path }) => (((path[depth >> 3] ?? 0) >> (7 - (depth % 8))) & 1) === bit);
  return hash(Uint8Array.of(1), naiveNode(side(0), depth + 1), naiveNode(side(1), depth + 1));
}

function commit(tree: SparseMerkleTree, changes: ReadonlyMap<string, string | null>): void {
  tree.apply(tree.update(bytesOf(changes)));
}

function bytesOf(changes: ReadonlyMap<string, string | null>): [Uint8Array, Uint8Array | null][] {
  return [...changes].map(([key, value]) => [toUtf8(key), value === null ? null : toUtf8(value)]);
}

function applyTo(state: Map<string, string>, changes: ReadonlyMap<string, string | null>): void {
  for (const [key, value] of changes) {
    if (value === null) state.delete(key);
    else state.set(key, value);
  }
}

const key = fc.integer({ min: 0, max: 60 }).map((n) => `key ${n}`);
const value = fc.option(fc.integer({ min: 0, max: 3 }).map(String), { freq: 2, nil: null });
const block = fc.array(fc.tuple(key, value), { maxLength: 25 }).map((pairs) => new Map(pairs));

function seeded(): { seed: number } {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  return { seed };
}

describe("sparse Merkle tree", () => {
  test("is empty, one leaf, or leaves joined", () => {
    const tree = new SparseMerkleTree();
    expect(toHex(tree.root())).toBe("00".repeat(32));
    commit(tree, new Map([["a", "1"]]));
    expect(tree.root()).toEqual(hash(Uint8Array.of(0), hash(toUtf8("a")), hash(toUtf8("1"))));
    commit(tree, new Map([["b", ""]]));
    // sha256("a") begins with bit 1, sha256("b") with bit 0.
    const a = hash(Uint8Array.of(0), hash(toUtf8("a")), hash(toUtf8("1")));
    const b = hash(Uint8Array.of(0), hash(toUtf8("b")), hash(toUtf8("")));
    expect(tree.root()).toEqual(hash(Uint8Array.of(1), b, a));
  });

  test("equals a naive recomputation after every block, deletions included", () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 12 }), (blocks) => {
        const tree = new SparseMerkleTree();
        const state = new Map<string, string>();
        for (const changes of blocks) {
          commit(tree, changes);
          applyTo(state, changes);
          expect(toHex(tree.root())).toBe(naiveRoot(state));
          expect(tree.leafCount).toBe(state.size);
        }
      }),
      seeded(),
    );
  });

  test("does not depend on the order of writes or on keys that came and went", () => {
    fc.assert(
      fc.property(
        fc
          .uniqueArray(key, { maxLength: 40 })
          .chain((keys) => fc.tuple(fc.constant(keys), fc.shuffledSubarray(keys, { minLength: keys.length }))),
        ([ordered, shuffled]) => {
          const atOnce = new SparseMerkleTree();
          commit(atOnce, new Map(ordered.map((name) => [name, name])));
          const oneByOne = new SparseMerkleTree();
          for (const name of shuffled) {
            commit(
              oneByOne,
              new Map([
                [name, "old"],
                ["visitor", name],
              ]),
            );
            commit(
              oneByOne,
              new Map([
                [name, name],
                ["visitor", null],
              ]),
            );
          }
          expect(toHex(oneByOne.root())).toBe(toHex(atOnce.root()));
          expect(oneByOne.innerCount).toBe(atOnce.innerCount);
        },
      ),
      seeded(),
    );
  });

  test("prepares several updates over one tree, and frees what is dropped", () => {
    fc.assert(
      fc.property(block, fc.array(block, { minLength: 1, maxLength: 4 }), (first, candidates) => {
        const tree = new SparseMerkleTree();
        commit(tree, first);
        const state = new Map<string, string>();
        applyTo(state, first);
        const before = { root: toHex(tree.root()), leaves: tree.leafCount, inners: tree.innerCount };
        const prepared = candidates.map((changes) => tree.update(bytesOf(changes)));
        expect(toHex(tree.root())).toBe(before.root);
        const [chosen, ...others] = prepared;
        for (const other of others) tree.drop(other);
        if (chosen !== undefined) tree.apply(chosen);
        applyTo(state, candidates[0] ?? new Map());
        expect(toHex(tree.root())).toBe(naiveRoot(state));
        commit(tree, new Map([...state.keys()].map((name) => [name, null])));
        expect([tree.leafCount, tree.innerCount]).toEqual([0, 0]);
      }),
      seeded(),
    );
  });

  test("refuses an update prepared over an older tree", () => {
    const tree = new SparseMerkleTree();
    const stale = tree.update([[toUtf8("a"), toUtf8("1")]]);
    commit(tree, new Map([["b", "1"]]));
    expect(() => tree.apply(stale)).toThrow("has changed");
  });
});

describe("app hash", () => {
  test("has the roots of RFC 6962", () => {
    expect(toHex(merkleRoot([]))).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(toHex(merkleRoot([new Uint8Array(0)]))).toBe(
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    );
    const leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"].map((hex) =>
      Buffer.from(hex, "hex"),
    );
    // Roots published with the reference implementation of certificate transparency.
    expect(toHex(merkleRoot(leaves.slice(0, 3)))).toBe(
      "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    );
    expect(toHex(merkleRoot(leaves))).toBe("ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c");
  });

  test("covers names and roots whatever the order they come in", () => {
    const one = hash(toUtf8("1"));
    const two = hash(toUtf8("2"));
    const root = appHashOf(
      new Map([
        ["bank", one],
        ["auth", two],
      ]),
    );
    const leaf = (name: string, store: Uint8Array) =>
      hash(Uint8Array.of(0, name.length), toUtf8(name), Uint8Array.of(32), hash(store));
    expect(root).toEqual(hash(Uint8Array.of(1), leaf("auth", two), leaf("bank", one)));
    expect(
      appHashOf(
        new Map([
          ["auth", two],
          ["bank", one],
        ]),
      ),
    ).toEqual(root);
  });
});

test("the first changes of a tree may list their keys: same root, and each path comes with its own key", () => {
  const changes = bytesOf(
    new Map([
      ["b", "1"],
      ["gone", null],
      ["a", "2"],
      ["c", "3"],
      ["d", null],
      ["e", "4"],
    ]),
  );
  const keyAt = (place: number) => changes[place]?.[0] ?? new Uint8Array(0);
  const listed = { keyAt, [Symbol.iterator]: () => changes.values() };
  const moved = (given: Iterable<[Uint8Array, Uint8Array | null]>) => {
    const tree = new SparseMerkleTree();
    const update = tree.update(given);
    return { root: toHex(update.root), keys: [...tree.movedKeys(update)] };
  };
  expect(moved(listed)).toEqual(moved(changes));
  const { keys } = moved(listed);
  expect(keys.map(({ key }) => fromUtf8(key)).sort()).toEqual(["a", "b", "c", "e"]);
  for (const { path, key } of keys) expect(toHex(path)).toBe(toHex(hash(key)));
});
