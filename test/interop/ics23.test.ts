import { describe, expect, test } from "vitest";
import { storeNames } from "../../src/app/index.ts";
import { memoryDatabase, StateStore } from "../../src/store/index.ts";
import { toUtf8 } from "../../src/util/index.ts";
import type { ProofOp } from "../../src/wire/index.ts";
import { entriesOf, missingKeys, simulateMarket } from "../support/market-run.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Proofs of our stores, verified by the reference library for light clients, which hold only headers of a chain. */

const built = await buildPeer("ics23");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference library is there" : `no reference library, it verifies nothing: ${missing}`,
  () => expect(missing).toBe(""),
);

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

interface Claim {
  readonly store: string;
  readonly key: Uint8Array;
  /** Undefined when the answer says that the key does not exist. */
  readonly value: Uint8Array | undefined;
}

/** A claim as the library's program reads it. */
function line({ store, key, value }: Claim, appHash: Uint8Array, [inStore, inApp]: readonly ProofOp[]): string {
  const base64 = (bytes: Uint8Array | undefined) =>
    bytes === undefined ? null : Buffer.from(bytes).toString("base64");
  const proof = { in_store: base64(inStore?.data), in_app: base64(inApp?.data) };
  return JSON.stringify({ app_hash: base64(appHash), store, key: base64(key), value: base64(value), ...proof });
}

/** How many of the claims the library accepts as proven. */
async function shown(lines: readonly string[]): Promise<number> {
  if (!(built instanceof Peer)) throw new Error(missing);
  const answers = (await built.ok([], { input: `${lines.join("\n")}\n` })).trim().split("\n");
  expect(answers).toHaveLength(lines.length);
  return answers.filter((answer) => answer === "true").length;
}

describe.skipIf(!(built instanceof Peer))(`the reference library for proofs, seed ${SEED}`, () => {
  const { chain } = simulateMarket(SEED, 60);
  const { app } = chain;
  const { lastBlockAppHash: appHash } = app.info();
  const claims = storeNames(app.modules).flatMap((store): Claim[] => [
    ...entriesOf(app, store).map(([key, value]) => ({ store, key, value })),
    ...missingKeys(app, store, { count: 150, seed: SEED }).map((key) => ({ store, key, value: undefined })),
  ]);
  const thereIn = ({ store }: Claim) => entriesOf(app, store)[0]?.[0] ?? appHash;
  const behind = (key: Uint8Array) => Uint8Array.from([...key.subarray(0, 1023), 1]);
  const opsOf = ({ store, key }: Claim) =>
    app.query({ path: `/store/${store}/key`, data: key, height: 0n, prove: true }).proofOps;

  test("sees every key of every store, and that others are missing", async () => {
    expect(claims.length).toBeGreaterThan(2500);
    expect(await shown(claims.map((claim) => line(claim, appHash, opsOf(claim))))).toBe(claims.length);
  });

  test.each<[string, (claim: Claim) => Claim]>([
    ["another value", (claim) => ({ ...claim, value: Uint8Array.from([...(claim.value ?? claim.key), 1]) })],
    // One proof shows that many keys are missing: it must not for existing ones.
    ["another key", (claim) => ({ ...claim, key: claim.value === undefined ? thereIn(claim) : behind(claim.key) })],
    ["the contrary", (claim) => ({ ...claim, value: claim.value === undefined ? Uint8Array.of(1) : undefined })],
    ["another store", (claim) => ({ ...claim, store: claim.store === "bank" ? "auth" : "bank" })],
  ])("does not see %s", async (_, change) => {
    const falseClaims = claims.map((claim) => line(change(claim), appHash, opsOf(claim)));
    expect(await shown(falseClaims)).toBe(0);
  });

  test("sees what was there and what was missing at older heights, keys deleted since among them", async () => {
    const names = ["bank", "gov"];
    const state = StateStore.open(memoryDatabase(), names);
    const hashes: Uint8Array[] = [];
    for (let height = 1; height <= 129; height++) {
      const branch = state.branch();
      branch.store("bank").set(toUtf8("always"), toUtf8(`${height}`));
      branch.store("bank").set(toUtf8(`of ${height}`), toUtf8("1"));
      if (height > 5) branch.store("bank").delete(toUtf8(`of ${height - 5}`));
      state.commit(BigInt(height), state.workingHash(branch));
      hashes.push(state.appHash);
    }
    expect(state.lowestProven).toBe(1n);
    const past = hashes.flatMap((hash, i) =>
      ["always", `of ${i + 1}`, `of ${i - 3}`, `of ${i - 4}`, "never"].map((text) => {
        const { value, ops } = state.prove("bank", toUtf8(text), BigInt(i + 1));
        expect(value === undefined).toBe(
          text === "never" || text === `of ${i - 4}` || (text === `of ${i - 3}` && i < 4),
        );
        return line({ store: "bank", key: toUtf8(text), value }, hash, ops);
      }),
    );
    expect(await shown(past)).toBe(past.length);
  });

  test("does not see anything under another app hash", async () => {
    const other = Uint8Array.from(appHash, (byte) => byte ^ 1);
    expect(await shown(claims.map((claim) => line(claim, other, opsOf(claim))))).toBe(0);
  });

  test("sees that a store without entries, and one with a single one, have no others", async () => {
    const state = StateStore.open(memoryDatabase(), ["empty", "single"]);
    const branch = state.branch();
    branch.store("single").set(toUtf8("only"), toUtf8("1"));
    state.commit(1n, state.workingHash(branch));
    const keys = Array.from({ length: 200 }, (_, n) => toUtf8(`missing ${n}`));
    const lines = ["empty", "single"].flatMap((store) =>
      keys.map((key) => line({ store, key, value: undefined }, state.appHash, state.prove(store, key).ops)),
    );
    expect(await shown(lines)).toBe(lines.length);
  });
});
