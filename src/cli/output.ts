import { type JsonValue, printJson } from "../wire/index.ts";
import type { Io } from "./io.ts";
import { printYaml } from "./yaml.ts";

export type OutputFormat = "text" | "json";

/** Prints a result to standard output: one line of JSON, or YAML. */
export function printResult(value: JsonValue, format: OutputFormat, io: Pick<Io, "out">): void {
  io.out(format === "json" ? `${printJson(value)}\n` : printYaml(value));
}
