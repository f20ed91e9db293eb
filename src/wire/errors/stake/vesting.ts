import { defineErrors } from "../../../util/index.ts";

/** Errors of codespace `vesting`. Numbers never change. */
export const vestingErrors = defineErrors("vesting", {
  invalidSchedule: [2, "invalid vesting schedule", "correct the times, periods or amounts"],
});
