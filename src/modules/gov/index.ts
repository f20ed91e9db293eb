import { defineModule, type Module } from "../../runtime/index.ts";
import type { StakingHooks } from "../staking/index.ts";
import { ACCOUNT } from "./account.ts";
import { govGenesis, sumVotes } from "./genesis.ts";
import { govInvariants } from "./invariants.ts";
import { type GovDeps, GovKeeper } from "./keeper.ts";
import { govMsgs } from "./msgs.ts";
import { olderGovMsgs } from "./older/msgs.ts";
import { olderGovQueries } from "./older/queries.ts";
import { govQueries } from "./queries.ts";
import { voterHooks } from "./voting/ballots.ts";
import { endBlock } from "./voting/ending.ts";

export { GOV_ACCOUNT } from "./account.ts";
export type { GovDeps, GovHooks, GovStake } from "./keeper.ts";
export type { LegacyContents, ParameterSet } from "./older/contents.ts";

/** Makes the module and its keeper. Its end-block item must run before staking's, which changes the validators. */
export function govModule(deps: GovDeps): {
  readonly keeper: GovKeeper;
  readonly hooks: Partial<StakingHooks>;
  readonly module: Module;
} {
  const keeper = new GovKeeper(deps);
  const module = defineModule({
    name: "gov",
    version: 2,
    migrations: { 1: (ctx) => sumVotes(keeper, ctx) },
    msg: govMsgs(keeper),
    query: govQueries(keeper),
    older: { msg: olderGovMsgs(keeper), query: olderGovQueries(keeper) },
    genesis: govGenesis(keeper),
    accounts: [{ name: ACCOUNT, permissions: ["burner"] }],
    endBlock: (ctx) => void endBlock(keeper, ctx),
    invariants: govInvariants(keeper),
  });
  return { keeper, hooks: voterHooks(keeper), module };
}
export { parameterSet } from "./older/parameters.ts";
