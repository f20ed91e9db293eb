import { defineErrors } from "../../../util/index.ts";

export const certErrors = defineErrors("cert", {
  notFound: [1, "certificate not found", "list them: svc query cert list --owner <address>"],
  invalidAddress: [2, "invalid address"],
  exists: [3, "certificate exists", "make a new one: its serial number differs"],
  alreadyRevoked: [4, "certificate already revoked", "make a new one: svc tx cert create client|server"],
  invalidSerial: [5, "invalid serial number"],
  invalidCertificate: [6, "invalid certificate value", "make it with: svc tx cert create client|server"],
  invalidPubkey: [7, "invalid pubkey value"],
  invalidState: [8, "invalid state"],
  invalidKeySize: [9, "invalid key size"],
  invalidParams: [10, "parameter invalid"],
});
