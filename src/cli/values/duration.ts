import { asDuration, readSetting } from "../../util/index.ts";
import { flagSettings } from "../command/flag-settings.ts";
import type { Flags } from "../command/flags.ts";

/** Milliseconds of a flag that takes a duration above zero. */
export function durationFlag(flags: Flags, name: string): number {
  return readSetting({ name, value: "<duration>", summary: "", parse: asDuration }, flagSettings(flags));
}
