import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { entriesOf, missingKeys, simulateMarket } from "../../test/support/market-run.ts";
import type { AppQueryResult } from "../abci/index.ts";
import { firstEntry } from "../store/index.ts";
import type { TestChain } from "../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../util/index.ts";
import { MsgSendSchema } from "../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { CommitmentProofSchema, HashOp } from "../wire/gen/sdk/ics23/v1/proofs_pb.js";
import { decodeMessage, rootOfProof, TENDERMINT_SPEC, verifyStoreProof } from "../wire/index.ts";
import { storeNames } from "./module-set.ts";

const SEED = Number(process.env.SEED ?? 4711);
const { chain } = simulateMarket(SEED, 100, { retentionBlocks: 100n });
const { app } = chain;
const stores = storeNames(app.modules);

function ask(store: string, key: Uint8Array, height = 0n): AppQueryResult {
  return app.query({ path: `/store/${store}/key`, data: key, height, prove: true });
}

/** The parts of the ecosystem's JavaScript library that verify the presence of a key. */
interface Reference {
  readonly tendermintSpec: unknown;
  readonly ics23: { readonly CommitmentProof: { decode(data: Uint8Array): object } };
  verifyMembership(proof: object, spec: object, root: Uint8Array, key: Uint8Array, value: Uint8Array): boolean;
}

/** Imported by a name that is not a literal, because its types predate modules. */
async function reference(): Promise<Reference> {
  const name: string = "@confio/ics23";
  return import(name);
}

/** The form of our trees in the library's terms. */
const SMT = {
  leafSpec: { hash: 1, prehashKey: 1, prehashValue: 1, length: 0, prefix: Uint8Array.of(0) },
  innerSpec: {
    ...{ childOrder: [0, 1], childSize: 32, minPrefixLength: 1, maxPrefixLength: 1, hash: HashOp.SHA256 },
    emptyChild: new Uint8Array(32),
  },
  maxDepth: 256,
};

describe(`every key of every store after a market run of seed ${SEED}`, () => {
  it("has a value that can be shown", () => {
    const empty = stores.flatMap((store) =>
      entriesOf(app, store)
        .filter(([, value]) => value.length === 0)
        .map(([key]) => `${store} ${toHex(key)}`),
    );
    expect(empty).toEqual([]);
    expect(stores.filter((store) => firstEntry(app.state.store(store)) === undefined)).toEqual([]);
    expect(entriesOf(app, "market").length).toBeGreaterThan(200);
  });

  it("is proved with its value, to us and to the reference", async () => {
    const { verifyMembership, tendermintSpec, ics23 } = await reference();
    const { lastBlockAppHash: appHash } = app.info();
    for (const store of stores) {
      for (const [key, value] of entriesOf(app, store)) {
        const { proofOps, value: told } = ask(store, key);
        expect(toHex(told)).toBe(toHex(value));
        verifyStoreProof(proofOps, { appHash, store, key, value });
        const [inStore, inApp] = proofOps.map(({ data }) => ics23.CommitmentProof.decode(data));
        const data = proofOps[1]?.data ?? key;
        const root = rootInApp(data);
        if (inStore === undefined || inApp === undefined) throw new Error("a proof has two parts");
        expect(verifyMembership(inStore, SMT, root, key, value)).toBe(true);
        expect(verifyMembership(inApp, Object(tendermintSpec), appHash, Buffer.from(store), root)).toBe(true);
        expect(verifyMembership(inStore, SMT, root, key, Uint8Array.from([...value, 0]))).toBe(false);
        expect(toHex(rootOfProof(TENDERMINT_SPEC, data))).toBe(toHex(appHash));
      }
    }
  });

  it.each(stores)("is known from those that are missing in the store %s", (store) => {
    const { lastBlockAppHash: appHash } = app.info();
    const missing = missingKeys(app, store, { count: 150, seed: SEED });
    expect(missing.length).toBeGreaterThan(200);
    for (const key of missing) {
      const { proofOps, value, code } = ask(store, key);
      expect([code, value.length]).toEqual([0, 0]);
      verifyStoreProof(proofOps, { appHash, store, key, value: undefined });
      expect(() => verifyStoreProof(proofOps, { appHash, store, key, value: key })).toThrow("does not show");
    }
  });

  it("is proved at the heights that are kept", () => {
    const [[key] = []] = entriesOf(app, "bank");
    if (key === undefined) throw new Error("somebody has coins");
    const { lastBlockHeight: last } = app.info();
    expect(ask("bank", key, last)).toMatchObject({ code: 0, height: last });
    expect(ask("bank", key, last).proofOps).toEqual(ask("bank", key).proofOps);
    for (const height of [last + 1n, -1n]) {
      expect(ask("bank", key, height)).toMatchObject({ proofOps: [], log: expect.stringContaining("height") });
      expect(ask("bank", key, height).code).not.toBe(0);
    }
    const before = app.info().lastBlockAppHash;
    const old = ask("bank", key);
    moveOn(chain);
    const { lastBlockAppHash: appHash } = app.info();
    const claim = { store: "bank", key, value: old.value };
    verifyStoreProof(old.proofOps, { ...claim, appHash: before });
    const again = ask("bank", key, old.height);
    expect(again).toMatchObject({ code: 0, height: old.height, value: old.value });
    verifyStoreProof(again.proofOps, { ...claim, appHash: before });
    expect(() => verifyStoreProof(old.proofOps, { ...claim, appHash })).toThrow("leads to another root");
  });

  it("is proved to the reference at each of the last 100 heights, with the value that it had there", async () => {
    const { verifyMembership, tendermintSpec, ics23 } = await reference();
    const [from, to] = [...chain.keys.values()];
    if (from === undefined || to === undefined) throw new Error("the chain has accounts");
    const amount = [{ denom: NATIVE_DENOM, amount: "1" }];
    const transfer = create(MsgSendSchema, { fromAddress: from.address, toAddress: to.address, amount });
    const seen = Array.from({ length: 100 }, () => {
      chain.mustSend(transfer, { from });
      const { lastBlockHeight: height, lastBlockAppHash: appHash } = app.info();
      return { height, appHash, entries: ["auth", "bank"].map((store) => ({ store, of: entriesOf(app, store) })) };
    });
    const values = new Set<string>();
    const known = new Set<string>();
    for (const { height, appHash, entries } of seen) {
      for (const { store, of } of entries) {
        const changed = of.filter(([, value]) => !known.has(`${store} ${toHex(value)}`));
        for (const [, value] of changed) known.add(`${store} ${toHex(value)}`);
        const [key, value] = changed[0] ?? of[0] ?? [];
        if (key === undefined || value === undefined) throw new Error("every store has an entry");
        const { proofOps, value: told, code } = ask(store, key, height);
        expect([code, toHex(told)]).toEqual([0, toHex(value)]);
        values.add(toHex(told));
        const [inStore, inApp] = proofOps.map(({ data }) => ics23.CommitmentProof.decode(data));
        if (inStore === undefined || inApp === undefined) throw new Error("a proof has two parts");
        const root = rootInApp(proofOps[1]?.data ?? key);
        expect(verifyMembership(inStore, SMT, root, key, value), `height ${height}`).toBe(true);
        expect(verifyMembership(inApp, Object(tendermintSpec), appHash, Buffer.from(store), root)).toBe(true);
      }
    }
    expect(values.size).toBeGreaterThan(30);
  });
});

/** Makes blocks until the state has changed. */
function moveOn(moving: TestChain): void {
  const before = toHex(moving.app.info().lastBlockAppHash);
  for (let i = 0; i < 50 && toHex(moving.app.info().lastBlockAppHash) === before; i++) moving.nextBlock();
}

/** The root of a store, which the part about the application has for its value. */
function rootInApp(data: Uint8Array): Uint8Array {
  const { proof } = decodeMessage(CommitmentProofSchema, data);
  if (proof.case !== "exist") throw new Error("a store is in the application");
  return proof.value.value;
}
