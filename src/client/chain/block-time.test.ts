import { afterEach, beforeEach, expect, test } from "vitest";
import { NodeDouble, Refusal, statusAnswer } from "../../../test/support/node-double.ts";
import { blockPace, blockSeconds } from "./block-time.ts";
import { ChainClient } from "./chain.ts";

let node: NodeDouble;
let chain: ChainClient;

beforeEach(async () => {
  node = new NodeDouble();
  await node.start();
  chain = new ChainClient(node.address, { chainId: "test-1" });
});

afterEach(async () => {
  chain.close();
  await node.stop();
});

/** A chain up to a height, with a block each second and pauses before some blocks, in seconds. */
function serve(height: number, pauses: Readonly<Record<number, number>> = {}): void {
  const secondsAt = (at: number) =>
    Object.entries(pauses).reduce((sum, [before, seconds]) => sum + (Number(before) <= at ? seconds : 0), at);
  node.methods.status = () => statusAnswer(height);
  node.methods.commit = ({ height: at }) => {
    if (Number(at) < 1 || Number(at) > height) throw new Refusal(`height ${at} is not available, lowest height is 1`);
    const time = new Date(Date.UTC(2026, 0, 1) + secondsAt(Number(at)) * 1000).toISOString();
    return { signed_header: { header: { time } } };
  };
}

test.each([
  [1_000, {}],
  [1_000, { 990: 40 }],
  [1_000, { 905: 600, 950: 7, 985: 86_400 }],
  [12, { 2: 86_400 }],
  [5, { 4: 60 }],
  [3, {}],
])("the pace of %i blocks is a second, whatever the pauses: %j", async (height, pauses) => {
  serve(height, pauses);
  expect(await blockSeconds(chain)).toBe(1);
  expect(node.seen).toHaveLength(2);
});

test("the pace up to a height tells the time of its block", async () => {
  serve(1_000);
  const time = BigInt(Date.UTC(2026, 0, 1) + 500_000) * 1_000_000n;
  expect(await blockPace(chain, 500n)).toEqual({ height: 500n, time, blockNanos: 1_000_000_000n });
});

test.each([1, 2])("a chain of %i blocks counts as one with a block each second", async (height) => {
  serve(height);
  expect(await blockSeconds(chain)).toBe(1);
});

test("a chain of four blocks a second has that pace", async () => {
  serve(100);
  node.methods.commit = ({ height }) => {
    const time = new Date(Date.UTC(2026, 0, 1) + Number(height) * 250).toISOString();
    return { signed_header: { header: { time } } };
  };
  expect(await blockSeconds(chain)).toBe(0.25);
});

test("the refusal of a block is the answer", async () => {
  serve(1_000);
  node.methods.status = () => statusAnswer(2_000);
  await expect(blockPace(chain)).rejects.toThrow(/not available/);
});
