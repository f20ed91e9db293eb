import type { SettingRow } from "../../util/index.ts";

/** One flag of a command. A flag with a `value` placeholder takes a value, one without is a switch. */
export interface FlagSpec extends SettingRow {
  readonly short?: string;
  /** The command reads its choices in other spellings as well, and refuses everything else. */
  readonly anySpelling?: boolean;
  /** May be given several times. */
  readonly repeat?: boolean;
  /** Its heading in the help; the command's own flags have none. */
  readonly group?: string;
  /** Accepted because it belongs to every command of its group, but without effect here: the help does not show it. */
  readonly hidden?: boolean;
}
