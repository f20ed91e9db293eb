import type { Context } from "../../runtime/index.ts";
import { BondStatus } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import type { DoubleSign, Penalties } from "../evidence/index.ts";
import { timeMessage } from "../staking/index.ts";
import { jail, UPDATE_DELAY } from "./downtime.ts";
import { decOf, type SlashingKeeper } from "./keeper.ts";

/** 9999-12-31T23:59:59Z: forever. */
const FOR_EVER = 253_402_300_799_000_000_000n;

/** Penalties of evidence for validators that sign two blocks of one height. */
export function doubleSignPenalties(keeper: SlashingKeeper): Penalties {
  return {
    isPunishable: (ctx, consensus) => isPunishable(keeper, ctx, consensus),
    punishDoubleSign: (ctx, infraction) => punish(keeper, ctx, infraction),
  };
}

function isPunishable(keeper: SlashingKeeper, ctx: Context, consensus: Uint8Array): boolean {
  const validator = keeper.stake.findByConsensus(ctx, consensus);
  if (validator === undefined || validator.status === BondStatus.UNBONDED) return false;
  const info = keeper.info(ctx, consensus);
  return info !== undefined && !info.tombstoned;
}

function punish(keeper: SlashingKeeper, ctx: Context, { consensus, power, height }: DoubleSign): void {
  const info = keeper.infos.require(ctx.store("slashing"), consensus);
  const wasJailed = keeper.stake.findByConsensus(ctx, consensus)?.jailed === true;
  const fraction = decOf(keeper.getParams(ctx).slashFractionDoubleSign);
  const burnt = keeper.stake.slash(ctx, { consensus, power, height: height - UPDATE_DELAY, fraction });
  const address = encodeAddress(consensus, "valcons");
  ctx.events.emit("slash", { address, power: `${power}`, reason: "double_sign", burned_coins: `${burnt}` });
  if (!wasJailed) {
    jail(keeper, ctx, consensus);
    ctx.events.emit("slash", { jailed: address });
  }
  keeper.setInfo(ctx, consensus, { ...info, jailedUntil: timeMessage(FOR_EVER), tombstoned: true });
}
