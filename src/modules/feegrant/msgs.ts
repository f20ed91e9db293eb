import { type BoundService, bindService, checkAddress } from "../../runtime/index.ts";
import { equalBytes, sdkErrors } from "../../util/index.ts";
import { Msg } from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { checkAllowance } from "./allowance.ts";
import { type AllowanceKey, type FeegrantKeeper, MAX_PRUNED_BY_MESSAGE } from "./keeper.ts";

/** Charged beside reads and writes: these messages look for records in several places. */
const GRANT_GAS = 10_000n;
const REVOKE_GAS = 5_000n;
const PRUNE_GAS = 10_000n;

export function feegrantMsgs(keeper: FeegrantKeeper): BoundService {
  return bindService(
    Msg,
    {
      grantAllowance: (ctx, msg) => {
        ctx.gas.consume(GRANT_GAS, "grant of an allowance");
        keeper.grant(ctx, readPair(msg), checkAllowance(msg.allowance, "new"));
        return {};
      },
      revokeAllowance: (ctx, msg) => {
        ctx.gas.consume(REVOKE_GAS, "end of an allowance");
        keeper.revoke(ctx, readPair(msg));
        return {};
      },
      pruneAllowances: (ctx, { pruner }) => {
        ctx.gas.consume(PRUNE_GAS, "pruning of allowances");
        keeper.prune(ctx, MAX_PRUNED_BY_MESSAGE);
        ctx.events.emit("prune_feegrant", { pruner });
        return {};
      },
    },
    {
      grantAllowance: (msg) => {
        readPair(msg);
        checkAllowance(msg.allowance, "new");
      },
      revokeAllowance: (msg) => void readPair(msg),
      pruneAllowances: ({ pruner }) => checkAddress("pruner", pruner),
    },
  );
}

/** Two different accounts. */
export function readPair(pair: { readonly granter: string; readonly grantee: string }): AllowanceKey {
  checkAddress("granter", pair.granter);
  checkAddress("grantee", pair.grantee);
  const [granter, grantee] = [decodeAddress(pair.granter), decodeAddress(pair.grantee)];
  if (equalBytes(granter, grantee)) throw sdkErrors.invalidAddress("cannot self-grant fee authorization");
  return [granter, grantee];
}
