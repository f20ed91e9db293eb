import { type BoundService, bindService, updateParams } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { escrowErrors as errors } from "../../wire/index.ts";
import { paramsProblems } from "./genesis.ts";
import type { EscrowKeeper } from "./keeper.ts";

export function escrowMsgs(keeper: EscrowKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.changeParams(ctx, params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(Msg, { updateParams: update.handle }, { updateParams: update.check });
}
