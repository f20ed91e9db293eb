import type { AuthKeeper } from "../modules/auth/index.ts";
import type { Accounts, Bank } from "../modules/bank/index.ts";
import type { ConsensusKeeper } from "../modules/consensus/index.ts";
import type { ParameterSet } from "../modules/gov/index.ts";
import type { UpgradeKeeper } from "../modules/upgrade/index.ts";
import type { VestingAccounts, VestingBank } from "../modules/vesting/index.ts";
import type { AnteOptions, MessageService, Module } from "../runtime/index.ts";
import type { AccountOf } from "./touched.ts";

/** Modules in the order of genesis and of begin-block, with their parts of the transaction checks. */
export interface ModuleSet {
  readonly modules: readonly Module[];
  /** The order of end-block; that of `modules` unless given. */
  readonly endBlockers?: readonly Module[];
  readonly consensus: ConsensusKeeper;
  readonly upgrade: UpgradeKeeper;
  readonly ante: Omit<AnteOptions, "minGasPrices" | "maxBlockGas">;
  /** By the name of the store: the accounts whose checks by `ante` depend on a key of it. */
  readonly accountsOf: Readonly<Record<string, AccountOf>>;
}

/** Names of the stores of modules. */
export function storeNames(modules: readonly Module[]): string[] {
  return modules.flatMap(({ name, store }) => (store === undefined ? [name] : []));
}

/** Accounts, coins and message routing for all other modules. */
export interface BaseKeepers {
  readonly auth: Accounts & VestingAccounts & Pick<AuthKeeper, "storeCosts">;
  readonly bank: Bank & VestingBank;
  readonly messages: MessageService;
  readonly consensus: ConsensusKeeper;
  /** The parameters of a module by its name. */
  readonly parameters: (module: string) => ParameterSet | undefined;
}
