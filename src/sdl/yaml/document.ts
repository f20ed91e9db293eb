import { type Alias, isAlias, isMap, isScalar, isSeq, type Pair, parseDocument, Scalar, type YAMLMap } from "yaml";
import { append } from "../../util/index.ts";
import { show } from "../errors.ts";
import type { Place, Report } from "../report.ts";
import { TextLines } from "../text.ts";
import { guardText, MAX_COPIES, MAX_DEPTH, MAX_FILE_BYTES } from "./guard.ts";

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
  /** Place of the key. */
  readonly place: Place;
  readonly value: Node;
}

/** A value of the file. Lists and maps are placed at the key that holds them. */
export type Node = ScalarNode | NullNode | ListNode | MapNode;

/**
 * Builds the tree of a text, or reports why it cannot. Aliases and merge keys are replaced by their contents, within
 * the limits of a text that has everything written out. Tags and directives are refused.
 */
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
  const root = new TreeBuilder(text, lines, report).node(document.contents, lines.at(0));
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

/** How large a value is. */
interface Size {
  readonly values: number;
  readonly bytes: number;
  readonly depth: number;
}

interface Anchored {
  readonly node: Node;
  readonly size: Size;
}

const MERGE_WANT = "a merge key takes a map, or a list of maps";

class TreeBuilder {
  readonly #lines: TextLines;
  readonly #report: Report;
  /** Values of aliases at this point of the text. */
  readonly #anchors = new Map<string, Anchored>();
  /** Values that aliases have added so far. */
  #values = 0;
  /** Length of the text with its aliases written out so far. */
  #bytes: number;

  constructor(text: string, lines: TextLines, report: Report) {
    this.#bytes = text.length;
    this.#lines = lines;
    this.#report = report;
  }

  /** `holder` is the key or list item that the value belongs to; `depth` counts the collections around it. */
  node(value: unknown, holder: Place, depth = 0): Node {
    if (isAlias(value)) return this.#alias(value, holder, depth);
    const anchor = isScalar(value) || isMap(value) || isSeq(value) ? value.anchor : undefined;
    // Within the value its own name means nothing: a value cannot hold itself.
    if (anchor !== undefined) this.#anchors.delete(anchor);
    const node = this.#written(value, holder, depth);
    if (anchor !== undefined) this.#anchors.set(anchor, { node, size: sizeOf(node) });
    return node;
  }

  #written(value: unknown, holder: Place, depth: number): Node {
    if (isScalar(value)) return this.#scalar(value, holder);
    if (isMap(value)) return { kind: "map", entries: this.#entries(value, holder.path, depth + 1), place: holder };
    if (isSeq(value)) {
      const items = value.items.map((item, index) =>
        this.node(item, this.#start(item, holder, `${holder.path}[${index}]`), depth + 1),
      );
      return { kind: "list", items, place: holder };
    }
    return { kind: "null", place: holder };
  }

  /** A copy of the alias's value, made only if the limits allow it. Faults in it have the lines of the original. */
  #alias(alias: Alias, holder: Place, depth: number): Node {
    const nothing: Node = { kind: "null", place: holder };
    const place = this.#start(alias, holder, holder.path);
    const found = this.#anchors.get(alias.source);
    if (found === undefined) {
      const problem = `there is no value named ${show(`&${alias.source}`)} before this alias`;
      const quoted = 'put the text in quotes if it begins with "*" itself';
      const remedy = `${quoted}, or name a value above with &${alias.source.slice(0, 64)}`;
      this.#report.error(place, "reference", { problem, remedy });
      return nothing;
    }
    const { node, size } = found;
    this.#values += size.values;
    this.#bytes += size.bytes;
    const isLarge = this.#values > MAX_COPIES || this.#bytes > MAX_FILE_BYTES || depth + size.depth > MAX_DEPTH;
    if (!isLarge) return moved(node, node.place.path, holder.path);
    // One fault is enough, and no more is copied.
    if (!this.#report.failed) {
      const problem = "the file is too large with its aliases written out";
      this.#report.error(place, "size", { problem, remedy: "write a smaller, flatter file" });
    }
    return nothing;
  }

  #scalar(scalar: Scalar, holder: Place): Node {
    const text = scalar.source ?? "";
    const plain = scalar.type === Scalar.PLAIN;
    if (plain && text === "") return { kind: "null", place: holder };
    const place = this.#start(scalar, holder, holder.path);
    if (plain && /^(~|null|Null|NULL)$/.test(text)) return { kind: "null", place };
    return { kind: "scalar", text, plain, place };
  }

  #entries(map: YAMLMap, path: string, depth: number): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    const merged: MapNode[] = [];
    for (const pair of map.items) {
      if (isMergeKey(pair.key)) {
        append(merged, this.#merged(pair, path, depth));
        continue;
      }
      const entry = this.#entry(pair, { path, map, depth });
      const earlier = entry === undefined ? undefined : entries.get(entry.key);
      if (entry !== undefined && earlier === undefined) entries.set(entry.key, entry);
      if (entry === undefined || earlier === undefined) continue;
      this.#report.error(entry.place, "duplicateKey", {
        problem: `the key ${show(entry.key)} is here twice (first in line ${earlier.place.line})`,
        remedy: "keep one of them",
      });
    }
    // Keys written in the map itself come first, then the keys of earlier merged maps.
    for (const source of merged) {
      for (const entry of source.entries.values()) if (!entries.has(entry.key)) entries.set(entry.key, entry);
    }
    return entries;
  }

  /** The maps of a merge key, as parts of the map at `path`. */
  #merged(pair: Pair, path: string, depth: number): MapNode[] {
    const values = isSeq(pair.value) ? pair.value.items : [pair.value];
    return values.flatMap((value) => {
      const place = this.#start(value, this.#start(pair.key, this.#lines.at(0), path), path);
      const node = this.node(value, place, depth - 1);
      if (node.kind === "map") return [node];
      if (!this.#report.failed) {
        this.#report.error(place, "type", { problem: MERGE_WANT, remedy: "write <<: *NAME, or <<: [*NAME, *NAME]" });
      }
      return [];
    });
  }

  #entry(
    pair: Pair,
    { path, map, depth }: { readonly path: string; readonly map: YAMLMap; readonly depth: number },
  ): Entry | undefined {
    const key = isScalar(pair.key) ? (pair.key.source ?? "") : undefined;
    if (key === undefined || key === "") {
      this.#refuseKey(this.#start(pair.key, this.#lines.at(map.range?.[0] ?? 0), path), key);
      return undefined;
    }
    const place = this.#start(pair.key, this.#lines.at(0), pathInto(path, key));
    return { key, place, value: this.node(pair.value, place, depth) };
  }

  #refuseKey(place: Place, key: string | undefined): void {
    const problem = key === undefined ? "a list or map is used as a key" : "a key is missing before the colon";
    this.#report.error(place, "syntax", { problem, remedy: 'write "key: value"' });
  }

  #start(value: unknown, fallback: Place, path: string): Place {
    const range = isAlias(value) || isScalar(value) || isMap(value) || isSeq(value) ? value.range : undefined;
    return range ? this.#lines.at(range[0], path) : { ...fallback, path };
  }
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === Scalar.PLAIN && key.source === "<<";
}

function childrenOf(node: Node): readonly Node[] {
  if (node.kind === "list") return node.items;
  return node.kind === "map" ? [...node.entries.values()].map(({ value }) => value) : [];
}

function sizeOf(node: Node): Size {
  const parts = childrenOf(node).map(sizeOf);
  const keys = node.kind === "map" ? [...node.entries.keys()] : [];
  const own = node.kind === "scalar" ? [node.text] : keys;
  return {
    values: parts.reduce((sum, { values }) => sum + values, 1 + keys.length),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, own.join("").length),
    depth: parts.reduce(
      (most, { depth }) => Math.max(most, depth + 1),
      node.kind === "list" || node.kind === "map" ? 1 : 0,
    ),
  };
}

/** The same value as a part of another one: its lines stay, its paths begin anew. */
function moved(node: Node, from: string, to: string): Node {
  const at = (place: Place): Place => ({ ...place, path: to + place.path.slice(from.length) });
  const place = at(node.place);
  if (node.kind === "list") return { ...node, place, items: node.items.map((item) => moved(item, from, to)) };
  if (node.kind !== "map") return { ...node, place };
  const entries = [...node.entries].map(([key, entry]): [string, Entry] => [
    key,
    { key, place: at(entry.place), value: moved(entry.value, from, to) },
  ]);
  return { ...node, place, entries: new Map(entries) };
}

/** The path of a key's value, as faults name it: `services.web`. */
export function pathInto(path: string, key: string): string {
  const name = /^[\w-]{1,64}$/.test(key) ? key : show(key);
  return path === "" ? name : `${path}.${name}`;
}
