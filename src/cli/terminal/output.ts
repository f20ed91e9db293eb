import { type JsonValue, printJson } from "../../wire/index.ts";
import { commandError } from "../errors.ts";
import type { Io } from "./io.ts";
import { printYaml } from "./yaml.ts";

export type OutputFormat = "text" | "json";

/** Prints a result to standard output: one line of JSON, or YAML. */
export function printResult(value: JsonValue, format: OutputFormat, io: Pick<Io, "out">): void {
  io.out(format === "json" ? `${printJson(value)}\n` : printYaml(value));
}

/** What is read of the flags here. */
interface OutputFlags {
  text(name: string): string;
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
export function printAnswer(value: unknown, format: OutputFormat, io: Pick<Io, "out">): void {
  try {
    printResult(value as JsonValue, format, io);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const hint = "is this the RPC address of a node?";
    throw commandError("the node's answer is nested too deeply to be shown", { cause, hint });
  }
}
