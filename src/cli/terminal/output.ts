import { printable } from "../../util/index.ts";
import { type JsonValue, printJson } from "../../wire/index.ts";
import { commandError } from "../errors.ts";
import type { Io } from "./io.ts";
import { type Table, tableOf } from "./table.ts";
import { printYaml } from "./yaml.ts";

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

/** Prints a table, and how to see what it leaves out. */
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

/** Prints a node's answer unchanged; only its nesting was checked before. */
export function printAnswer(value: unknown, format: OutputFormat, io: ResultIo): void {
  try {
    printResult(value as JsonValue, format, io);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const hint = "is this the RPC address of a node?";
    throw commandError("the node's answer is nested too deeply to be shown", { cause, hint });
  }
}
