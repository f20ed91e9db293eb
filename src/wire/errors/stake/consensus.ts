import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `consensus`. Numbers never change. */
export const consensusErrors = defineErrors("consensus", {
  invalidParams: [2, "invalid parameters of consensus"],
});
