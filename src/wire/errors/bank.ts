import { defineErrors } from "../../util/index.ts";

/** Errors of codespace `bank`. Numbers never change. */
export const bankErrors = defineErrors("bank", {
  noInputs: [2, "no inputs to send transaction"],
  noOutputs: [3, "no outputs to send transaction"],
  unequalSums: [4, "sum inputs != sum outputs"],
  sendDisabled: [5, "send transactions are disabled"],
  metadataNotFound: [6, "client denom metadata not found"],
  noPermission: [7, "the module may not change the supply"],
  overflow: [8, "the amount is beyond 2^256"],
  genesis: [9, "invalid genesis state"],
  invalidParams: [10, "invalid parameters of transfers"],
});
