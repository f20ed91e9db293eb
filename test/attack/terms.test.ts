import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { txHash } from "../../src/wire/index.ts";
import { waitFor } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { multiSends, sends, strangerAddress, unlimitedGas } from "./lib/large.ts";
import { besiege } from "./lib/siege.ts";

const SENDERS = Array.from({ length: 40 }, (_, i) => `sender ${i}`);
const GAS = 10n ** 9n;
/** Transactions of fifty transfers that each sends; the lab sends all 20,000 transfers that ended the process. */
const TXS_EACH = process.env.SVC_TEST_ATTACK_MS === undefined ? 1 : 10;
const TRANSFERS = SENDERS.length * TXS_EACH * 50;
/** What the index had to take of one block when it ended the process. */
const TERMS = 125_000;

/** Blocks of this size take seconds each, and what was paid stays: tens of thousands of accounts. */
const LIMITS = { blockShare: 0.005, stateMiB: 400, atLeastMs: 0 };

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start({ names: ["mallory", "alice", ...SENDERS], editGenesis: unlimitedGas });
});
afterAll(() => node?.close());

/** Sends all at once, and waits until all are found under their hashes; how many terms they have in the index. */
async function deliverAll(txs: readonly Uint8Array[]): Promise<number> {
  for (const tx of txs) expect(await node.client.node.broadcast(tx, "sync")).toMatchObject({ code: 0 });
  let terms = 0;
  for (const tx of txs) {
    const found = await waitFor(() => node.client.node.tx(txHash(tx)), "a transaction in its block");
    expect(found.code, found.log).toBe(0);
    for (const { attributes } of found.events) terms += attributes.length;
  }
  return terms;
}

describe("a block with more terms than a call takes arguments", () => {
  it("of eight transactions that pay 56,000 strangers is made and found", async () => {
    const signed = SENDERS.slice(0, 8).map((name, i) =>
      node.sign(name, multiSends(node.key(name).address, { first: i * 7_000, count: 7_000 }), { gas: GAS }),
    );
    let terms = 0;
    await besiege(node, async () => (terms += await deliverAll(signed)), LIMITS);
    expect(terms).toBeGreaterThan(TERMS);
    const found = await node.client.node.txSearch(`transfer.recipient='${strangerAddress(55_999)}'`);
    expect(found.total).toBe(1n);
  });

  it(`of ${TRANSFERS} ordinary transfers between distinct accounts is made and found`, async () => {
    const signed = SENDERS.flatMap((name, i) =>
      Array.from({ length: TXS_EACH }, (_, j) => {
        const first = 100_000 + (i * TXS_EACH + j) * 50;
        return node.sign(name, sends(node.key(name).address, { first, count: 50 }), { gas: GAS });
      }),
    );
    await besiege(node, () => deliverAll(signed), LIMITS);
    const found = await node.client.node.txSearch(`transfer.recipient='${strangerAddress(100_000 + TRANSFERS - 1)}'`);
    expect(found.total).toBe(1n);
  });
});
