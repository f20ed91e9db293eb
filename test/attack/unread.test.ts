import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pause } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";
import { unlimitedGas } from "./lib/large.ts";
import { pageCall, payMany } from "./lib/pages.ts";
import { besiege } from "./lib/siege.ts";
import { ask, deafSocket, postText } from "./lib/sockets.ts";

const SENDERS = ["sender 0", "sender 1"];
const PAGE = postText(pageCall(2));

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start({ names: ["mallory", "alice", ...SENDERS], editGenesis: unlimitedGas });
  await payMany(node, SENDERS);
});
afterAll(() => node?.close());

/** Memory that a node may keep: the C library gives some of it back late. */
const LIMITS = { memoryShare: 3 };

describe("clients that ask for large pages and never read", () => {
  // More than the slow requests that may wait, and than the answers that are held.
  it.each([
    [15, 0.25],
    [150, 0.15],
  ])("hold back no block and nobody else with %i sockets", async (count, blockShare) => {
    const answer = await ask(node.door, "/", pageCall(2));
    expect(answer.bytes).toBeGreaterThan(5_000_000);
    await besiege(
      node,
      async () => {
        const sockets = Array.from({ length: count }, () => deafSocket(node.door, PAGE));
        await pause(3_000);
        for (const socket of sockets) socket.destroy();
      },
      { ...LIMITS, blockShare },
    );
  });
});
