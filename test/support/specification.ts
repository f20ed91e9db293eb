import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A row of a table in `docs/specification/`, its cells by the heads of their columns. */
export interface SpecRow {
  readonly page: string;
  /** Heading above the table. */
  readonly heading: string;
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/** A test that a row names: `path/to/file.test.ts` "group > title [row]". */
export interface TestName {
  readonly file: string;
  /** Titles of the groups, then the test's; templates are not evaluated. */
  readonly titles: readonly string[];
  /** The contents of the row in a table of cases. */
  readonly row: string | undefined;
}

/** A title in the source of a test file; `group` is unknown after a table of cases. */
interface Title {
  readonly text: string;
  readonly at: number;
  readonly group: boolean | undefined;
}

/** All rows of all pages of a folder. */
export function specRows(folder: string): SpecRow[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  return names.flatMap((page) => rowsOf(page, readFileSync(join(folder, page), "utf8")));
}

function rowsOf(page: string, text: string): SpecRow[] {
  const rows: SpecRow[] = [];
  let heading = "";
  let columns: readonly string[] | undefined;
  for (const [i, line] of text.split("\n").entries()) {
    const cells = line.startsWith("|") ? cellsOf(line) : undefined;
    if (line.startsWith("#")) heading = line.replace(/^#+ /, "");
    if (cells === undefined) columns = undefined;
    else if (columns === undefined) columns = cells;
    else if (!/^\|[-|]+$/.test(line)) {
      const named = Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? ""]));
      if (cells.length !== columns.length) throw new Error(`${page}:${i + 1}: ${cells.length} cells`);
      rows.push({ page, heading, line: i + 1, cells: named });
    }
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Texts of a cell between backquotes. */
export function codeOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
}

const REFERENCE = /`([^`]+\.test\.ts)`((?: "[^"]+",?)+)/g;

/** The tests of a cell; undefined when it has other words, or none at all. */
export function testNames(cell: string): TestName[] | undefined {
  const found = [...cell.matchAll(REFERENCE)].flatMap(([, file = "", titles = ""]) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => nameOf(file, title)),
  );
  const rest = cell.replaceAll(REFERENCE, "").replaceAll(/[;\s]/g, "");
  return found.length === 0 || rest !== "" ? undefined : found;
}

function nameOf(file: string, text: string): TestName {
  const [, path = text, row] = /^(.*?)(?: \[(.*)\])?$/.exec(text) ?? [];
  return { file, titles: path.split(" > "), row };
}

/** Whether there is such a test, below a folder; the cases of a table may be in files that the test imports. */
export function hasTest(root: string, { file, titles, row }: TestName): boolean {
  const path = join(root, file);
  if (!existsSync(path)) return false;
  const source = readFileSync(path, "utf8");
  const known = titlesIn(source);
  let at = -1;
  for (const [i, text] of titles.entries()) {
    const isLast = i === titles.length - 1;
    const found = known.find((each) => each.text === text && each.at > at && each.group !== isLast);
    if (found === undefined) return false;
    at = found.at;
  }
  return row === undefined || [source, ...importsOf(path, source)].some((text) => text.includes(row));
}

function importsOf(path: string, source: string): string[] {
  const names = [...source.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, name = ""]) => join(dirname(path), name));
  return names.filter((name) => existsSync(name)).map((name) => readFileSync(name, "utf8"));
}

const TITLE =
  /(?:\b(describe|test|it)\w*(?:\.\w+)*|\))\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)\s*,/g;

function titlesIn(source: string): Title[] {
  return [...source.matchAll(TITLE)]
    .map(([, kind, ...quoted]) => ({ kind, text: quoted.find(isText) ?? "" }))
    .map(({ kind, text }, i) => ({ text, at: i, group: kind === undefined ? undefined : kind === "describe" }));
}

function isText(text: unknown): text is string {
  return typeof text === "string";
}
