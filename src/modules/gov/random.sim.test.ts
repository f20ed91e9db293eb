import { describe, expect, it } from "vitest";
import { sized } from "../../../test/support/runs.ts";
import { govOperations } from "../../../test/support/simulation/gov.ts";
import { pickOperation, simRandom } from "../../../test/support/simulation/operation.ts";
import { stakeOperations } from "../../../test/support/simulation/stake.ts";
import { type TestChain, testChain } from "../../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../../util/index.ts";

/** In which everything happens, whatever the seed: a proposal that fails is in every other run. */
const ENOUGH = { runs: 8, blocks: 150 };
/** A run with a given seed repeats with `GOV_SIM_SEED`; further runs take the seeds behind it. */
const RUNS = Number(process.env.GOV_SIM_RUNS ?? sized(1, ENOUGH.runs));
const BLOCKS = Number(process.env.GOV_SIM_BLOCKS ?? ENOUGH.blocks);
const SEED = Number(process.env.GOV_SIM_SEED ?? 4711);

const OPERATORS = ["o1", "o2", "o3"];
const HOLDERS = [...OPERATORS, "alice", "bob", "carol", "dave"];

/** Periods of some blocks. */
function govChain(): TestChain {
  const coins = (amount: string) => [{ denom: NATIVE_DENOM, amount }];
  return testChain({
    accounts: HOLDERS,
    coins: { [NATIVE_DENOM]: 10n ** 12n, uother: 10n ** 9n },
    genesis: {
      staking: {
        params: {
          ...{ unbonding_time: "60s", max_validators: 2, max_entries: 3, historical_entries: 0 },
          ...{ bond_denom: NATIVE_DENOM, min_commission_rate: "0" },
        },
      },
      gov: {
        starting_proposal_id: "1",
        params: {
          ...{ min_deposit: coins("10000000"), expedited_min_deposit: coins("50000000"), max_deposit_period: "30s" },
          ...{ voting_period: "30s", expedited_voting_period: "12s", quorum: "0.334", threshold: "0.5" },
          ...{ expedited_threshold: "0.667", veto_threshold: "0.334", min_initial_deposit_ratio: "0.005" },
          ...{ proposal_cancel_ratio: "0.333", burn_vote_veto: true, min_deposit_ratio: "0.01" },
        },
      },
    },
  });
}

/** All invariants are checked behind every block. Returns how often each operation came out how. */
function simulate(chain: TestChain, seed: number, blocks: number): Map<string, number> {
  const random = simRandom(seed);
  const outcomes = new Map<string, number>();
  const count = (name: string) => outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  const keys = (names: readonly string[]) => names.map((name) => chain.key(name));
  const sim = { random, operators: keys(OPERATORS), holders: keys(HOLDERS), height: () => chain.height };
  const query = chain.query.bind(chain);
  for (let block = 0; block < blocks; block++) {
    const names: string[] = [];
    const txs: Uint8Array[] = [];
    for (const from of sim.holders.filter(() => random.int(2) === 0)) {
      const operation = pickOperation(random.int(3) === 0 ? stakeOperations : govOperations, random);
      const action = operation?.build({ ...sim, query, sender: from });
      if (operation === undefined || action === undefined) continue;
      txs.push(chain.sign(action.message, { from, gas: 1_000_000n, fee: [{ denom: NATIVE_DENOM, amount: 9999n }] }));
      names.push(operation.name);
    }
    chain.block(txs).forEach(({ code, codespace }, i) => {
      count(`${names[i]}: ${code === 0 ? "done" : `${codespace}/${code}`}`);
    });
    for (const { type, attributes } of chain.blockEvents) {
      if (type === "inactive_proposal" || type === "active_proposal") count(attributes[1]?.value ?? "");
      expect(type).not.toBe("block_item_failed");
    }
  }
  return outcomes;
}

const ENDS = ["passed", "rejected", "failed", "dropped"].map((end) => `proposal_${end}`);

describe("random proposals, deposits and votes", () => {
  const seen = new Set<string>();

  it.each(Array.from({ length: RUNS }, (_, i) => SEED + i))(
    "never break an invariant, and the state comes back as it was, seed %d",
    (seed) => {
      console.log(`gov simulation: seed ${seed}, ${BLOCKS} blocks`);
      const chain = govChain();
      const outcomes = simulate(chain, seed, BLOCKS);
      if (process.env.GOV_SIM_VERBOSE !== undefined) console.log(outcomes);
      chain.exportTwice();
      for (const outcome of outcomes.keys()) seen.add(outcome);
    },
  );

  if (RUNS >= ENOUGH.runs && BLOCKS >= ENOUGH.blocks)
    it("do everything that can be done, in one run or another", () => {
      const undone = govOperations.filter(({ name }) => !seen.has(`${name}: done`)).map(({ name }) => name);
      expect(undone).toEqual([]);
      expect([...ENDS, "expedited_proposal_rejected"].filter((end) => !seen.has(end))).toEqual([]);
    });

  it("come to the same state from the same seed", () => {
    const hash = (): string => {
      const chain = govChain();
      simulate(chain, SEED + 1, 25);
      return toHex(chain.app.info().lastBlockAppHash);
    };
    expect(hash()).toBe(hash());
  });
});
