import { type BoundService, bindService } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { attributeFault } from "../provider/index.ts";
import { errors } from "./errors.ts";
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
      signProviderAttributes: ({ owner, auditor, attributes }) => {
        checkAddresses(owner, auditor);
        const fault = attributes.length === 0 ? "no attribute to sign" : attributeFault(attributes, "offered");
        if (fault !== undefined) throw errors.attributes(fault);
      },
      deleteProviderAttributes: ({ owner, auditor }) => checkAddresses(owner, auditor),
    },
  );
}

function checkAddresses(...addresses: readonly string[]): void {
  for (const address of addresses) {
    try {
      decodeAddress(address, "account");
    } catch (cause) {
      throw errors.invalidAddress(address.slice(0, 128), { cause });
    }
  }
}
