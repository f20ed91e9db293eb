import { type BoundService, bindService } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { checkAttributes, checkParties } from "./check.ts";
import type { AuditKeeper } from "./keeper.ts";

export function auditMsgs(keeper: AuditKeeper): BoundService {
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
    },
    {
      signProviderAttributes: (msg) => {
        checkParties(msg);
        checkAttributes(msg.attributes);
      },
      deleteProviderAttributes: checkParties,
    },
  );
}
