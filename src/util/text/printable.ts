/** Control and formatting characters, lone surrogates and the like: what a terminal would obey or hide. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, "gu");
const LAYOUT = new Set(["\n", "\t"]);

export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/**
 * The text with every character that a terminal would obey or hide as a JSON escape; line ends and tabs stay. Valid JSON
 * stays valid and keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(EVERY_UNPRINTABLE, (character) => (LAYOUT.has(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
