import { describe, expect, it } from "vitest";
import { consensusKey } from "../../../test/support/chain/index.ts";
import { sized } from "../../../test/support/runs.ts";
import { pickOperation, type SimRandom, simRandom } from "../../../test/support/simulation/operation.ts";
import { stakeOperations } from "../../../test/support/simulation/stake.ts";
import type { Misbehavior } from "../../abci/index.ts";
import { consensusAddress } from "../../crypto/index.ts";
import { type TestChain, testChain, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../../util/index.ts";

/** Number of blocks in which everything happens. */
const ENOUGH = 250;
/** A run with a given seed repeats with `STAKE_SIM_SEED`; further runs take the seeds behind it. */
const RUNS = Number(process.env.STAKE_SIM_RUNS ?? 1);
const BLOCKS = Number(process.env.STAKE_SIM_BLOCKS ?? sized(100, ENOUGH));
const SEED = Number(process.env.STAKE_SIM_SEED ?? 811);

const OPERATORS = ["o1", "o2", "o3", "o4", "o5"];
/** Holders some or all of whose coins are locked: evenly freed, in periods, at one time and never. */
const LOCKED = ["even", "steps", "late", "never"];
const DELEGATORS = ["alice", "bob", "carol", "dave", ...LOCKED];

/** Everything is short: three validators, a minute of unbonding, a window of ten blocks, large penalties. */
function stakeChain(): TestChain {
  const none = "0.000000000000000000";
  return testChain({
    accounts: [...OPERATORS, ...DELEGATORS],
    genesis: {
      auth: { accounts: lockedAccounts() },
      staking: {
        params: {
          ...{ unbonding_time: "60s", max_validators: 3, max_entries: 2, historical_entries: 0 },
          ...{ bond_denom: NATIVE_DENOM, min_commission_rate: none },
        },
      },
      slashing: {
        params: {
          ...{ signed_blocks_window: "10", min_signed_per_window: "0.5", downtime_jail_duration: "30s" },
          ...{ slash_fraction_double_sign: "0.333333333333333333", slash_fraction_downtime: "0.0123456789" },
        },
      },
      mint: {
        minter: { inflation: "0.13", annual_provisions: "0" },
        params: {
          ...{ mint_denom: NATIVE_DENOM, inflation_rate_change: "0.13", inflation_max: "0.2", inflation_min: "0.07" },
          ...{ goal_bonded: "0.67", blocks_per_year: "6311520" },
        },
      },
    },
  });
}

/** Accounts with nearly all their coins locked; the times are within a run. */
function lockedAccounts(): object[] {
  const start = 1_735_689_700n;
  const amount = [{ denom: NATIVE_DENOM, amount: `${10n ** 12n - 10n ** 6n}` }];
  const kinds = [
    ["ContinuousVestingAccount", 900n, { start_time: `${start}` }],
    ["PeriodicVestingAccount", 700n, { start_time: `${start}`, vesting_periods: [{ length: "700", amount }] }],
    ["DelayedVestingAccount", 500n, {}],
    ["PermanentLockedAccount", -start, {}],
  ] as const;
  return kinds.map(([kind, length, rest], i) => ({
    "@type": `/sdk.vesting.v1beta1.${kind}`,
    base_vesting_account: {
      base_account: { address: testKey(LOCKED[i] ?? "").address },
      original_vesting: amount,
      end_time: `${start + length}`,
    },
    ...rest,
  }));
}

/** All invariants are checked behind every block. Returns how often each operation came out how. */
function simulate(chain: TestChain, seed: number, blocks: number): Map<string, number> {
  const random = simRandom(seed);
  const outcomes = new Map<string, number>();
  const keys = (names: readonly string[]) => names.map((name) => chain.key(name));
  const [operators, holders] = [keys(OPERATORS), keys([...OPERATORS, ...DELEGATORS])];
  const query = chain.query.bind(chain);
  const sim = { random, operators, holders, query, height: () => chain.height };
  for (let block = 0; block < blocks; block++) {
    const names: string[] = [];
    const txs: Uint8Array[] = [];
    for (const from of sim.holders.filter(() => random.int(3) === 0)) {
      const operation = pickOperation(stakeOperations, random);
      const action = operation?.build({ ...sim, sender: from });
      if (operation === undefined || action === undefined) continue;
      const fee = [{ denom: NATIVE_DENOM, amount: BigInt(1 + random.int(5000)) }];
      txs.push(chain.sign(action.message, { from, fee }));
      names.push(operation.name);
    }
    if (random.int(6) === 0) toggleAbsence(chain, random);
    const results = chain.block(txs, random.int(60) === 0 ? [doubleSign(chain, random)] : []);
    results.forEach(({ code, codespace }, i) => {
      const outcome = `${names[i]}: ${code === 0 ? "done" : `${codespace}/${code}`}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    });
    for (const { type } of chain.blockEvents) outcomes.set(type, (outcomes.get(type) ?? 0) + 1);
  }
  return outcomes;
}

function toggleAbsence(chain: TestChain, random: SimRandom): void {
  const id = toHex(consensusKey(OPERATORS[random.int(OPERATORS.length)] ?? ""));
  if (!chain.voters.absent.delete(id)) chain.voters.absent.add(id);
}

function doubleSign(chain: TestChain, random: SimRandom): Misbehavior {
  const address = consensusAddress(consensusKey(OPERATORS[random.int(OPERATORS.length)] ?? ""));
  const height = chain.height - BigInt(random.int(5));
  return {
    kind: "duplicateVote",
    validator: { address, power: BigInt(1 + random.int(500)) },
    height: height < 1n ? 1n : height,
    time: chain.time,
    totalVotingPower: 1_000n,
  };
}

describe("random holders and operators", () => {
  it.each(Array.from({ length: RUNS }, (_, i) => SEED + i))(
    "never break an invariant, and the state comes back as it was, seed %d",
    (seed) => {
      console.log(`stake simulation: seed ${seed}, ${BLOCKS} blocks`);
      const chain = stakeChain();
      const outcomes = simulate(chain, seed, BLOCKS);
      if (process.env.STAKE_SIM_VERBOSE !== undefined) console.log(outcomes);
      chain.exportTwice();
      if (BLOCKS < ENOUGH) return;
      const undone = stakeOperations.filter(({ name }) => !outcomes.has(`${name}: done`)).map(({ name }) => name);
      expect(undone).toEqual([]);
      const wanted = ["slash", "liveness", "complete_unbonding", "complete_redelegation", "rewards"];
      expect(wanted.filter((type) => !outcomes.has(type))).toEqual([]);
    },
  );

  it("come to the same state from the same seed", () => {
    const hash = (): string => {
      const chain = stakeChain();
      simulate(chain, SEED + 1, 25);
      return toHex(chain.app.info().lastBlockAppHash);
    };
    expect(hash()).toBe(hash());
  });
});
