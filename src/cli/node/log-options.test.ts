import { describe, expect, test } from "vitest";
import { createLogger } from "../../util/index.ts";
import { resolveFlags } from "../command/flags.ts";
import { GLOBAL_FLAGS } from "../command/global-flags.ts";
import { logOptions } from "./log-options.ts";

/** Lines of a log with these flags: one of each level. */
function linesOf(given: Record<string, string>): string[] {
  const lines: string[] = [];
  const flags = resolveFlags(GLOBAL_FLAGS, new Map(Object.entries(given)), {});
  const log = createLogger({ ...logOptions(flags), write: (line) => lines.push(line), now: () => 0 });
  for (const level of ["debug", "info", "warn", "error"] as const) log[level](`a line of ${level}`);
  return lines;
}

describe("the log of a node and of a provider", () => {
  test.each([
    ["trace", "DIWE"],
    ["debug", "DIWE"],
    ["info", "IWE"],
    ["warn", "WE"],
    ["error", "E"],
    ["fatal", ""],
    ["panic", ""],
  ])("--log_level %s", (level, letters) => {
    expect(linesOf({ log_level: level }).map((line) => line[0])).toEqual([...letters]);
  });

  test("has plain lines from info on without flags", () => {
    expect(linesOf({}).map((line) => line.slice(0, 2))).toEqual(["I[", "W[", "E["]);
  });

  test("--log_format json", () => {
    const [first = ""] = linesOf({ log_format: "json" });
    expect(JSON.parse(first)).toMatchObject({ level: "info", message: "a line of info" });
  });
});
