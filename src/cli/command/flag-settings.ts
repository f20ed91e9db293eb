import type { SettingSource } from "../../util/index.ts";
import { usageError } from "../errors.ts";
import type { Flags } from "./flags.ts";

/** Settings as the flags of a command have them: from the command line, variables, `client.toml` or defaults, also of settings that the command does not have. */
export function flagSettings(flags: Flags): SettingSource {
  return {
    text(row) {
      if (row.value !== undefined) return flags.has(row.name) ? flags.text(row.name) : (row.default ?? "");
      return flags.given(row.name) ? String(flags.bool(row.name)) : "";
    },
    label: ({ name }) => flags.label(name),
    fault: usageError,
  };
}
