import { type BoundService, bindService, updateParams } from "../../runtime/index.ts";
import { Msg, type Params } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { auditErrors as errors } from "../../wire/index.ts";
import { checkAttributes, checkParties } from "./check.ts";
import { PARAMS } from "./genesis.ts";
import { type AuditKeeper, STORE } from "./keeper.ts";

export function auditMsgs(keeper: AuditKeeper): BoundService {
  const update = updateParams<Params>({
    set: (ctx, params) => keeper.params.set(ctx.store(STORE), params),
    problems: PARAMS.problems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      signProviderAttributes: (ctx, msg) => {
        keeper.sign(ctx, msg);
        return {};
      },
      deleteProviderAttributes: (ctx, { owner, auditor, keys }) => {
        keeper.delete(ctx, owner, auditor, keys);
        return {};
      },
      updateParams: update.handle,
    },
    {
      signProviderAttributes: (msg) => {
        checkParties(msg);
        checkAttributes(msg.attributes);
      },
      deleteProviderAttributes: checkParties,
      updateParams: update.check,
    },
  );
}
