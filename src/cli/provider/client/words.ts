import { usageError } from "../../errors.ts";

/** Splits a command given as one text at spaces outside quotes: `sh -c "echo a b"`. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const char of text) {
    if (quote !== "") {
      if (char === quote) quote = "";
      else word = (word ?? "") + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + char;
  }
  if (quote !== "") throw usageError(`the command ends inside ${quote}quotes${quote}`);
  return word === undefined ? words : [...words, word];
}
