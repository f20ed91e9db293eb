import type { VoteInfo } from "../../abci/index.ts";
import type { Context } from "../../runtime/index.ts";
import { BondStatus } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, toNanos } from "../../wire/index.ts";
import type { DoubleSign, Penalties } from "../evidence/index.ts";
import { timeMessage } from "../staking/index.ts";
import { decOf, type SlashingKeeper } from "./keeper.ts";

/** A change of voters takes effect one block after the engine learns of it, so a missed vote was due two blocks ago. */
export const UPDATE_DELAY = 1n;
const ABSENT = 1;

/** 9999-12-31T23:59:59Z: forever. */
const FOR_EVER = 253_402_300_799_000_000_000n;

/** Counts the signatures of the last block, and punishes validators that miss too many. */
export function beginBlock(keeper: SlashingKeeper, ctx: Context): void {
  for (const vote of ctx.evidence.lastCommit.votes) countVote(keeper, ctx, vote);
}

function countVote(keeper: SlashingKeeper, ctx: Context, { validator: voter, flag }: VoteInfo): void {
  const { address: consensus } = voter;
  const validator = keeper.stake.findByConsensus(ctx, consensus);
  const info = keeper.info(ctx, consensus);
  if (validator === undefined || validator.jailed || info === undefined) return;
  const missed = flag === ABSENT;
  const { signedBlocksWindow } = keeper.getParams(ctx);
  const index = info.indexOffset % signedBlocksWindow;
  const before = keeper.isMissed(ctx, consensus, index);
  if (before !== missed) keeper.setMissed(ctx, consensus, index, missed);
  const missedBlocksCounter = info.missedBlocksCounter + (missed ? 1n : 0n) - (before ? 1n : 0n);
  const counted = { ...info, indexOffset: info.indexOffset + 1n, missedBlocksCounter };
  if (missed) tellOfAbsence(ctx, consensus, missedBlocksCounter);
  const isCounted = ctx.height > info.startHeight + signedBlocksWindow;
  if (isCounted && missedBlocksCounter > keeper.mostMissed(ctx)) punishDowntime(keeper, ctx, voter);
  else keeper.setInfo(ctx, consensus, counted);
}

function tellOfAbsence(ctx: Context, consensus: Uint8Array, missed: bigint): void {
  const address = encodeAddress(consensus, "valcons");
  ctx.events.emit("liveness", { address, missed_blocks: `${missed}`, height: `${ctx.height}` });
}

/** Its counters start again: after the jail it has a whole window. */
function punishDowntime(
  keeper: SlashingKeeper,
  ctx: Context,
  { address: consensus, power }: VoteInfo["validator"],
): void {
  const { slashFractionDowntime, downtimeJailDuration } = keeper.getParams(ctx);
  const fraction = decOf(slashFractionDowntime);
  const burnt = keeper.stake.slash(ctx, { consensus, power, height: ctx.height - UPDATE_DELAY - 1n, fraction });
  const address = encodeAddress(consensus, "valcons");
  ctx.events.emit("slash", {
    address,
    power: `${power}`,
    reason: "missing_signature",
    jailed: address,
    burned_coins: `${burnt}`,
  });
  jail(keeper, ctx, consensus);
  const info = keeper.infos.require(ctx.store("slashing"), consensus);
  const duration = downtimeJailDuration === undefined ? 0n : toNanos(downtimeJailDuration);
  const jailedUntil = timeMessage(ctx.block.time + duration);
  keeper.setInfo(ctx, consensus, { ...info, jailedUntil, missedBlocksCounter: 0n, indexOffset: 0n });
  keeper.forgetMissed(ctx, consensus);
}

export function jail(keeper: SlashingKeeper, ctx: Context, consensus: Uint8Array): void {
  // Slashing changed the record.
  const validator = keeper.stake.findByConsensus(ctx, consensus);
  if (validator !== undefined && !validator.jailed) keeper.stake.jail(ctx, validator);
}

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
