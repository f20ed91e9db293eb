import type { ParsedLine } from "../command-line.ts";
import type { CommandSpec } from "../spec.ts";

/** Words of capitals that may be bech32: a prefix, the separator, an address or more, between the usual separators. */
const WORDS = /(?<![^\s/,=:&'"])[A-Z0-9]{1,83}1[02-9AC-HJ-NP-Z]{38,}(?![^\s/,=:&'"])/g;

/**
 * Addresses of QR codes are in capitals, which BIP 173 allows for a whole text: in arguments and flags they become
 * lower case, the only spelling that chains know. Words with another checksum, texts for people and words for another
 * program do not change.
 */
export async function lowerAddresses(spec: CommandSpec, line: ParsedLine): Promise<ParsedLine> {
  const args = spec.passThrough === true ? [] : line.args;
  const texts = new Set(spec.flags?.filter(({ value }) => value === "<text>").map(({ name }) => name));
  const flags = [...line.flags].filter(([name]) => !texts.has(name));
  if (![...args, ...flags.flatMap(([, value]) => value)].some(mayHaveOne)) return line;
  const { isBech32 } = await import("../../../wire/index.ts");
  const lower = <T>(value: T) => {
    return typeof value === "string" ? value.replaceAll(WORDS, (word) => lowerWord(word, isBech32)) : value;
  };
  return {
    args: spec.passThrough === true ? line.args : args.map(lower),
    flags: new Map([
      ...line.flags,
      ...flags.map(([name, value]) => [name, Array.isArray(value) ? value.map(lower) : lower(value)] as const),
    ]),
  };
}

function mayHaveOne(value: unknown): boolean {
  return typeof value === "string" && value.search(WORDS) >= 0;
}

function lowerWord(word: string, isBech32: (text: string) => boolean): string {
  const lower = word.toLowerCase();
  return isBech32(lower) ? lower : word;
}
