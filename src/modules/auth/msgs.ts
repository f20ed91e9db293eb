import { type BoundService, bindService, updateParams } from "../../runtime/index.ts";
import type { Params } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Msg } from "../../wire/gen/sdk/auth/v1beta1/tx_pb.js";
import { authErrors as errors } from "../../wire/index.ts";
import { paramsProblems } from "./genesis.ts";
import { type AuthKeeper, STORE } from "./keeper.ts";

export function authMsgs(keeper: AuthKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.params.set(ctx.store(STORE), params),
    problems,
    refuse: errors.invalidParams,
  });
  return bindService(Msg, { updateParams: update.handle }, { updateParams: update.check });
}

/** Other clients of the ecosystem know nothing of `store_gas`: without it, everything that is stored would be free. */
function problems(params: Params): string[] {
  return [...(params.storeGas === undefined ? ["params.store_gas: missing"] : []), ...paramsProblems(params)];
}
