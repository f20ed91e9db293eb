import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `mint`. Numbers never change. */
export const mintErrors = defineErrors("mint", {
  invalidParams: [2, "invalid parameters of minting"],
});
