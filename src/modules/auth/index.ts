import { type Context, defineModule, type Module } from "../../runtime/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { authGenesis } from "./genesis.ts";
import { AuthKeeper, STORE } from "./keeper.ts";
import { authMsgs } from "./msgs.ts";
import { authQueries } from "./queries.ts";
import { delegatedProblem } from "./vesting/message.ts";
import { scheduleProblem } from "./vesting/schedule.ts";

export { readAccountAny } from "./account-message.ts";
export { AuthKeeper } from "./keeper.ts";
export type { ModuleAccount } from "./module-accounts.ts";
export { type Vesting, vestingAny } from "./vesting/message.ts";
export {
  MAX_VESTING_PERIODS,
  periodicSchedule,
  scheduleProblem,
  type VestingSchedule,
} from "./vesting/schedule.ts";

/** Account of the fees of all transactions. */
export const FEE_COLLECTOR = "fee_collector";

/** Makes the module and its keeper. `blockGas` tells the gas of a block, -1 where there is no limit. */
export function authModule(blockGas: (ctx: Context) => bigint = () => -1n): {
  readonly keeper: AuthKeeper;
  readonly module: Module;
} {
  const keeper = new AuthKeeper();
  const module = defineModule({
    name: "auth",
    msg: authMsgs(keeper, blockGas),
    query: authQueries(keeper),
    genesis: authGenesis(keeper),
    accounts: [{ name: FEE_COLLECTOR, permissions: [] }],
    invariants: {
      accounts: (ctx) => accountsAreWhole(keeper, ctx),
      modules: (ctx) => modulesHaveAccounts(keeper, ctx),
      vesting: (ctx) => vestingIsWhole(keeper, ctx),
    },
  });
  return { keeper, module };
}

/** Every number below the next one belongs to one account, and every vesting account has a schedule; in one walk. */
function accountsAreWhole(keeper: AuthKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  const next = keeper.numbers.peek(store);
  // One byte per number: this covers all accounts, and a set would be a hundred times as large.
  const isGiven = new Uint8Array(Number(next));
  let count = 0n;
  for (const [address, { number, isVesting = false }] of keeper.accounts.iterate(store)) {
    if (number >= next) return `account number ${number} was never assigned`;
    if (isGiven[Number(number)] === 1) return "two accounts have the same number";
    if (isVesting && !keeper.vesting.schedules.has(store, address))
      return `${encodeAddress(address)} has no vesting schedule`;
    isGiven[Number(number)] = 1;
    count += 1n;
  }
  return count === next ? undefined : `${next} numbers were assigned to ${count} accounts`;
}

/** Every module address has a module account, which has no key. */
function modulesHaveAccounts(keeper: AuthKeeper, ctx: Context): string | undefined {
  const missing = keeper.modules.all().find(({ address, name }) => keeper.get(ctx, address)?.module?.name !== name);
  return missing === undefined ? undefined : `module ${missing.name} has no account of its own`;
}

/** Schedules are valid and belong to vesting accounts, and no more is delegated than was locked. */
function vestingIsWhole(keeper: AuthKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  const { schedules, delegated } = keeper.vesting;
  for (const [address, schedule] of schedules.iterate(store)) {
    if (keeper.accounts.get(store, address)?.isVesting !== true)
      return `${encodeAddress(address)} has a vesting schedule and is not a vesting account`;
    const held = delegated.get(store, address) ?? { vesting: [] };
    const problem = scheduleProblem(schedule) ?? delegatedProblem(schedule.original, held.vesting);
    if (problem !== undefined) return `${encodeAddress(address)}: ${problem}`;
  }
  for (const address of delegated.keys(store))
    if (!schedules.has(store, address)) return `${encodeAddress(address)} has delegated coins and no vesting schedule`;
  return undefined;
}
