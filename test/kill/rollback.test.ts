import { afterAll, describe, expect, it } from "vitest";
import { Fixture, pause, runSvc, seedFrom, startNode, type TestNode, waitFor } from "../support/index.ts";
import { auditChain } from "./audit.ts";

const ROUNDS = Number(process.env.SVC_TEST_ROLLBACK_KILLS ?? 4);
const BLOCK_MS = 150;
/** Longer than a rollback takes on an idle machine: some are killed, some finish. */
const LONGEST_MS = 900;

/** Blocks that were rolled back are made again. */
async function untilHeight(node: TestNode, height: bigint): Promise<void> {
  const client = node.client();
  const isThere = async () => (await client.node.status()).latestHeight >= height;
  await waitFor(isThere, `block ${height}`).finally(() => client.close());
}

const fixture = new Fixture();
afterAll(() => fixture.close());

describe(`a rollback killed ${ROUNDS} times`, { timeout: 60_000 + ROUNDS * 40_000 }, () => {
  it("has taken the whole block back, or nothing of it", async () => {
    const rng = seedFrom("SVC_TEST_SEED");
    const node = await startNode(fixture, { chainId: "svc-back-1", blockIntervalMs: BLOCK_MS });
    let done = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await pause(rng.between(BLOCK_MS, BLOCK_MS * 6));
      await node.process.kill();
      const { height: before } = auditChain(node.home);
      const args = ["rollback", "--home", node.home, ...(rng.next() < 0.5 ? ["--hard"] : [])];
      await runSvc(args, { timeoutMs: Math.ceil(rng.between(1, LONGEST_MS)) });
      const { height: after } = auditChain(node.home);
      expect([before, before - 1n]).toContain(after);
      if (after < before) done += 1;
      expect(await node.start()).toBeGreaterThanOrEqual(after);
      await untilHeight(node, before);
      await node.process.stop();
      expect(auditChain(node.home).height).toBeGreaterThanOrEqual(before);
      await node.start();
    }
    expect(await node.process.stop()).toBe(0);
    console.log(`${ROUNDS} rollbacks, ${done} of them done when they were killed or ended`);
  });
});
