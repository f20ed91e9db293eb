import { checkAddress } from "../../runtime/index.ts";
import { type AttributeLimits, attributeFault, MOST_ATTRIBUTES } from "../../sdl/index.ts";
import type { AuditedAttributes } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { auditErrors as errors } from "../../wire/index.ts";

/** Throws `audit/2` unless both are addresses of accounts. */
export function checkParties({ owner, auditor }: Pick<AuditedAttributes, "owner" | "auditor">): void {
  checkAddress("owner", owner, errors.invalidAddress);
  checkAddress("auditor", auditor, errors.invalidAddress);
}

/** Throws `audit/4` unless these attributes can be signed. */
export function checkAttributes(attributes: readonly Attribute[], limits: AttributeLimits = MOST_ATTRIBUTES): void {
  const fault = attributes.length === 0 ? "no attribute to sign" : attributeFault(attributes, "offered", limits);
  if (fault !== undefined) throw errors.attributes(fault);
}
