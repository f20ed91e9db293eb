import { describe, expect, test } from "vitest";
import { allServices, cliGroup, cliOption, MODULES } from "../../wire/index.ts";
import type { CommandSpec } from "../command/spec.ts";
import { OWN_QUERIES } from "../query/commands.ts";
import { OWN_TXS } from "../tx/commands.ts";
import { queryGroups, txGroups } from "./groups.ts";

async function wordsOf(specs: readonly CommandSpec[], before: readonly string[] = []): Promise<string[]> {
  const found = await Promise.all(
    specs.map(async ({ name, commands }) => {
      const words = [...before, name];
      return commands === undefined ? [words.join(" ")] : wordsOf(await commands(), words);
    }),
  );
  return found.flat();
}

const SERVICES = allServices();
const TREES = [
  ["Msg", await wordsOf(txGroups()), OWN_TXS],
  ["Query", await wordsOf(queryGroups()), OWN_QUERIES],
] as const;

describe.each(TREES)("commands of %s services", (service, commands, own) => {
  const services = SERVICES.filter(({ name }) => name === service).map((each) => {
    return { each, module: each.typeName.split(".")[1] ?? "" };
  });

  test("the table of modules is what the options of their services say", () => {
    const said = services.flatMap(({ each, module }) => {
      const group = cliGroup(each);
      return group === undefined ? [] : [[module, group.short]];
    });
    const table = MODULES.flatMap(({ module, [service]: short }) => (short === undefined ? [] : [[module, short]]));
    expect(table, "run: npm run gen").toEqual(said.sort());
  });

  test("every rpc that no option skips is one", () => {
    const missing = services.flatMap(({ each, module }) =>
      each.methods.flatMap((method) => {
        const cli = cliOption(method);
        if (cli === undefined) return [`${each.typeName}/${method.name} has no option`];
        const made = cli.skip ? [] : [cli, ...cli.more].map(({ command }) => `${module} ${command}`);
        return made.filter((words) => !commands.includes(words));
      }),
    );
    expect(missing).toEqual([]);
  });

  test("those written by hand stand in the group of their module", () => {
    const words = Object.entries(own).flatMap(([module, specs]) => specs.map(({ name }) => `${module} ${name}`));
    expect(words.length).toBeGreaterThan(5);
    expect(words.filter((each) => !commands.includes(each))).toEqual([]);
  });
});
