import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import recorded from "../../../test/vectors/ics23-proof-sdk042.json" with { type: "json" };
import { sha256 } from "../../crypto/index.ts";
import { concatBytes, equalBytes, fromBase64, fromHex, toHex } from "../../util/index.ts";
import { decodeMessage, encodeMessage, wireErrors } from "../codec/index.ts";
import {
  type CommitmentProof,
  CommitmentProofSchema,
  ExistenceProofSchema,
  HashOp,
  type InnerOp,
  InnerOpSchema,
  LengthOp,
  NonExistenceProofSchema,
} from "../gen/sdk/ics23/v1/proofs_pb.js";
import {
  existenceRoot,
  IAVL_SPEC,
  rootOfProof,
  SMT_SPEC,
  TENDERMINT_SPEC,
  verifyAbsence,
  verifyExistence,
  verifyStoreProof,
} from "./index.ts";

const bytes = (base64: string): Uint8Array => new Uint8Array(fromBase64(base64));
const { response, next_header_app_hash: appHash, steps } = recorded;
const ops = response.proofOps.ops.map(({ type, key, data }) => ({ type, key: bytes(key), data: bytes(data) }));
const claim = {
  appHash: new Uint8Array(fromHex(appHash)),
  store: "bank",
  key: bytes(response.key),
  value: bytes(response.value),
};

describe("the recorded proof of a reference chain", () => {
  it("leads to the app hash of the next header, by the recorded roots", () => {
    expect(() => verifyStoreProof(ops, claim)).not.toThrow();
    const roots = ops.map(({ data }, i) => toHex(rootOfProof(i === 0 ? IAVL_SPEC : TENDERMINT_SPEC, data)));
    expect(roots).toEqual(steps.map(({ root }) => root));
  });

  it.each([
    ["another value", { value: Uint8Array.of(1) }, "it is of another value"],
    ["no value", { value: undefined }, "it does not show that the key is not there"],
    ["another key", { key: Uint8Array.of(1) }, "it is of another key"],
    ["another store", { store: "auth" }, "it is of another store"],
    ["another app hash", { appHash: new Uint8Array(32) }, "it leads to another root"],
  ])("does not show %s", (_, change, why) => {
    expect(() => verifyStoreProof(ops, { ...claim, ...change })).toThrow(why);
  });

  it("needs both of its parts, in order, of a known kind", () => {
    for (const parts of [[], ops.slice(0, 1), ops.slice(1), [...ops].reverse(), [...ops, ...ops]]) {
      expect(() => verifyStoreProof(parts, claim)).toThrow("its parts are");
    }
    const foreign = ops.map((op) => ({ ...op, type: "ics23:other" }));
    expect(() => verifyStoreProof(foreign, claim)).toThrow("its parts are ics23:other, ics23:other");
  });

  it("holds no longer when any byte of it is another one", () => {
    const [first, second] = ops;
    if (first === undefined || second === undefined) throw new Error("two parts were recorded");
    fc.assert(
      fc.property(fc.nat(1), fc.nat(), fc.integer({ min: 1, max: 255 }), (part, position, change) => {
        const data = Uint8Array.from(ops[part]?.data ?? []);
        const at = position % data.length;
        data[at] = (data[at] ?? 0) ^ change;
        const changed = ops.map((op, i) => (i === part ? { ...op, data } : op));
        expect(() => verifyStoreProof(changed, claim)).toThrow();
      }),
      { numRuns: 2000 },
    );
  });

  /** The proof with one of its parts changed; its root is made to fit, so that only the form can reveal the change. */
  function forged(change: (path: InnerOp[]) => void): () => unknown {
    const { proof } = decodeMessage(CommitmentProofSchema, ops[0]?.data ?? new Uint8Array(), wireErrors.badProof);
    if (proof.case !== "exist") throw new Error("an existence proof was recorded");
    change(proof.value.path);
    return () => existenceRoot(IAVL_SPEC, proof.value);
  }

  it.each<[string, (path: InnerOp[]) => void, string]>([
    [
      "a longer suffix",
      ([op]) => Object.assign(op ?? {}, { suffix: new Uint8Array(66) }),
      "a prefix or suffix of a wrong length",
    ],
    [
      "a longer prefix",
      ([op]) => Object.assign(op ?? {}, { prefix: new Uint8Array(80).fill(2) }),
      "a prefix or suffix of a wrong length",
    ],
    [
      "the prefix of a leaf",
      ([op]) => Object.assign(op ?? {}, { prefix: Uint8Array.of(0, 2, 2, 32) }),
      "looks like a leaf",
    ],
    ["another hash", ([op]) => Object.assign(op ?? {}, { hash: HashOp.SHA512 }), "not hashed with SHA-256"],
    ["a height that is too low", (path) => path.splice(0, 0, ...path), "lower than its distance"],
    ["a height below zero", ([op]) => Object.assign(op ?? {}, { prefix: Uint8Array.of(1, 2, 2, 32) }), "below zero"],
    [
      "no length of the child",
      ([op]) => Object.assign(op ?? {}, { prefix: Uint8Array.of(2, 2, 2, 33) }),
      "no IAVL header",
    ],
    ["too many levels", (path) => path.push(...Array<InnerOp>(130).fill(create(InnerOpSchema))), "more than 128 steps"],
  ])("is refused with %s", (_, change, why) => {
    expect(forged(change)).toThrow(why);
  });
});

/** A sparse Merkle tree of the form of our stores, built anew from its definition, with the path to each leaf. */
function smt(entries: readonly (readonly [key: string, value: string])[]) {
  const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
  const leaves = entries
    .map(([key, value]) => ({ key: utf8(key), value: utf8(value), path: sha256(utf8(key)) }))
    .sort((a, b) => Buffer.compare(a.path, b.path));
  type Leaf = (typeof leaves)[number];
  const bit = ({ path }: Leaf, depth: number): number => ((path[depth >> 3] ?? 0) >> (7 - (depth & 7))) & 1;
  const paths = new Map<Leaf, MessageInitShape<typeof InnerOpSchema>[]>(leaves.map((leaf) => [leaf, []]));
  const hashOf = (below: readonly Leaf[], depth: number): Uint8Array => {
    const [first] = below;
    if (first === undefined) return new Uint8Array(32);
    if (below.length === 1) return sha256(concatBytes(Uint8Array.of(0), first.path, sha256(first.value)));
    const sides = [0, 1].map((side) => below.filter((leaf) => bit(leaf, depth) === side)) as [Leaf[], Leaf[]];
    const [left, right] = sides.map((side) => hashOf(side, depth + 1)) as [Uint8Array, Uint8Array];
    const one = Uint8Array.of(1);
    for (const leaf of sides[0]) paths.get(leaf)?.push({ hash: HashOp.SHA256, prefix: one, suffix: right });
    for (const leaf of sides[1]) paths.get(leaf)?.push({ hash: HashOp.SHA256, prefix: concatBytes(one, left) });
    return sha256(concatBytes(one, left, right));
  };
  const root = hashOf(leaves, 0);
  const op = {
    ...{ hash: HashOp.SHA256, prehashKey: HashOp.SHA256, prehashValue: HashOp.SHA256 },
    ...{ length: LengthOp.NO_PREFIX, prefix: Uint8Array.of(0) },
  };
  const proofs = leaves.map((leaf) =>
    create(ExistenceProofSchema, { key: leaf.key, value: leaf.value, leaf: op, path: paths.get(leaf) ?? [] }),
  );
  return { root, proofs };
}

const entries = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })), {
  selector: ([key]) => key,
  minLength: 1,
  maxLength: 24,
});

describe("proofs of sparse Merkle trees", () => {
  it("show every key with its value, and no other value", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const { root, proofs } = smt(list);
        for (const proof of proofs) {
          const { key, value } = proof;
          expect(() => verifyExistence(SMT_SPEC, proof, { root, key, value })).not.toThrow();
          const other = Uint8Array.from([...value, 1]);
          expect(() => verifyExistence(SMT_SPEC, { ...proof, value: other }, { root, key, value: other })).toThrow();
          expect(() => existenceRoot(TENDERMINT_SPEC, proof)).toThrow("hashed in another way");
        }
      }),
    );
  });

  it("show that a key is not there by its two neighbours alone", () => {
    fc.assert(
      fc.property(entries, fc.string({ minLength: 1 }), (list, text) => {
        const { root, proofs } = smt(list);
        const key = new TextEncoder().encode(text);
        const place = sha256(key);
        const after = proofs.findIndex((proof) => Buffer.compare(sha256(proof.key), place) >= 0);
        const at = after === -1 ? proofs.length : after;
        for (const [i, j] of [
          [at - 1, at],
          [at - 2, at],
          [at - 1, at + 1],
          [at, at + 1],
          [at - 1, -1],
          [-1, at],
        ]) {
          const [left, right] = [proofs[i ?? -1], proofs[j ?? -1]];
          const absent = !proofs.some((proof) => equalBytes(proof.key, key));
          const holds = absent && left === proofs[at - 1] && right === proofs[at];
          const proof = create(NonExistenceProofSchema, { key, ...(left && { left }), ...(right && { right }) });
          const verify = () => verifyAbsence(SMT_SPEC, proof, { root, key });
          if (holds) expect(verify).not.toThrow();
          else expect(verify).toThrow();
        }
      }),
    );
  });

  it("are parts of the proof of an application as IAVL's are", () => {
    const { root, proofs } = smt([["a", "1"]]);
    const [inStore] = proofs;
    if (inStore === undefined) throw new Error("one key has one proof");
    const leaf = { ...TENDERMINT_SPEC.leaf };
    const inApp = create(ExistenceProofSchema, { key: new TextEncoder().encode("bank"), value: root, leaf });
    const part = (type: string, key: Uint8Array, proof: CommitmentProof["proof"]) => {
      return { type, key, data: encodeMessage(CommitmentProofSchema, create(CommitmentProofSchema, { proof })) };
    };
    const parts = [
      part("ics23:smt", inStore.key, { case: "exist", value: inStore }),
      part("ics23:simple", inApp.key, { case: "exist", value: inApp }),
    ];
    const { root: hash } = existenceRoot(TENDERMINT_SPEC, inApp);
    const { key, value } = inStore;
    expect(() => verifyStoreProof(parts, { appHash: hash, store: "bank", key, value })).not.toThrow();
    const missing = new TextEncoder().encode("b");
    const absence = create(NonExistenceProofSchema, {
      key: missing,
      ...(Buffer.compare(sha256(key), sha256(missing)) < 0 ? { left: inStore } : { right: inStore }),
    });
    const others = [part("ics23:smt", missing, { case: "nonexist", value: absence }), ...parts.slice(1)];
    const gone = { appHash: hash, store: "bank", key: missing, value: undefined };
    expect(() => verifyStoreProof(others, gone)).not.toThrow();
    expect(() => verifyStoreProof(others, { ...gone, value })).toThrow("does not show that the key is there");
  });
});
