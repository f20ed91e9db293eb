import { readFileSync, writeFileSync } from "node:fs";
import { homePaths } from "../../src/node/index.ts";
import { type TestKey, testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";

const BALANCE = "1000000000000";

export function loadKeys(count: number): TestKey[] {
  return Array.from({ length: count }, (_, i) => testKey(`load ${i}`));
}

/** Gives accounts a balance in the genesis file of a home; far quicker for thousands than one at a time. */
export function fundAccounts(home: string, addresses: readonly string[]): void {
  const { genesis } = homePaths(home);
  const json: Genesis = JSON.parse(readFileSync(genesis, "utf8"));
  const balances = addresses.map((address) => ({ address, coins: [{ denom: NATIVE_DENOM, amount: BALANCE }] }));
  const bank = { ...json.app_state.bank, balances, supply: [] };
  writeFileSync(genesis, JSON.stringify({ ...json, app_state: { ...json.app_state, bank } }));
}

interface Genesis {
  readonly app_state: Readonly<Record<string, object>>;
}

/** Lifts the limit on the gas of a block, in the genesis file of a home. */
export function liftGasLimit(home: string): void {
  const { genesis } = homePaths(home);
  const json = JSON.parse(readFileSync(genesis, "utf8"));
  json.consensus_params.block.max_gas = "-1";
  writeFileSync(genesis, JSON.stringify(json));
}
