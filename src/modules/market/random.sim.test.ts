import { describe, expect, it } from "vitest";
import { keyOf, simulateMarket } from "../../../test/support/market-run.ts";
import { sized } from "../../../test/support/runs.ts";
import { closeEverything, marketOperations } from "../../../test/support/simulation/market.ts";
import { moduleAddress } from "../../crypto/index.ts";
import type { TestChain } from "../../testing/index.ts";
import { toHex } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";

/** Number of blocks in which everything happens. */
const ENOUGH = 250;
/** A run with a given seed repeats with `MARKET_SIM_SEED`; further runs take the seeds behind it. */
const RUNS = Number(process.env.MARKET_SIM_RUNS ?? 1);
const BLOCKS = Number(process.env.MARKET_SIM_BLOCKS ?? sized(100, ENOUGH));
const SEED = Number(process.env.MARKET_SIM_SEED ?? 4711);
/** A seed with which everything happens within that number of blocks; a bid is seldom outbid. */
const WHOLE_SEED = 4711;
const SEEDS = new Set([WHOLE_SEED, ...Array.from({ length: RUNS }, (_, i) => SEED + i)]);

/** Closes everything open and returns the total of all users' balances. */
function closeAll(chain: TestChain): bigint {
  const keys = new Map([...chain.keys.values()].map((key) => [key.address, key]));
  for (const { signer, message } of closeEverything({ query: chain.query.bind(chain) })) {
    chain.mustSend(message, { from: keyOf(keys, signer) });
  }
  return [...chain.keys.values()].reduce((sum, { address }) => sum + chain.balance(address), 0n);
}

describe("random tenants and providers", () => {
  it.each([...SEEDS])("never break an invariant, and everybody gets everything back, seed %d", (seed) => {
    console.log(`market simulation: seed ${seed}, ${BLOCKS} blocks`);
    const { chain, outcomes, actions, reasons } = simulateMarket(seed, BLOCKS);
    const total = BigInt(chain.keys.size) * 10n ** 12n;
    expect(closeAll(chain)).toBe(total);
    expect(chain.balance(encodeAddress(moduleAddress("escrow")))).toBe(0n);
    if (process.env.MARKET_SIM_VERBOSE !== undefined) console.log(outcomes, actions);
    if (BLOCKS < ENOUGH || seed !== WHOLE_SEED) return;
    const undone = marketOperations.filter(({ name }) => !outcomes.has(`${name}: done`)).map(({ name }) => name);
    expect(undone).toEqual([]);
    const wanted = [
      "deployment-low-balance",
      "group-insufficient-funds",
      "bid-lost",
      "lease-withdrawn",
      "deployment-pruned",
    ];
    expect(wanted.filter((action) => !actions.has(action))).toEqual([]);
    expect(reasons.get("outbid")).toBeGreaterThan(0);
  });

  it("come to the same state from the same seed", () => {
    const hash = () => toHex(simulateMarket(SEED + 1, 25).chain.app.info().lastBlockAppHash);
    expect(hash()).toBe(hash());
  });
});
