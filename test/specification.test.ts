import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { GLOBAL_FLAGS } from "../src/cli/command/global-flags.ts";
import type { CommandSpec, FlagSpec } from "../src/cli/command/spec.ts";
import { ROOT as COMMANDS } from "../src/cli/root.ts";
import { codeOf, hasTest, type SpecRow, specRows, testNames } from "./support/specification.ts";

/** Holds the pages of docs/specification/ against the tests that they name and against the command tree. */

const ROOT = resolve(import.meta.dirname, "..");
const rows = specRows(join(ROOT, "docs", "specification"));
const placeOf = ({ page, line }: SpecRow): string => `docs/specification/${page}:${line}`;

interface Command {
  readonly words: string;
  readonly spec: CommandSpec;
}

async function commandsOf(spec: CommandSpec, words: string): Promise<Command[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => commandsOf(child, `${words} ${child.name}`)));
  return [...(spec.load === undefined ? [] : [{ words, spec }]), ...below.flat()];
}

const tree = await commandsOf(COMMANDS, "svc");
const flagsOf = ({ spec }: Command): readonly FlagSpec[] => [...(spec.flags ?? []), ...GLOBAL_FLAGS];
const below = (prefix: string): Command[] =>
  tree.filter(({ words }) => words === prefix || words.startsWith(`${prefix} `));

/** Parts of the command tree that docs/specification/ covers: each command there has its row, and each of its flags. */
const SECTIONS = [
  ...["svc version", "svc keys", "svc provider run"],
  ...["svc tx bank", "svc tx provider create", "svc tx cert create server"],
  ...["svc tx sign", "svc tx sign-batch", "svc tx multisign", "svc tx multisign-batch", "svc tx validate-signatures"],
  ...["svc tx encode", "svc tx decode", "svc tx broadcast", "svc tx simulate"],
  ...["svc tx staking delegate", "svc tx staking redelegate", "svc tx staking unbond"],
  ...["svc tx distribution withdraw-rewards", "svc query distribution rewards"],
  ...["svc query bank balances", "svc query tx"],
];

const HINT =
  "add its row, with the test that holds it, to set-up.md, commands.md or reference.md of docs/specification";

const flagRows = rows.filter(({ cells }) => cells.Flag !== undefined);
const commandRows = rows.filter(({ cells }) => cells.Command !== undefined);

/** Commands that a heading such as "Flags of every `svc tx` command" or "Flags of `svc tx sign`" is about. */
function targetsOf({ heading, cells }: SpecRow): Command[] {
  const all = / every /.test(heading);
  const except = codeOf(/not of ((?:`[^`]+`(?:, | and )?)+)/.exec(cells.Here ?? "")?.[1] ?? "");
  const named = codeOf(heading).flatMap((words) => (all ? below(words) : tree.filter((each) => each.words === words)));
  return named.filter(({ words }) => !except.includes(words));
}

const spellings = ({ name, short, alias }: FlagSpec): string[] => [
  ...(short === undefined ? [] : [`-${short}`]),
  `--${name}`,
  ...(alias === undefined ? [] : [`--${alias}`]),
];

/** What a row says of a flag, in the form of `flagFacts`. */
function rowFacts({ cells }: SpecRow) {
  const isSwitch = cells.Values === "switch";
  const [standard] = codeOf(cells.Default ?? "");
  return {
    spellings: codeOf(cells.Flag ?? "").flatMap((text) => text.split(", ")),
    isSwitch,
    choices: codeOf(cells.Values ?? ""),
    default: standard ?? (cells.Default === (isSwitch ? "off" : "none") ? "" : `not understood: ${cells.Default}`),
  };
}

function flagFacts(flag: FlagSpec) {
  return {
    spellings: spellings(flag),
    isSwitch: flag.value === undefined,
    choices: [...(flag.choices ?? [])],
    // Some defaults depend on the machine or the chain and stand in the help alone.
    default: flag.default ?? /\((?:default:? |(?=on for ))([^)]*)\)/.exec(flag.summary)?.[1] ?? "",
  };
}

describe("the tables of the specification", () => {
  test("are there, and long", () => {
    expect(rows.length).toBeGreaterThan(250);
    expect(flagRows.length).toBeGreaterThan(90);
    expect(commandRows.length).toBeGreaterThan(25);
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

describe("commands of the specification", () => {
  test.each(commandRows.map((row) => [row.cells.Command ?? "", row] as const))("%s is as its row says", (_, row) => {
    const words = codeOf(row.cells.Command ?? "")[0] ?? "";
    const command = tree.find((each) => each.words === words);
    expect(command?.words, placeOf(row)).toBe(words);
    const [args = ""] = codeOf(row.cells.Arguments ?? "");
    expect({ place: placeOf(row), args: command?.spec.args ?? "" }).toEqual({ place: placeOf(row), args });
  });

  test("have their rows, each command of their sections", () => {
    const known = new Set(commandRows.flatMap(({ cells }) => codeOf(cells.Command ?? "").slice(0, 1)));
    const missing = SECTIONS.flatMap(below).filter(({ words }) => !known.has(words));
    expect(
      missing.map(({ words }) => words),
      HINT,
    ).toEqual([]);
    for (const section of SECTIONS) expect(below(section).length, section).toBeGreaterThan(0);
  });
});

describe("flags of the specification", () => {
  test.each(flagRows.map((row) => [`${row.cells.Flag} (${row.heading})`, row] as const))("%s", (_, row) => {
    const targets = targetsOf(row);
    expect(targets.length, placeOf(row)).toBeGreaterThan(0);
    const facts = rowFacts(row);
    for (const command of targets) {
      const name = facts.spellings.find((text) => text.startsWith("--"))?.slice(2);
      const flag = flagsOf(command).find((each) => each.name === name);
      const found = flag === undefined ? undefined : flagFacts(flag);
      expect({ place: placeOf(row), command: command.words, ...found }).toEqual({
        place: placeOf(row),
        command: command.words,
        ...facts,
      });
    }
  });

  test("have their rows, each flag that a command of a section shows", () => {
    const known = new Set(
      flagRows.flatMap((row) => targetsOf(row).map(({ words }) => `${words} ${rowFacts(row).spellings.find(isLong)}`)),
    );
    const missing = SECTIONS.flatMap(below).flatMap((command) =>
      flagsOf(command)
        .filter(({ hidden }) => hidden !== true)
        .map(({ name }) => `${command.words} --${name}`)
        .filter((text) => !known.has(text)),
    );
    expect(missing, HINT).toEqual([]);
  });
});

function isLong(text: string): boolean {
  return text.startsWith("--");
}
