import { CST, Lexer } from "yaml";
import { show } from "../errors.ts";
import type { Report } from "../report.ts";
import type { TextLines } from "../text.ts";

export const MAX_FILE_BYTES = 65_536;
export const MAX_DEPTH = 32;
/** Words, marks and white space of the text; a bound on work that no real file comes near. */
export const MAX_TOKENS = 20_000;
/** Values that aliases add; written out, each takes at least two tokens. */
export const MAX_COPIES = MAX_TOKENS / 2;

/** C0 without tab and line ends, delete, C1 and halves of surrogate pairs. */
const FORBIDDEN_CHARACTER = /[^\P{Cc}\t\n\r]|\p{Cs}/u;

const FEATURES: Readonly<Record<string, { readonly name: string; readonly remedy: string }>> = {
  tag: { name: "tags", remedy: 'remove it, or put the text in quotes if it begins with "!" itself' },
  "directive-line": { name: "directives", remedy: "remove the line" },
};

/**
 * Reads the text once, token by token and without recursion, before a tree is built from it: a YAML parser needs
 * stack and time for deep or large input, and some of its features expand small input into large. Reports and returns
 * false where the text must not be parsed.
 */
export function guardText(text: string, lines: TextLines, report: Report): boolean {
  if (!guardCharacters(text, lines, report)) return false;
  const scan = new TokenScan(lines, report);
  for (const token of new Lexer().lex(text)) {
    if (!scan.next(token)) return false;
  }
  return !report.failed;
}

function guardCharacters(text: string, lines: TextLines, report: Report): boolean {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_FILE_BYTES) {
    report.error(lines.at(0), "size", {
      problem: `the file is larger than ${MAX_FILE_BYTES} bytes`,
      remedy: "put large contents into the image or fetch them at start",
    });
    return false;
  }
  const match = FORBIDDEN_CHARACTER.exec(text);
  if (match === null) return true;
  const code = (text.codePointAt(match.index) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  report.error(lines.at(match.index), "syntax", {
    problem: `the character U+${code} is not allowed in a text file`,
    remedy: "remove it and save the file as UTF-8",
  });
  return false;
}

type TokenKind = CST.TokenType | "text";

/** Follows the tokens of a text and keeps the columns at which block collections are open. */
class TokenScan {
  readonly #lines: TextLines;
  readonly #report: Report;
  readonly #columns: number[] = [];
  #offset = 0;
  #lineStart = 0;
  #count = 0;
  #flow = 0;
  /** The next token is the text of a scalar, even if it looks like something else. */
  #scalar = false;
  /** The next token may open a block collection at its column. */
  #opens = true;
  /** The first document has begun. */
  #content = false;

  constructor(lines: TextLines, report: Report) {
    this.#lines = lines;
    this.#report = report;
  }

  /** False ends the scan: a limit is exceeded. */
  next(token: string): boolean {
    const kind: TokenKind = this.#scalar ? "text" : (CST.tokenType(token) ?? "text");
    this.#scalar = kind === "scalar";
    if (kind === "scalar" || kind === "doc-mode" || kind === "flow-error-end") return true;
    this.#count += 1;
    if (this.#count > MAX_TOKENS) return this.#tooLarge(`the file has more than ${MAX_TOKENS} words and marks`);
    this.#feature(kind, token);
    if (!this.#depth(kind)) return this.#tooLarge(`values are nested more than ${MAX_DEPTH} deep`);
    this.#advance(token);
    return true;
  }

  #tooLarge(problem: string): false {
    this.#report.error(this.#lines.at(this.#offset), "size", { problem, remedy: "write a smaller, flatter file" });
    return false;
  }

  #feature(kind: TokenKind, token: string): void {
    const feature = FEATURES[kind];
    if (feature !== undefined)
      this.#refuse(`${feature.name} are not supported (${show(token.trim())})`, feature.remedy);
    if (kind === "doc-start" && this.#content) {
      this.#refuse("a second document begins here", "write one deployment per file");
    }
    if (!isFiller(kind) && kind !== "doc-start" && kind !== "directive-line") this.#content = true;
  }

  #refuse(problem: string, remedy: string): void {
    this.#report.error(this.#lines.at(this.#offset), "feature", { problem, remedy });
  }

  #depth(kind: TokenKind): boolean {
    if (kind === "flow-map-start" || kind === "flow-seq-start") this.#flow += 1;
    if (kind === "flow-map-end" || kind === "flow-seq-end") this.#flow = Math.max(0, this.#flow - 1);
    if (this.#flow > MAX_DEPTH) return false;
    if (isFiller(kind) || this.#flow > 0) return true;
    if (this.#opens) this.#open(this.#offset - this.#lineStart);
    this.#opens = kind === "seq-item-ind" || kind === "explicit-key-ind";
    return this.#columns.length <= MAX_DEPTH;
  }

  #open(column: number): void {
    while ((this.#columns.at(-1) ?? -1) > column) this.#columns.pop();
    if (this.#columns.at(-1) !== column) this.#columns.push(column);
  }

  #advance(token: string): void {
    const lineEnd = token.lastIndexOf("\n");
    if (lineEnd >= 0) {
      this.#lineStart = this.#offset + lineEnd + 1;
      this.#opens = true;
    }
    this.#offset += token.length;
  }
}

function isFiller(kind: TokenKind): boolean {
  return kind === "space" || kind === "newline" || kind === "comment" || kind === "byte-order-mark";
}
