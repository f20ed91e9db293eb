import type { Misbehavior, VoteInfo } from "../../abci/index.ts";
import { DEFAULT_CONSENSUS_PARAMS } from "../../abci/index.ts";
import type { Context } from "../../runtime/index.ts";
import { BondStatus } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { encodeAddress, toNanos } from "../../wire/index.ts";
import { timeMessage } from "../staking/index.ts";
import { decOf, type SlashingKeeper } from "./keeper.ts";

/** A change of voters takes effect one block after the engine learns of it, so a missed vote was due two blocks ago. */
const UPDATE_DELAY = 1n;
const ABSENT = 1;
/** 9999-12-31T23:59:59Z: for ever. */
const FOR_EVER = 253_402_300_799_000_000_000n;

/** Counts who signed the last block, and punishes those who miss too many, or signed two blocks of one height. */
export function beginBlock(keeper: SlashingKeeper, ctx: Context): void {
  for (const vote of ctx.evidence.lastCommit.votes) countVote(keeper, ctx, vote);
  for (const misbehavior of ctx.evidence.misbehavior) punishDoubleSign(keeper, ctx, misbehavior);
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

/** Its counters begin anew: after the jail it has a whole window again. */
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

/** Burns, jails for ever and never again lets in, once, who signed two blocks of one height not too long ago. */
function punishDoubleSign(keeper: SlashingKeeper, ctx: Context, { validator: voter, height, time }: Misbehavior): void {
  const { address: consensus, power } = voter;
  const validator = keeper.stake.findByConsensus(ctx, consensus);
  const info = keeper.info(ctx, consensus);
  if (validator === undefined || validator.status === BondStatus.UNBONDED) return;
  if (info === undefined || info.tombstoned || isTooOld(ctx, height, time)) return;
  const fraction = decOf(keeper.getParams(ctx).slashFractionDoubleSign);
  const burnt = keeper.stake.slash(ctx, { consensus, power, height: height - UPDATE_DELAY, fraction });
  const address = encodeAddress(consensus, "valcons");
  ctx.events.emit("slash", { address, power: `${power}`, reason: "double_sign", burned_coins: `${burnt}` });
  if (!validator.jailed) {
    jail(keeper, ctx, consensus);
    ctx.events.emit("slash", { jailed: address });
  }
  keeper.setInfo(ctx, consensus, { ...info, jailedUntil: timeMessage(FOR_EVER), tombstoned: true });
}

function jail(keeper: SlashingKeeper, ctx: Context, consensus: Uint8Array): void {
  // Slashing changed the record.
  const validator = keeper.stake.findByConsensus(ctx, consensus);
  if (validator !== undefined && !validator.jailed) keeper.stake.jail(ctx, validator);
}

/** Older than both ages of evidence, so that nothing of that time answers for it any more. */
function isTooOld(ctx: Context, height: bigint, time: bigint): boolean {
  const { maxAgeDuration, maxAgeNumBlocks } = DEFAULT_CONSENSUS_PARAMS.evidence;
  return ctx.block.time - time > maxAgeDuration && ctx.height - height > maxAgeNumBlocks;
}
