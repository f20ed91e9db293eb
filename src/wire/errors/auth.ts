import { defineErrors } from "../../util/index.ts";

/** Errors of codespace `auth`. Numbers never change. */
export const authErrors = defineErrors("auth", {
  unknownModuleAccount: [2, "no such module account"],
  genesis: [3, "invalid genesis state"],
  invalidParams: [4, "invalid parameters of accounts and transactions"],
});
