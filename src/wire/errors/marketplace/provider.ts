import { defineErrors } from "../../../util/index.ts";

export const providerErrors = defineErrors("provider", {
  invalidHostUri: [1, "invalid host uri", "write https://<host>:<port> without a path"],
  notAbsoluteHostUri: [2, "not absolute host uri", "write https://<host>:<port>"],
  notFound: [3, "address not found", "register it with: svc tx provider create <file>"],
  exists: [4, "already exists", "change it with: svc tx provider update <file>"],
  invalidAddress: [5, "invalid address"],
  attributes: [6, "attribute specification error"],
  attributesInUse: [7, "attributes cannot be changed", "keep the attributes that active leases ask for"],
  invalidWebsite: [8, "invalid info website"],
  internal: [10, "internal"],
  invalidEmail: [11, "invalid info email"],
  hasLeases: [12, "provider has active leases", "close them with: svc tx market bid close"],
  tooManyBids: [13, "provider has too many open bids", "close some with: svc tx market bid close"],
  invalidParams: [14, "parameter invalid"],
});
