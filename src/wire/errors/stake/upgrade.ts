import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `upgrade`. Numbers never change. */
export const upgradeErrors = defineErrors("upgrade", {
  invalidPlan: [20, "invalid upgrade plan"],
  alreadyApplied: [21, "the upgrade was applied already", "plan it under another name"],
});
