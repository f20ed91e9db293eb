import { defineErrors } from "../../util/index.ts";

export const errors = defineErrors("cert", {
  notFound: [1, "certificate not found"],
  invalidAddress: [2, "invalid address"],
  exists: [3, "certificate exists", "make a new one: its serial number differs"],
  alreadyRevoked: [4, "certificate already revoked"],
  invalidSerial: [5, "invalid serial number"],
  invalidCertificate: [6, "invalid certificate value", "make it with: svc tx cert create client|server"],
  invalidPubkey: [7, "invalid pubkey value"],
  invalidState: [8, "invalid state"],
  invalidKeySize: [9, "invalid key size"],
});
