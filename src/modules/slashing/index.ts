import { type Context, defineModule, type Module } from "../../runtime/index.ts";
import type { Penalties } from "../evidence/index.ts";
import type { StakingHooks } from "../staking/index.ts";
import { slashingGenesis } from "./genesis.ts";
import { SlashingKeeper, type Stake, signingHooks, store } from "./keeper.ts";
import { slashingMsgs } from "./msgs.ts";
import { beginBlock, doubleSignPenalties } from "./penalties.ts";
import { slashingQueries } from "./queries.ts";

export interface Slashing {
  /** The hooks of the module on staking. */
  readonly hooks: Partial<StakingHooks>;
  /** Penalties that evidence uses. */
  readonly penalties: Penalties;
  readonly module: Module;
}

/** Makes the module. */
export function slashingModule(stake: Stake): Slashing {
  const keeper = new SlashingKeeper(stake);
  const module = defineModule({
    name: "slashing",
    msg: slashingMsgs(keeper),
    query: slashingQueries(keeper),
    genesis: slashingGenesis(keeper),
    beginBlock: (ctx) => beginBlock(keeper, ctx),
    invariants: { missed: (ctx) => countersAreRight(keeper, ctx) },
  });
  return { hooks: signingHooks(keeper), penalties: doubleSignPenalties(keeper), module };
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
