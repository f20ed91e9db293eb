import { escaped, isPrintable, shellWord } from "../../util/index.ts";

/** Characters of a text from the chain, and items of a list, that a page shows at most. */
export const MAX_TEXT = 4000;
export const MAX_ITEMS = 200;

/** Characters that look like nothing, like a space, or change the one before them. */
const BLANK = /\p{Zs}|\p{M}|[\u115f\u1160\u2800\u3164\uffa0]/u;

/** A text of a stranger as the page may show it, and how many of its characters it leaves out. */
export interface Safe {
  readonly text: string;
  readonly cut: number;
}

/** Control, direction and zero-width characters as codes. With `isName` blank and combining ones too; line ends otherwise stay. */
export function safe(text: string, { isName = false, max = MAX_TEXT } = {}): Safe {
  const kept = text.slice(0, max);
  const shown = Array.from(kept, (character) => (isShown(character, isName) ? character : escaped(character))).join("");
  return { text: shown, cut: text.length - kept.length };
}

function isShown(character: string, isName: boolean): boolean {
  if (character === " ") return true;
  if (!isName && (character === "\n" || character === "\t")) return true;
  return isPrintable(character) && !(isName && BLANK.test(character));
}

/** The address of a link that a page may offer: https, or http with `isPlain`, without name and password in it. */
export function safeUrl(text: string, { isPlain = false } = {}): string | undefined {
  if (!(isPlain ? /^https?:\/\//i : /^https:\/\//i).test(text) || text.length > 500 || !URL.canParse(text))
    return undefined;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url.href : undefined;
}

/** A command line that may be copied into a shell. The node stands before the first flag: the last words may be a container's command. */
export function commandLine(
  program: string,
  words: readonly (string | bigint | number)[],
  node: string | undefined,
): string {
  const own = words.map((word) => shellWord(String(word)));
  const flag = own.findIndex((word) => word.startsWith("-"));
  const at = flag < 0 ? own.length : flag;
  const flags = node === undefined ? [] : ["--node", shellWord(node)];
  return [program, ...own.slice(0, at), ...flags, ...own.slice(at)].join(" ");
}
