import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPeer, Peer } from "./peers.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** The built `svc`, in processes of its own, as a client of a chain of the newer reference tool. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, chains of it are not tested: ${missing}`,
  () => expect(missing).toBe(""),
);

describe.skipIf(!(built instanceof Peer))("a chain of the reference tool", () => {
  let chain: SimdChain;

  beforeAll(async () => {
    if (built instanceof Peer) chain = await startSimdChain(built, { accounts: ["alice", "bob", "carol"] });
  });
  afterAll(() => chain?.stop());

  test("transfers are sent, and told by both in the same words", async () => {
    const sent = await chain.svcTx("bank", "send", "alice", chain.address("bob"), "7stake");
    expect(sent.code).toBe(0);
    const balances = await chain.query("bank", "balances", chain.address("bob"));
    expect((await chain.svcQuery("bank", "balances", chain.address("bob"))).balances).toEqual(balances.balances);
    expect(await chain.query("tx", sent.txhash)).toMatchObject({ code: 0, height: sent.height });
  });
});
