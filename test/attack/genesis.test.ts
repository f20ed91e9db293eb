import { afterAll, expect, it } from "vitest";
import { balanceOf } from "../support/index.ts";
import { AttackedNode, FUNDS } from "./lib/attacked-node.ts";
import { addStrangers } from "./lib/genesis.ts";
import { strangerAddress } from "./lib/large.ts";
import { highestMiB } from "./lib/memory.ts";

/** More than a call takes arguments; `npm run lab` begins with a million. */
const ACCOUNTS = Number(process.env.SVC_TEST_GENESIS_ACCOUNTS ?? 130_000);
/** A million accounts within 2 GiB; the smaller run has the same share for each, beside what any node takes. */
const LIMIT_MIB = 400 + Math.ceil(ACCOUNTS * 0.0016);
const FIRST_BLOCK_WITHIN_MS = 120_000 + ACCOUNTS;

let node: AttackedNode | undefined;
afterAll(() => node?.close());

it(`a genesis of ${ACCOUNTS} accounts begins a chain within ${LIMIT_MIB} MiB`, {
  timeout: 2 * FIRST_BLOCK_WITHIN_MS,
}, async () => {
  const began = performance.now();
  node = await AttackedNode.start({
    editGenesis: (genesis) => addStrangers(genesis, ACCOUNTS),
    checkInvariants: false,
    firstBlockWithinMs: FIRST_BLOCK_WITHIN_MS,
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  const highest = highestMiB(node.pid);
  console.log(`${ACCOUNTS} accounts: the first block after ${seconds} s, ${highest} MiB at most`);
  expect(highest).toBeLessThan(LIMIT_MIB);
  expect(await node.balances()).toEqual([FUNDS, FUNDS]);
  expect(await balanceOf(node.client, strangerAddress(ACCOUNTS - 1))).toBe(1_000_000n);
  // The same file again: its hash is the chain's.
  expect(await node.node.process.stop()).toBe(0);
  const height = await node.node.start();
  expect(height).toBeGreaterThan(0n);
});
