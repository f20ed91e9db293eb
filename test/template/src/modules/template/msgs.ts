import { type BoundService, bindService, updateParams } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/svc/template/v1beta1/template_pb.js";
import { templateErrors as errors } from "../../wire/index.ts";
import { paramsProblems } from "./genesis.ts";
import { checkNote, STORE, type TemplateKeeper } from "./keeper.ts";

export function templateMsgs(keeper: TemplateKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.params.set(ctx.store(STORE), params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      setNote: (ctx, msg) => {
        keeper.set(ctx, msg);
        return {};
      },
      updateParams: update.handle,
    },
    { setNote: checkNote, updateParams: update.check },
  );
}
