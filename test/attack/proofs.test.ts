import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { standardModules, storeNames } from "../../src/app/index.ts";
import { provenValue } from "../../src/client/index.ts";
import { addressKey, encodeKey, stringKey, tupleKey } from "../../src/store/index.ts";
import { fromHex, fromUtf8, NATIVE_DENOM } from "../../src/util/index.ts";
import { decodeAddress } from "../../src/wire/index.ts";
import { waitFor } from "../support/index.ts";
import { simRandom } from "../support/simulation/operation.ts";
import { AttackedNode, FUNDS } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { ask, callText } from "./lib/sockets.ts";

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const STORES = storeNames(standardModules().modules);
const PARAMS = Uint8Array.of(0);
/** First byte of the balances of module bank. */
const BALANCES = 1;

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start();
  // Height 0 would ask for the latest state.
  await waitFor(async () => (await node.height()) > 2n, "some blocks");
});
afterAll(() => node?.close());

const proofOf = (data: string, store = "bank") =>
  callText("abci_query", { path: `/store/${store}/key`, data, prove: true });

/** A height that has a header behind it, and the hash of its state, which that header holds. */
async function trusted(): Promise<{ readonly height: bigint; readonly appHash: Uint8Array }> {
  const height = (await node.height()) - 1n;
  const commit = (await node.client.rpc.call("commit", { height: `${height + 1n}` })) as {
    readonly signed_header: { readonly header: { readonly app_hash: string } };
  };
  return { height, appHash: fromHex(commit.signed_header.header.app_hash) };
}

describe(`a node that has to prove what it says, seed ${SEED}`, () => {
  it("shows what an account has, and that a stranger has nothing; another hash shows neither", async () => {
    const { address } = node.key("mallory");
    const at = await trusted();
    const keyOf = (who: Uint8Array) =>
      Uint8Array.from([BALANCES, ...encodeKey(tupleKey(addressKey, stringKey), [who, NATIVE_DENOM])]);
    const shown = (who: Uint8Array, appHash = at.appHash) =>
      provenValue(node.client, { ...at, appHash, store: "bank", key: keyOf(who) });
    expect(fromUtf8((await shown(decodeAddress(address))) ?? new Uint8Array(0))).toBe(FUNDS.toString());
    expect(await shown(new Uint8Array(20).fill(9))).toBeUndefined();
    await expect(shown(decodeAddress(address), new Uint8Array(32).fill(1))).rejects.toThrow();
  });

  it.each(STORES)("proves of the store %s what is there and any keys that are not", async (store) => {
    const random = simRandom(SEED);
    const at = await trusted();
    for (const length of [1, 2, 21, 32, 1024]) {
      const key = Uint8Array.from({ length }, () => 128 + random.int(128));
      expect(await provenValue(node.client, { ...at, store, key })).toBeUndefined();
    }
    const params = await provenValue(node.client, { ...at, store, key: PARAMS });
    if (params !== undefined) expect(params.length).toBeGreaterThan(0);
  });

  it.each([
    ["an empty key", ""],
    ["a key of a byte too many", "ff".repeat(1025)],
    ["a key of 400 kB", "ff".repeat(400_000)],
    ["half a byte", "f"],
    ["no hexadecimal", "zz"],
  ])("refuses %s", async (_, data) => {
    const { text } = await ask(node.door, "/", proofOf(data));
    expect(text).toMatch(/"error":|"code":[1-9]/);
  });

  it("keeps no block waiting, nor others, for proofs of many keys", async () => {
    const random = simRandom(SEED);
    const any = () => Buffer.from(Array.from({ length: 64 }, () => random.int(256))).toString("hex");
    await besiege(node, () => Promise.all(Array.from({ length: 50 }, () => ask(node.door, "/", proofOf(any())))));
  });
});
