import { type BoundService, bindService, type Context, updateParams } from "../../runtime/index.ts";
import { decTruncate } from "../../util/index.ts";
import { Msg, type MsgUnjail } from "../../wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import { accountOfValidator, decodeAddress, slashingErrors as errors, toNanos } from "../../wire/index.ts";
import { checkOperator, consensusAddressOf, tokensForShares } from "../staking/index.ts";
import { paramsProblems } from "./genesis.ts";
import type { SlashingKeeper } from "./keeper.ts";

/** The end of the block decides whether the validator is bonded again. */
const UNJAIL_GAS = 40_000n;

export function slashingMsgs(keeper: SlashingKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.changeParams(ctx, params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      unjail: (ctx, msg) => unjail(keeper, ctx, msg),
      updateParams: update.handle,
    },
    {
      unjail: (msg) => checkOperator("validator_addr", msg.validatorAddr),
      updateParams: update.check,
    },
  );
}

/** Unjails a validator when its time is over and its operator has enough at stake. */
function unjail(keeper: SlashingKeeper, ctx: Context, { validatorAddr }: MsgUnjail): object {
  ctx.gas.consume(UNJAIL_GAS, "unjail");
  const operator = decodeAddress(validatorAddr, "valoper");
  const validator = keeper.stake.findValidator(ctx, operator);
  if (validator === undefined) throw errors.noValidator();
  const shares = keeper.stake.shares(ctx, operator, operator);
  if (shares === undefined) throw errors.noSelfDelegation();
  const tokens = decTruncate(tokensForShares(validator, shares));
  if (tokens < BigInt(validator.minSelfDelegation))
    throw errors.selfDelegationTooLow(`${tokens} less than ${validator.minSelfDelegation}`);
  if (!validator.jailed) throw errors.notJailed();
  const info = keeper.info(ctx, consensusAddressOf(validator));
  const until = info?.jailedUntil === undefined ? 0n : toNanos(info.jailedUntil);
  if (info?.tombstoned === true || ctx.block.time < until) throw errors.stillJailed();
  keeper.stake.unjail(ctx, validator);
  ctx.events.emit("message", { module: "slashing", sender: accountOfValidator(validatorAddr) });
  return {};
}
