import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { txHash } from "../../src/wire/index.ts";
import { waitFor } from "../support/index.ts";
import { atNight } from "../support/runs.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { multiSends, sends, strangerAddress, unlimitedGas } from "./lib/large.ts";
import { besiege } from "./lib/siege.ts";

const SENDERS = Array.from({ length: 40 }, (_, i) => `sender ${i}`);
const GAS = 10n ** 9n;
/** Transactions of fifty transfers that each sends; the lab sends all 20,000 transfers that ended the process. */
const TXS_EACH = process.env.SVC_TEST_ATTACK_MS === undefined ? 1 : 10;
const TRANSFERS = SENDERS.length * TXS_EACH * 50;
/** Terms of one block that once ended the process. */
const TERMS = 125_000;
/** Long enough for eight large transactions to be in the mempool together, so that one block has them all. */
const BLOCK_INTERVAL_MS = 5_000;
const STRANGERS = 72_000;
/** The block without a limit of gas takes seconds; on a busy machine many times as long. */
const BLOCK_TIMEOUT_MS = 240_000;

/**
 * Blocks of this size take seconds each, on a chain whose genesis sets no limit of gas. Node.js and LMDB keep the memory of the largest
 * block for the next one.
 */
const LIMITS = { blockShare: 0.005, stateMiB: 1_024, peakMiB: 1_024, atLeastMs: 0 };

let node: AttackedNode;
beforeAll(async () => {
  const names = ["mallory", "alice", ...SENDERS];
  node = await AttackedNode.start({ names, editGenesis: unlimitedGas, blockIntervalMs: BLOCK_INTERVAL_MS });
});
afterAll(() => node?.close());

/** Sends all right after a block, and waits until all are found by hash; returns the most index terms of one block. */
async function deliverAll(txs: readonly Uint8Array[]): Promise<number> {
  const height = await node.height();
  await waitFor(async () => (await node.height()) > height, "the next block");
  for (const tx of txs) expect(await node.client.node.broadcast(tx, "sync")).toMatchObject({ code: 0 });
  const terms = new Map<bigint, Set<string>>();
  for (const tx of txs) {
    const found = await waitFor(() => node.client.node.tx(txHash(tx)), "a transaction in its block", {
      timeoutMs: BLOCK_TIMEOUT_MS,
    });
    expect(found.code, found.log).toBe(0);
    const ofBlock = terms.get(found.height) ?? new Set();
    terms.set(found.height, ofBlock);
    for (const { type, attributes } of found.events)
      for (const { key, value } of attributes) ofBlock.add(`${type}.${key}=${value}`);
  }
  return Math.max(...[...terms.values()].map(({ size }) => size));
}

describe("a block with more terms than a call takes arguments", () => {
  atNight(() =>
    it(`of eight transactions that pay ${STRANGERS} strangers is made and found`, async () => {
      const count = STRANGERS / 8;
      const signed = SENDERS.slice(0, 8).map((name, i) =>
        node.sign(name, multiSends(node.key(name).address, { first: i * count, count }), { gas: GAS }),
      );
      let terms = 0;
      await besiege(
        node,
        async () => {
          terms = await deliverAll(signed);
        },
        LIMITS,
      );
      expect(terms).toBeGreaterThan(TERMS);
      const found = await node.client.node.txSearch(`transfer.recipient='${strangerAddress(STRANGERS - 1)}'`);
      expect(found.total).toBe(1n);
    }),
  );

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
