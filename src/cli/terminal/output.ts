import { isPrintable, printable } from "../../util/index.ts";
import { isArray, isObject, type JsonValue, MAX_JSON_DEPTH, printJson } from "../../wire/index.ts";
import { commandError } from "../errors.ts";
import type { Io } from "./io.ts";
import { type Table, tableOf } from "./table.ts";

/** `table` prints lists as tables, and everything else as text. */
export type OutputFormat = "text" | "json" | "table";

/** The part of the flags that is read here. */
interface OutputFlags {
  text(name: string): string;
  source(name: string): string;
}

/** The format of `--output`. Where the user chose none, people at a terminal read lists as tables. */
export function outputFormat(flags: OutputFlags, { columns }: Pick<Io, "columns">): OutputFormat {
  if (flags.text("output") === "json") return "json";
  const isChosen = ["flag", "env"].includes(flags.source("output"));
  return isChosen || columns === undefined ? "text" : "table";
}

/** The streams to which a result is printed. */
export type ResultIo = Pick<Io, "out" | "err" | "columns">;

/** Prints a result to standard output: one line of JSON, YAML, or the table of a list. */
export function printResult(value: JsonValue, format: OutputFormat, io: ResultIo): void {
  const table = format === "table" ? tableOf(value, io.columns) : undefined;
  if (table !== undefined) printTable(table, io);
  else io.out(format === "json" ? `${printJson(value)}\n` : printYaml(value));
}

/** Prints a table, and the command for its hidden part. */
export function printTable({ text, isCut, next }: Table, io: ResultIo): void {
  io.out(text);
  if (next !== undefined) io.err(`more rows follow: --page-key ${printable(next)}\n`);
  if (isCut) io.err("lines are cut at the width of the terminal; -o text shows everything\n");
}

interface Printing {
  readonly flags: OutputFlags;
  readonly io: Pick<Io, "out">;
}

/** Prints a result in the format of `--output`: as one line of JSON, or as text that has its own form. */
export function printAs({ flags, io }: Printing, value: JsonValue, text: string): void {
  io.out(flags.text("output") === "json" ? `${printJson(value)}\n` : text);
}

/** Prints a node's answer unchanged, unless its values are nested too deeply to be shown. */
export function printAnswer(value: unknown, format: OutputFormat, io: ResultIo): void {
  const answer = value as JsonValue;
  if (isDeeper(answer, MAX_JSON_DEPTH)) {
    const hint = "is this the RPC address of a node?";
    throw commandError("the node's answer is nested too deeply to be shown", { hint });
  }
  printResult(answer, format, io);
}

/** Whether lists and objects are nested more than `levels` deep. */
function isDeeper(value: JsonValue, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/**
 * JSON as YAML text in the layout of the ecosystem's tools: keys in alphabetical order, lists at the indentation of
 * their key, texts that would parse as something else in quotes.
 */
export function printYaml(value: JsonValue): string {
  if (isScalar(value)) return `${scalar(value)}\n`;
  return `${block(value, "").join("\n")}\n`;
}

type Scalar = string | number | boolean | null | readonly [] | Readonly<Record<string, never>>;

/** Whether a value fits on one line: empty lists and objects do. */
function isScalar(value: JsonValue): value is Scalar {
  if (isArray(value)) return value.length === 0;
  return !isObject(value) || Object.keys(value).length === 0;
}

function block(value: JsonValue, indent: string): string[] {
  if (isArray(value)) return value.flatMap((item) => listItem(item, indent));
  if (!isObject(value)) return [];
  return Object.keys(value)
    .sort()
    .flatMap((key) => entry(key, value[key] ?? null, indent));
}

function entry(key: string, value: JsonValue, indent: string): string[] {
  const name = `${indent}${text(key)}:`;
  if (isScalar(value)) return [`${name} ${scalar(value)}`];
  return [name, ...block(value, isArray(value) ? indent : `${indent}  `)];
}

function listItem(item: JsonValue, indent: string): string[] {
  if (isScalar(item)) return [`${indent}- ${scalar(item)}`];
  const [first = "", ...rest] = block(item, `${indent}  `);
  return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest];
}

function scalar(value: Scalar): string {
  if (typeof value === "string") return text(value);
  return isArray(value) ? "[]" : typeof value === "object" && value !== null ? "{}" : String(value);
}

const WORDS = /^(?:~|null|true|false|yes|no|on|off|y|n|<<|=|\.nan|[-+]?\.inf)$/i;
const NUMBERS =
  /^[-+]?(?:0x[0-9a-f_]+|0o[0-7_]+|0b[01_]+|(?:[0-9][0-9_]*(?::[0-5]?[0-9])*)?(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?)$/i;
const DATES = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt \t])/;
const INDICATORS = /^(?:[,[\]{}#&*!|>'"%@`]|[-?:](?:\s|$))|^(?:---|\.\.\.)|: |:$| #|^\s|\s$/;

function text(value: string): string {
  if (value === "" || WORDS.test(value) || NUMBERS.test(value) || DATES.test(value)) return JSON.stringify(value);
  // JSON's escapes are valid in YAML too.
  if (!isPrintable(value)) return printable(JSON.stringify(value));
  return INDICATORS.test(value) ? `'${value.replaceAll("'", "''")}'` : value;
}
