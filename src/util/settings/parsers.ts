import { tryParseInt } from "../numbers/index.ts";
import { parseDurationMs } from "./duration.ts";
import { WrongForm } from "./setting.ts";

export function asText(text: string): string {
  return text;
}

/** Undefined when the text is empty. */
export function optional<T>(parse: (text: string) => T): (text: string) => T | undefined {
  return (text) => (text === "" ? undefined : parse(text));
}

/** Fields of a setting whose value is one of a few words, by default the first. */
export function oneOf<const T extends string>(choices: readonly [T, ...T[]]) {
  const parse = (text: string): T => {
    for (const choice of choices) if (choice === text) return choice;
    throw new WrongForm(choices.join(" or "));
  };
  return { value: `<${choices.join("|")}>`, choices, default: choices[0], parse };
}

/** Bytes of a size such as `512Mi`. */
export function asSize(text: string): bigint {
  const [, digits, unit] = /^(\d{1,9})(Mi|Gi)$/.exec(text) ?? [];
  if (digits === undefined) throw new WrongForm("a size such as 512Mi or 2Gi");
  return BigInt(digits) << (unit === "Gi" ? 30n : 20n);
}

/** Words with commas between them. */
export function asWords(text: string): readonly string[] {
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/** Words with commas between them, each as `read` has it; undefined for one that does not have the form. */
export function asList<T>(form: string, read: (word: string) => T | undefined): (text: string) => readonly T[] {
  return (text) =>
    asWords(text).map((word) => {
      const value = read(word);
      if (value === undefined) throw new WrongForm(form, undefined, word);
      return value;
    });
}

/** A switch, which is off when nothing is given. */
export function asSwitch(text: string): boolean {
  if (["", "false", "0", "no"].includes(text.toLowerCase())) return false;
  if (["true", "1", "yes"].includes(text.toLowerCase())) return true;
  throw new WrongForm("true or false");
}

/** Milliseconds of a duration above zero. */
export function asDuration(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined || ms === 0) throw new WrongForm("a duration such as 30s, 5m or 1h30m");
  return ms;
}

/** The same, where `0` means none. */
export function asDurationOrNone(text: string): number {
  return text === "0" || parseDurationMs(text) === 0 ? 0 : asDuration(text);
}

/** A small whole number; an empty text is zero. */
export function asCount(text: string): number {
  const count = text === "" ? 0n : tryParseInt(text);
  if (count === undefined || count < 0n) throw new WrongForm("a whole number");
  if (count > BigInt(Number.MAX_SAFE_INTEGER)) throw new WrongForm(`a whole number up to ${Number.MAX_SAFE_INTEGER}`);
  return Number(count);
}

/** A number with or without decimals that is not negative. */
export function asNumber(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new WrongForm("a number");
  return Number(text);
}
