import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `genutil`. Numbers never change. */
export const genutilErrors = defineErrors("genutil", {
  invalidTx: [2, "invalid genesis transaction", "make it again with svc gentx"],
});
