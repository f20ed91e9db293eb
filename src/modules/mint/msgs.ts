import { type BoundService, bindService, updateParams } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/sdk/mint/v1beta1/tx_pb.js";
import { mintErrors as errors } from "../../wire/index.ts";
import { paramsProblems } from "./genesis.ts";
import { type MintKeeper, store } from "./keeper.ts";

export function mintMsgs(keeper: MintKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.params.set(store(ctx), params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(Msg, { updateParams: update.handle }, { updateParams: update.check });
}
