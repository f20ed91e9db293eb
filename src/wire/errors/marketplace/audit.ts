import { defineErrors } from "../../../util/index.ts";

export const auditErrors = defineErrors("audit", {
  notFound: [1, "address not found", "see the signed attributes: svc query audit list"],
  invalidAddress: [2, "invalid address"],
  attributeNotFound: [3, "attribute not found", "see the signed attributes: svc query audit get <provider> <auditor>"],
  attributes: [4, "attribute specification error"],
  unknownProvider: [
    5,
    "provider is not registered",
    "the provider registers itself with: svc tx provider create <file>",
  ],
  invalidParams: [6, "parameter invalid"],
});
