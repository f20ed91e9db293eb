import { sdkErrors } from "../../../util/index.ts";
import { GenericAuthorizationSchema } from "../../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { toNamespace } from "../../../wire/index.ts";
import { defineKind } from "./kind.ts";

/** Allows all messages of a type, without limit. */
export const genericKind = defineKind({
  schema: GenericAuthorizationSchema,
  typeUrl: ({ msg }) => msg,
  check: (authorization) => {
    if (authorization.msg === "") throw sdkErrors.invalidRequest("msg type cannot be empty");
    return { ...authorization, msg: toNamespace(authorization.msg, "sdk") };
  },
  use: (authorization) => authorization,
});
