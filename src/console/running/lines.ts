import type { GatewayLogLine } from "../../client/index.ts";
import { cleanLine, printable } from "../../util/index.ts";

/** Lines that a page holds, and their characters; older ones are dropped. */
const MAX_LINES = 20_000;
const MAX_CHARACTERS = 8_000_000;
/** Characters of one line. */
const MAX_LINE = 4_000;

/** How grave a line is, by its own words. */
export type Level = "error" | "warning" | "other";

/** A line of a replica as the pages show it. */
export interface LogLine {
  /** Counts the lines of the page. */
  readonly serial: number;
  /** The replica that wrote it. */
  readonly from: string;
  /** RFC 3339; empty where the provider does not send it. */
  readonly time: string;
  readonly text: string;
  readonly level: Level;
}

/** Names of levels as loggers write them: in JSON, as `level=`, or as a word in capitals or brackets near the start. */
const NAMED = /(?:"(?:level|severity|lvl)"\s*:\s*"|\b(?:level|severity|lvl)=["']?)(\w+)/i;
const MARKED = /^.{0,80}?(?:\[\s*(\w+)\s*\]|\b(FATAL|CRITICAL|PANIC|ERROR|ERR|WARN|WARNING)\b)/;
const GRAVE = /^(?:fatal|critical|crit|panic|error|err|emerg|alert)$/i;
const WARNING = /^warn(?:ing)?$/i;

export function levelOf(text: string): Level {
  const marked = MARKED.exec(text);
  const word = NAMED.exec(text)?.[1] ?? marked?.[1] ?? marked?.[2] ?? "";
  if (GRAVE.test(word)) return "error";
  return WARNING.test(word) ? "warning" : "other";
}

/** A text of a container: nothing in it moves a cursor, turns the direction of the text around or hides. */
export function shownText(text: string): string {
  return printable(cleanLine(text.slice(0, MAX_LINE), { isPlain: true }));
}

/** Which lines are wanted. */
export interface LineFilter {
  /** A part of the line, in any case; empty for all. */
  readonly search: string;
  /** The least grave level that is shown. */
  readonly level: Level;
  /** Lines from this serial number on are left out. */
  readonly until?: number | undefined;
}

const GRAVITY: Readonly<Record<Level, number>> = { other: 0, warning: 1, error: 2 };

/** The newest lines of all replicas, within bounds. */
export class LineStore {
  #lines: LogLine[] = [];
  /** Lines at the head of the list that are dropped already. */
  #first = 0;
  #characters = 0;
  #serial = 0;

  /** Lines received since the start. */
  get received(): number {
    return this.#serial;
  }

  /** Lines that are held. */
  get held(): number {
    return this.#lines.length - this.#first;
  }

  push({ name, message, time = "" }: GatewayLogLine): void {
    const text = shownText(message);
    const from = shownText(name.slice(0, 200));
    this.#lines.push({ serial: this.#serial++, from, time: shownText(time.slice(0, 40)), text, level: levelOf(text) });
    this.#characters += text.length;
    while (this.held > MAX_LINES || this.#characters > MAX_CHARACTERS) {
      this.#characters -= this.#lines[this.#first]?.text.length ?? 0;
      this.#first += 1;
    }
    if (this.#first < MAX_LINES) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }

  clear(): void {
    this.#lines = [];
    this.#first = 0;
    this.#characters = 0;
    this.#serial = 0;
  }

  /** The newest matching lines in the order they came, and how many match in all. */
  find(
    { search, level, until = this.#serial }: LineFilter,
    most: number,
  ): { readonly lines: readonly LogLine[]; readonly matches: number } {
    const wanted = search.toLowerCase();
    const lines: LogLine[] = [];
    let matches = 0;
    for (let at = this.#lines.length - 1; at >= this.#first; at--) {
      const line = this.#lines[at];
      if (line === undefined || line.serial >= until || GRAVITY[line.level] < GRAVITY[level]) continue;
      if (wanted !== "" && !`${line.from} ${line.text}`.toLowerCase().includes(wanted)) continue;
      matches += 1;
      if (lines.length < most) lines.push(line);
    }
    return { lines: lines.reverse(), matches };
  }

  /** All held lines as a text file. */
  asText(): string {
    const lines = this.#lines.slice(this.#first);
    return lines.map(({ from, time, text }) => `${time === "" ? "" : `${time} `}[${from}] ${text}\n`).join("");
  }
}
