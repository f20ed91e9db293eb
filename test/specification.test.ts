import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { envName } from "../src/cli/command/flags.ts";
import { GLOBAL_FLAGS } from "../src/cli/command/global-flags.ts";
import type { CommandSpec } from "../src/cli/command/spec.ts";
import { BIDS, FEES } from "../src/cli/provider/run/bid-settings.ts";
import { CLUSTER, LEASES } from "../src/cli/provider/run/settings.ts";
import { ROOT as COMMANDS } from "../src/cli/root.ts";
import { NODE_SETTINGS } from "../src/node/settings.ts";
import { hasTest, type SpecRow, specRows, testNames } from "./support/specification.ts";

/** Holds the pages of docs/specification/ against the tests that they name, and the command tree against what tests type. */

const ROOT = resolve(import.meta.dirname, "..");
const rows = specRows(join(ROOT, "docs", "specification"));
const placeOf = ({ page, line }: SpecRow): string => `docs/specification/${page}:${line}`;

describe("the tables of the specification", () => {
  test("are there, and long", () => {
    expect(rows.length).toBeGreaterThan(180);
  });

  test("name tests that exist", () => {
    const faults = rows
      .filter(({ cells }) => cells.Test !== undefined)
      .flatMap((row) => {
        const names = testNames(row.cells.Test ?? "");
        if (names === undefined) return [`${placeOf(row)}: write \`file.test.ts\` "group > title"`];
        return names
          .filter((name) => !hasTest(ROOT, name))
          .map(
            ({ file, titles, row: each }) => `${placeOf(row)}: no test "${titles.join(" > ")}" [${each}] in ${file}`,
          );
      });
    expect(faults).toEqual([]);
  });

  test("leave no cell empty", () => {
    const empty = rows.filter(({ cells }) => Object.values(cells).some((cell) => cell === ""));
    expect(empty.map(placeOf)).toEqual([]);
  });
});

interface Command {
  readonly words: string;
  readonly spec: CommandSpec;
}

async function commandsOf(spec: CommandSpec, words: string): Promise<Command[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => commandsOf(child, `${words} ${child.name}`.trim())));
  return [...(spec.load === undefined ? [] : [{ words, spec }]), ...below.flat()];
}

/** All tests and the files of `test/` that they import, as one text; lists of words read like typed lines. */
function typed(): string {
  const files = ["src", "test"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts") || (folder === "test" && name.endsWith(".ts")))
      .map((name) => join(ROOT, folder, name)),
  );
  return files.map((path) => readFileSync(path, "utf8").replace(/",\s+"/g, " ")).join("\n");
}

/** Rows of the tables of settings, which tests go through one by one. */
const SETTINGS = [NODE_SETTINGS, FEES, CLUSTER, BIDS, LEASES].flatMap((rows) =>
  Object.values(rows).map(({ name }: { readonly name: string }) => name),
);

describe("the command tree", async () => {
  const commands = await commandsOf(COMMANDS, "");
  const tests = typed();
  const isTyped = (pattern: string): boolean => new RegExp(`(?<![\\w-])${pattern}(?![\\w-])`).test(tests);

  test("has no command that no test types", () => {
    const last = (words: string): string => words.split(" ").at(-1) ?? "";
    const isOnly = (word: string): boolean => commands.filter(({ words }) => last(words) === word).length === 1;
    const never = commands
      .map(({ words }) => words)
      // Helpers of tests have the first words; a word that only one command ends with may stand alone.
      .filter((words) => !isTyped(words) && !isTyped(words.replace(/^\w+ /, "")))
      .filter((words) => !isOnly(last(words)) || !tests.includes(`"${last(words)}`));
    expect(never, "type it in a test").toEqual([]);
  });

  test("has no flag that no test types", () => {
    const flags = [...GLOBAL_FLAGS, ...commands.flatMap(({ spec }) => spec.flags ?? [])];
    const names = new Set(flags.map(({ name }) => name).filter((name) => !SETTINGS.includes(name)));
    // On the command line, as a variable, or by its name where a test gives the values of flags.
    const never = [...names].filter((name) => ![`--${name}`, envName(name), `"?${name}"?:`].some(isTyped));
    expect(never, "type it in a test").toEqual([]);
  });
});
