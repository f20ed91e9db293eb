import { type Context, defineModule, type Module } from "../../runtime/index.ts";
import type { StakingHooks } from "../staking/index.ts";
import { beginBlock } from "./downtime.ts";
import { slashingGenesis } from "./genesis.ts";
import { SlashingKeeper, type Stake, signingHooks, store } from "./keeper.ts";
import { slashingMsgs } from "./msgs.ts";
import { slashingQueries } from "./queries.ts";

/** Makes the module and what staking has to tell it. */
export function slashingModule(stake: Stake): { readonly hooks: Partial<StakingHooks>; readonly module: Module } {
  const keeper = new SlashingKeeper(stake);
  const module = defineModule({
    name: "slashing",
    msg: slashingMsgs(keeper),
    query: slashingQueries(keeper),
    genesis: slashingGenesis(keeper),
    beginBlock: (ctx) => beginBlock(keeper, ctx),
    invariants: { missed: (ctx) => countersAreRight(keeper, ctx) },
  });
  return { hooks: signingHooks(keeper), module };
}

/** The counter of each validator is the number of its blocks that are marked as missed. */
function countersAreRight(keeper: SlashingKeeper, ctx: Context): string | undefined {
  for (const [consensus, info] of keeper.infos.iterate(store(ctx))) {
    const missed = keeper.missedBlocks(ctx, consensus).length;
    if (BigInt(missed) !== info.missedBlocksCounter)
      return `${info.address} missed ${missed} blocks, its counter says ${info.missedBlocksCounter}`;
  }
  return undefined;
}
