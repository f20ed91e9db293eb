import { DEC_ONE, type Dec, formatDecShort, parseDec, tryParseDec } from "../../../util/index.ts";

/** A part of a whole: from 0 to 1. */
export function readPart(text: string): Dec {
  const part = parseDec(text);
  if (part >= 0n && part <= DEC_ONE) return part;
  throw new Error(`${text} is not between 0 and 1`);
}

/** The parts of a whole by their names, `yes=0.6,no=0.4`: each name once, each part above 0, together 1. */
export function splitParts<K>(text: string, readName: (word: string) => K): [name: K, part: Dec][] {
  const parts = text.split(",").map((each) => splitPart(each, readName));
  const names = new Set(parts.map(([name]) => name));
  if (names.size < parts.length) throw new Error(`a name appears twice in "${text.slice(0, 80)}"`);
  const total = parts.reduce((sum, [, part]) => sum + part, 0n);
  if (total === DEC_ONE) return parts;
  throw new Error(`the parts add up to ${formatDecShort(total)}, not to 1`);
}

function splitPart<K>(text: string, readName: (word: string) => K): [K, Dec] {
  const [word = "", number = "", ...rest] = text.trim().split("=");
  const name = readName(word);
  const part = tryParseDec(number);
  if (part !== undefined && part > 0n && part <= DEC_ONE && rest.length === 0) return [name, part];
  throw new Error(`"${text.slice(0, 64)}" has no part above 0 and up to 1`);
}
