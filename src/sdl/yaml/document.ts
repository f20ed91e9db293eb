import { isMap, isScalar, isSeq, type Pair, parseDocument, Scalar, type YAMLMap } from "yaml";
import { show } from "../errors.ts";
import type { Place, Report } from "../report.ts";
import { TextLines } from "../text.ts";
import { guardText } from "./guard.ts";

/** A value that is one piece of text. Numbers and switches are read from the text itself, never from a parsed double. */
export interface ScalarNode {
  readonly kind: "scalar";
  readonly text: string;
  /** Written without quotes. */
  readonly plain: boolean;
  readonly place: Place;
}

/** No value, or `null` or `~`. */
export interface NullNode {
  readonly kind: "null";
  readonly place: Place;
}

export interface ListNode {
  readonly kind: "list";
  readonly items: readonly Node[];
  readonly place: Place;
}

export interface MapNode {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, Entry>;
  readonly place: Place;
}

export interface Entry {
  readonly key: string;
  /** Of the key. */
  readonly place: Place;
  readonly value: Node;
}

/** A value of the file. Lists and maps are placed at the key that holds them. */
export type Node = ScalarNode | NullNode | ListNode | MapNode;

/** Builds the tree of a text, or reports why it cannot. Reads the plain part of YAML: no anchors, tags or merge keys. */
export function parseDocumentText(source: string, report: Report): Node | undefined {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  const lines = new TextLines(text);
  if (!guardText(text, lines, report)) return undefined;
  const document = parseDocument(text, { schema: "failsafe", uniqueKeys: false, prettyErrors: false, version: "1.2" });
  const error = document.errors[0];
  if (error !== undefined) {
    // Only the first error: later ones are mostly its consequence.
    report.error(lines.at(error.pos[0]), "syntax", {
      problem: error.message.replace(/;.*$/s, ""),
      remedy: SYNTAX_REMEDIES[error.code] ?? "correct the spelling of the YAML here",
    });
  }
  if (report.failed) return undefined;
  const root = new TreeBuilder(lines, report).node(document.contents, lines.at(0));
  return report.failed ? undefined : root;
}

const SYNTAX_REMEDIES: Readonly<Record<string, string>> = {
  BAD_INDENT: "line it up with the entries that belong to the same list or map",
  TAB_AS_INDENT: "indent with spaces",
  BAD_SCALAR_START: "put the text in quotes",
  BAD_DQ_ESCAPE: "use single quotes, or double the backslash",
  BLOCK_AS_IMPLICIT_KEY: 'put the text in quotes if ": " is part of it, else begin a new line',
  MISSING_CHAR: "close the quote or bracket, or add the missing colon or space",
  MULTILINE_IMPLICIT_KEY: 'write "key: value" on one line; check that the line before ends with a colon',
  MULTIPLE_DOCS: "write one deployment per file",
  UNEXPECTED_TOKEN: "remove it, or put the text in quotes",
};

class TreeBuilder {
  readonly #lines: TextLines;
  readonly #report: Report;

  constructor(lines: TextLines, report: Report) {
    this.#lines = lines;
    this.#report = report;
  }

  /** `holder` is the key or list item that the value belongs to. */
  node(value: unknown, holder: Place): Node {
    if (isScalar(value)) return this.#scalar(value, holder);
    if (isMap(value)) return { kind: "map", entries: this.#entries(value, holder.path), place: holder };
    if (isSeq(value)) {
      const items = value.items.map((item, index) =>
        this.node(item, this.#start(item, holder, `${holder.path}[${index}]`)),
      );
      return { kind: "list", items, place: holder };
    }
    return { kind: "null", place: holder };
  }

  #scalar(scalar: Scalar, holder: Place): Node {
    const text = scalar.source ?? "";
    const plain = scalar.type === Scalar.PLAIN;
    if (plain && text === "") return { kind: "null", place: holder };
    const place = this.#start(scalar, holder, holder.path);
    if (plain && /^(~|null|Null|NULL)$/.test(text)) return { kind: "null", place };
    return { kind: "scalar", text, plain, place };
  }

  #entries(map: YAMLMap, path: string): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const pair of map.items) {
      const entry = this.#entry(pair, path, map);
      const earlier = entry === undefined ? undefined : entries.get(entry.key);
      if (entry !== undefined && earlier === undefined) entries.set(entry.key, entry);
      if (entry === undefined || earlier === undefined) continue;
      this.#report.error(entry.place, "duplicateKey", {
        problem: `the key ${show(entry.key)} is here twice (first in line ${earlier.place.line})`,
        remedy: "keep one of them",
      });
    }
    return entries;
  }

  #entry(pair: Pair, path: string, map: YAMLMap): Entry | undefined {
    const key = isScalar(pair.key) ? (pair.key.source ?? "") : undefined;
    if (key === undefined || key === "" || key === "<<") {
      this.#refuseKey(this.#start(pair.key, this.#lines.at(map.range?.[0] ?? 0), path), key);
      return undefined;
    }
    const place = this.#start(pair.key, this.#lines.at(0), join(path, key));
    return { key, place, value: this.node(pair.value, place) };
  }

  #refuseKey(place: Place, key: string | undefined): void {
    if (key === "<<") {
      this.#report.error(place, "feature", {
        problem: "merge keys are not supported",
        remedy: "write the entries out",
      });
      return;
    }
    const problem = key === undefined ? "a list or map is used as a key" : "a key is missing before the colon";
    this.#report.error(place, "syntax", { problem, remedy: 'write "key: value"' });
  }

  #start(value: unknown, fallback: Place, path: string): Place {
    const range = isScalar(value) || isMap(value) || isSeq(value) ? value.range : undefined;
    return range ? this.#lines.at(range[0], path) : { ...fallback, path };
  }
}

function join(path: string, key: string): string {
  const name = /^[\w-]{1,64}$/.test(key) ? key : show(key);
  return path === "" ? name : `${path}.${name}`;
}
