import { append, largest } from "../../util/index.ts";

/** Space before everything but headings. */
const MARGIN = 2;
/** Further space before code, and before the cells of a wide table. */
const INDENT = 4;
const COLUMN_GAP = 2;

export interface Look {
  /** Length of the longest line; words and code may be longer. */
  readonly width: number;
  /** Whether letters are struck twice, which pagers show in bold. */
  readonly isBold: boolean;
  /** The words that follow a link to a file. */
  reference(file: string): string;
}

/** Blocks of a guide by their first line; a line of another kind ends lists and paragraphs. */
const FENCE = /^\s*```/;
const HEADING = /^(#{1,6}) (.*)/;
const TABLE = /^\|/;
const ITEM = /^(\s*)(-|\d+\.) +(.*)/;
const BLANK = /^\s*$/;
const KINDS = [FENCE, HEADING, TABLE, ITEM, BLANK];

/** The text of a guide for a terminal. Guides have headings, paragraphs, lists, tables and code, and no other Markdown. */
export function renderGuide(markdown: string, look: Look): string {
  const out: string[] = [];
  for (const block of blocksOf(markdown)) {
    const lines = showBlock(block, look);
    // A heading, list or table stands by itself also where the source has no empty line.
    if (lines.join("") !== "" || out.at(-1) !== "") append(out, lines);
  }
  return `${out.join("\n").replace(/^\n+/, "").trimEnd()}\n`;
}

/** The lines of a section: its heading and what stands below, up to the next heading of its level or a higher one. */
export function sectionOf(markdown: string, title: string): string | undefined {
  const blocks = blocksOf(markdown);
  const levelOf = ([line = ""]: readonly string[]): number =>
    HEADING.exec(line)?.[1]?.length ?? Number.POSITIVE_INFINITY;
  const start = blocks.findIndex(([line = ""]) => HEADING.exec(line)?.[2] === title);
  const level = levelOf(blocks[start] ?? []);
  if (start < 0) return undefined;
  const end = blocks.findIndex((block, at) => at > start && levelOf(block) <= level);
  return blocks
    .slice(start, end < 0 ? undefined : end)
    .flat()
    .join("\n");
}

function blocksOf(markdown: string): string[][] {
  const lines = markdown.split("\n");
  const blocks: string[][] = [];
  for (let at = 0; at < lines.length; at = at + (blocks.at(-1)?.length ?? 1)) blocks.push(blockAt(lines, at));
  return blocks;
}

function blockAt(lines: readonly string[], start: number): string[] {
  const first = lines[start] ?? "";
  const isOther = (line: string): boolean => KINDS.some((kind) => kind.test(line));
  const ends = (line: string): boolean => {
    if (FENCE.test(first)) return false;
    return TABLE.test(first) ? !TABLE.test(line) : HEADING.test(first) || BLANK.test(first) || isOther(line);
  };
  let end = start + 1;
  while (end < lines.length && !ends(lines[end] ?? "")) {
    end += 1;
    if (FENCE.test(first) && FENCE.test(lines[end - 1] ?? "")) break;
  }
  return lines.slice(start, end);
}

function showBlock(block: readonly string[], look: Look): string[] {
  const [first = ""] = block;
  if (BLANK.test(first)) return [""];
  if (FENCE.test(first)) return showCode(block);
  if (TABLE.test(first)) return showTable(block, look);
  const heading = HEADING.exec(first);
  if (heading !== null) return [strong(plain(heading[2] ?? "", look), look)];
  const item = ITEM.exec(first);
  const indent = MARGIN + (item?.[1] ?? /^\s*/.exec(first)?.[0] ?? "").length;
  if (item === null) return wrap(block.join(" "), { first: " ".repeat(indent), rest: indent }, look);
  const mark = `${" ".repeat(indent)}${item[2]} `;
  return wrap([item[3], ...block.slice(1)].join(" "), { first: mark, rest: mark.length }, look);
}

function showCode(block: readonly string[]): string[] {
  const outer = /^\s*/.exec(block[0] ?? "")?.[0].length ?? 0;
  const margin = " ".repeat(MARGIN + INDENT + outer);
  return block.slice(1, -1).map((line) => `${margin}${line.slice(outer)}`.trimEnd());
}

/** Columns beside one another where they fit; otherwise each row as its first cell with the others below. */
function showTable(block: readonly string[], look: Look): string[] {
  const [head = [], , ...rows] = block.map(cellsOf);
  const table = [head, ...rows].map((row) => row.map((cell) => plain(cell, look)));
  const widths = head.map((_, column) =>
    largest(
      table.map((row) => (row[column] ?? "").length),
      0,
    ),
  );
  if (widths.reduce((sum, width) => sum + width + COLUMN_GAP, MARGIN) > look.width) return showRows(head, rows, look);
  return table.map((row, at) => {
    const cells = row.map((cell, column) => {
      const space = " ".repeat((widths[column] ?? 0) + COLUMN_GAP - cell.length);
      return `${at === 0 ? strong(cell, look) : cell}${space}`;
    });
    return `${" ".repeat(MARGIN)}${cells.join("")}`.trimEnd();
  });
}

function cellsOf(line: string): string[] {
  const cells = line.trim().split(/(?<!\\)\|/);
  return cells.slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function showRows(head: readonly string[], rows: readonly (readonly string[])[], look: Look): string[] {
  return rows.flatMap(([name = "", ...cells]) => [
    ...wrap(name, { first: " ".repeat(MARGIN), rest: MARGIN }, look),
    ...cells.flatMap((cell, at) => {
      const label = cells.length > 1 ? `${head[at + 1]}: ` : "";
      const indent = MARGIN + INDENT;
      return cell === "" ? [] : wrap(`${label}${cell}`, { first: " ".repeat(indent), rest: indent }, look);
    }),
  ]);
}

interface Margin {
  /** The text before the first line. */
  readonly first: string;
  /** Space before the others. */
  readonly rest: number;
}

/** Lines of whole words. */
function wrap(markdown: string, { first, rest }: Margin, look: Look): string[] {
  const words = inline(markdown, look).trim().split(/\s+/);
  const lines: string[] = [];
  let line = first;
  let length = first.length;
  for (const word of words) {
    const size = unstruck(word).length;
    if (length > rest && line.trim() !== first.trim() && length + 1 + size > look.width) {
      lines.push(line);
      line = " ".repeat(rest);
      length = rest;
    }
    const gap = /\S$/.test(line) ? " " : "";
    line += `${gap}${word}`;
    length += gap.length + size;
  }
  return [...lines, line];
}

/** Emphasis and code in bold, links as their text and the topic that they lead to. */
function inline(markdown: string, look: Look): string {
  return markdown
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, text: string, target: string) => {
      return /^https?:/.test(target) ? `${text} (${target})` : `${text}${look.reference(target.replace(/#.*/, ""))}`;
    })
    .replace(/\*\*(.+?)\*\*/g, (_, text: string) => strong(text.replaceAll("`", ""), look))
    .replace(/`([^`]+)`/g, (_, text: string) => strong(text, look));
}

function plain(markdown: string, look: Look): string {
  return inline(markdown, { ...look, isBold: false });
}

/** Each letter, backspace, and the letter again: the form of bold text that every pager knows. */
function strong(text: string, { isBold }: Look): string {
  return isBold ? text.replace(/[^\s\b]/gu, (letter) => `${letter}\b${letter}`) : text;
}

function unstruck(text: string): string {
  return text.replace(/.[\b]/gu, "");
}
