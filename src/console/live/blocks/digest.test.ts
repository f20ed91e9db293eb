import { describe, expect, it } from "vitest";
import type { SubscriptionItem } from "../../../client/rpc/websocket.ts";
import { fromBase64, toBase64 } from "../../../util/index.ts";
import { digestOf, follow, type Item, MAX_TXS } from "./digest.ts";

const HEADER = { chain_id: "chain-1", height: "7", time: "2026-01-01T00:00:00Z", proposer_address: "AB" };
const event = (txs: readonly string[] | null, tx_results: readonly unknown[] | null = []) => ({
  block: { header: HEADER, data: { txs } },
  result_finalize_block: { events: [{ type: "coinbase" }], tx_results },
});

describe("the digest of a block", () => {
  it("has what pages show, and the kinds of its events", () => {
    expect(digestOf(event(["AA==", "AQ=="], [{ code: 5, events: [{ type: "tx" }] }, {}]))).toEqual({
      chainId: "chain-1",
      height: 7n,
      time: "2026-01-01T00:00:00Z",
      proposer: "AB",
      count: 2,
      txs: [
        { bytes: fromBase64("AA=="), action: "", code: 5 },
        { bytes: fromBase64("AQ=="), action: "", code: 0 },
      ],
      changes: new Set(["coinbase", "tx"]),
    });
  });

  it("has the last transactions of many, with their codes", () => {
    const all = Array.from({ length: 100 }, (_, i) => i);
    const { count, txs } = digestOf(
      event(
        all.map((code) => toBase64(new Uint8Array([code]))),
        all.map((code) => ({ code })),
      ),
    );
    expect([count, txs.length]).toEqual([100, MAX_TXS]);
    expect(txs.every(({ bytes, code }) => bytes[0] === code)).toBe(true);
  });

  it("has no transactions where the node tells of none, and no codes where it tells of none", () => {
    expect(digestOf(event(null, null))).toMatchObject({ count: 0, txs: [] });
    expect(digestOf(event(["AA=="], null)).txs).toMatchObject([{ code: undefined }]);
  });

  it.each([
    [undefined],
    [{}],
    [{ block: { header: { ...HEADER, height: "-1" }, data: {} } }],
    [{ block: { header: {}, data: {} } }],
  ])("is not made of %j", (value) => expect(() => digestOf(value)).toThrow(/^the node told of a block without/));
});

describe("the follower of blocks", () => {
  async function* items(...all: readonly SubscriptionItem[]) {
    yield* all;
  }

  function refused(): AsyncIterable<SubscriptionItem> {
    const next = () => Promise.reject(new Error("max_subscription_clients 100 reached"));
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  it("subscribes again where the node has no room, and says why no block comes", async () => {
    const told: Item[] = [];
    const block: SubscriptionItem = { kind: "event", type: "NewBlock", value: event([]) };
    const noBlock: SubscriptionItem = { kind: "event", type: "NewBlock", value: {} };
    const subscriptions = [refused(), items({ kind: "resumed" }, block, noBlock)];
    const subscribe = () => Object.assign(subscriptions.shift() ?? items(), { close: () => {} });
    await follow({ subscribe }, (item) => told.push(item), 1);
    expect(told).toEqual([
      { kind: "lost", reason: "max_subscription_clients 100 reached" },
      { kind: "resumed" },
      { kind: "block", block: digestOf(event([])) },
      { kind: "lost", reason: "the node told of a block without its block" },
    ]);
  });
});
