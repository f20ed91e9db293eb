import { defineModule, type Module } from "../../runtime/index.ts";
import type { StakingHooks } from "../staking/index.ts";
import { beginBlock } from "./allocation.ts";
import { distributionGenesis } from "./genesis.ts";
import { distributionInvariants } from "./invariants.ts";
import { ACCOUNT, type DistributionBank, DistributionKeeper, type Stake } from "./keeper.ts";
import { distributionMsgs } from "./msgs.ts";
import { distributionQueries } from "./queries.ts";
import { rewardHooks } from "./rewards.ts";

/** Makes the module, its keeper, and its hooks in staking. */
export function distributionModule(
  bank: DistributionBank,
  stake: Stake,
): { readonly keeper: DistributionKeeper; readonly hooks: Partial<StakingHooks>; readonly module: Module } {
  const keeper = new DistributionKeeper(bank, stake);
  const module = defineModule({
    name: "distribution",
    msg: distributionMsgs(keeper),
    query: distributionQueries(keeper),
    genesis: distributionGenesis(keeper),
    accounts: [{ name: ACCOUNT, permissions: [] }],
    beginBlock: (ctx) => beginBlock(keeper, ctx),
    invariants: distributionInvariants(keeper),
  });
  return { keeper, hooks: rewardHooks(keeper), module };
}
