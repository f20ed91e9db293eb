import { commandError, errorText, SvcError } from "../errors.ts";

/** Characters of a bad text that an error repeats. */
const MAX_SHOWN = 80;

/** The visible part of a setting: one row of the help, of the reference, and of the variables for flags. */
export interface SettingRow {
  /** The flag. `rpc.laddr` reads `SVC_RPC_LADDR`, and is the key of files that have it. */
  readonly name: string;
  /** Placeholder of the value; switches have none. */
  readonly value?: string;
  readonly summary: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** Another spelling of the flag. */
  readonly alias?: string;
}

/** A setting whole: what users see of it, and how its text is read. */
export interface Setting<T = unknown> extends SettingRow {
  /** The value of a text. Throws `WrongForm`, or an error whose sentence says what is wrong with the text. */
  readonly parse: (text: string) => T;
}

/** Settings by their names in code, in the order of the help. */
export type SettingTable = Readonly<Record<string, Setting>>;

/** The source of the texts of settings. */
export interface SettingSource {
  /** The given text, or else the default; empty if there is neither. */
  text(row: SettingRow): string;
  /** The name by which the user knows the text: the flag, the variable, or the key of a file. */
  label(row: SettingRow): string;
  /** The error that reports a bad text to the user. */
  fault(sentence: string, hint: string | undefined): Error;
}

/** The text of a setting does not have the form that the setting takes. */
export class WrongForm extends Error {
  /** The accepted form: `a whole number`. */
  readonly form: string;
  readonly hint: string | undefined;
  /** The part of the text that is wrong, where others are right. */
  readonly part: string | undefined;

  constructor(form: string, hint?: string, part?: string) {
    super(`it takes ${form}`);
    this.form = form;
    this.hint = hint;
    this.part = part;
  }
}

/** The checked value of a setting. */
export function readSetting<T>(setting: Setting<T>, source: SettingSource): T {
  const text = source.text(setting);
  try {
    return setting.parse(text);
  } catch (error) {
    const hint = error instanceof WrongForm || error instanceof SvcError ? error.hint : undefined;
    throw source.fault(`${source.label(setting)}${reasonOf(error, text)}`, hint);
  }
}

/** Reads values of settings from one source. */
export type ReadSetting = <T>(setting: Setting<T>) => T;

export function settingReader(source: SettingSource): ReadSetting {
  return (setting) => readSetting(setting, source);
}

/** Settings by their names, as a file of ours notes them; the defaults for others. */
export function notedSettings(texts: Readonly<Record<string, string>>): SettingSource {
  return {
    text: ({ name, default: usual = "" }) => texts[name] ?? usual,
    label: ({ name }) => name,
    fault: (sentence, hint) => commandError(sentence, hint === undefined ? {} : { hint }),
  };
}

function reasonOf(error: unknown, text: string): string {
  if (!(error instanceof WrongForm)) return `: ${errorText(error)}`;
  return ` takes ${error.form}, not ${JSON.stringify((error.part ?? text).slice(0, MAX_SHOWN))}`;
}
