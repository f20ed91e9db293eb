import { defineModule, type Module } from "../../runtime/index.ts";
import { stakingGenesis } from "./genesis.ts";
import { stakingInvariants } from "./invariants.ts";
import { BONDED_POOL, NOT_BONDED_POOL, type StakingBank, type StakingHooks, StakingKeeper } from "./keeper.ts";
import { stakingMsgs } from "./msgs.ts";
import { stakingQueries } from "./queries.ts";
import { endBlock, lastVoters, trackHistory, updateVoters } from "./valset.ts";

export { timeMessage } from "./entries.ts";
export type { BondedValidator, StakingHooks } from "./keeper.ts";
export { checkOperator } from "./msgs.ts";
export { type Infraction, slash } from "./slash.ts";
export { consensusAddressOf, consensusKeyOf, powerOf, tokensForShares, tokensForSharesTruncated } from "./validator.ts";

/** Makes the module and its keeper. The hooks of the listeners run in order. */
export function stakingModule(
  bank: StakingBank,
  listeners: readonly Partial<StakingHooks>[] = [],
): { readonly keeper: StakingKeeper; readonly module: Module } {
  const keeper = new StakingKeeper(bank, listeners);
  const module = defineModule({
    name: "staking",
    msg: stakingMsgs(keeper),
    query: stakingQueries(keeper),
    genesis: stakingGenesis(keeper),
    genesisVoters: (ctx) => {
      // Transactions of genesis may have made validators since the import.
      updateVoters(keeper, ctx);
      return lastVoters(keeper, ctx);
    },
    accounts: [
      { name: BONDED_POOL, permissions: ["burner", "staking"] },
      { name: NOT_BONDED_POOL, permissions: ["burner", "staking"] },
    ],
    beginBlock: (ctx) => trackHistory(keeper, ctx),
    endBlock: (ctx) => {
      const validators = endBlock(keeper, ctx);
      return validators.length === 0 ? undefined : { validators };
    },
    vital: ["endBlock"],
    invariants: stakingInvariants(keeper),
  });
  return { keeper, module };
}
