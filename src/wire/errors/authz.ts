import { defineErrors } from "../../util/index.ts";

/** Errors of codespace `authz`. Numbers never change; up to 12 they equal release 0.53 of the ecosystem. */
export const authzErrors = defineErrors("authz", {
  notFound: [2, "authorization not found", "svc query authz grants lists what an account has granted to another"],
  invalidExpiration: [3, "expiration time of authorization should be more than current time"],
  unknownType: [4, "unknown authorization type"],
  expired: [6, "authorization expired", "ask the granter for a new one"],
  granteeIsGranter: [
    7,
    "grantee and granter should be different",
    "name another account, which may act for the granter",
  ],
  invalidLimit: [12, "max tokens should be positive"],
});
