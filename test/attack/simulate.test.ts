import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedNode } from "./lib/attacked-node.ts";
import { besiege } from "./lib/siege.ts";
import { pausedAndStarted, simulateCall } from "./lib/simulation.ts";
import { ask } from "./lib/sockets.ts";

/** Simulations that are asked for at the same time, each on its own connection. */
const SIDE_BY_SIDE = 8;
/** Simulations have a tenth of the weight of the thread that makes blocks. */
const LIMITS = { blockShare: 0.4 };

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start();
});
afterAll(() => node?.close());

function manyAtOnce(call: string): Promise<unknown> {
  return Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => ask(node.door, "/", call)));
}

describe("strangers who have messages run in somebody's name", () => {
  it.each([
    { bytes: 89_000, refusal: "more than 4096 items of field endpoints" },
    { bytes: 15_000, refusal: "a simulation takes at most 256 messages, not 601" },
  ])("stop no block with a spec of $bytes bytes and 300 pairs of pause and start", async ({ bytes, refusal }) => {
    const call = simulateCall(node.key("alice"), pausedAndStarted(node.key("alice").address, { bytes, pairs: 300 }));
    const { text } = await ask(node.door, "/", call);
    expect(text).toContain(refusal);
    await besiege(node, () => manyAtOnce(call), LIMITS);
  });

  it.each([89_000, 15_000, 1_000])(
    "stop no block with as many messages as are run, on a spec of %i bytes",
    async (bytes) => {
      const call = simulateCall(node.key("alice"), pausedAndStarted(node.key("alice").address, { bytes, pairs: 127 }));
      await besiege(node, () => manyAtOnce(call), LIMITS);
    },
  );
});
