import { describe, expect, test } from "vitest";
import { runCli } from "../../test/cli/run.ts";
import type { FlagSpec } from "./command/flag-spec.ts";
import { GLOBAL_FLAGS } from "./command/global-flags.ts";
import type { CommandSpec } from "./command/spec.ts";
import { AMBIGUOUS, SWITCHES } from "./command/words/normalize.ts";
import { ROOT } from "./root.ts";

interface Leaf {
  /** Words after `svc`. */
  readonly path: string;
  readonly spec: CommandSpec;
}

async function leaves(spec: CommandSpec, words: readonly string[] = []): Promise<Leaf[]> {
  const children = await spec.commands?.();
  if (children === undefined) return [{ path: words.join(" "), spec }];
  const found = await Promise.all(children.map((child) => leaves(child, [...words, child.name])));
  const own = spec.load === undefined ? [] : [{ path: words.join(" "), spec }];
  return [...own, ...found.flat()];
}

async function groups(spec: CommandSpec, words: readonly string[] = []): Promise<Leaf[]> {
  const children = await spec.commands?.();
  if (children === undefined) return [];
  const found = await Promise.all(children.map((child) => groups(child, [...words, child.name])));
  return [{ path: words.join(" "), spec }, ...found.flat()];
}

const commands = await leaves(ROOT);
const allGroups = await groups(ROOT);
const flagsOf = ({ flags = [] }: CommandSpec): readonly FlagSpec[] => [...flags, ...GLOBAL_FLAGS];
const spellings = ({ name, short, alias }: FlagSpec): string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
  ...(alias === undefined ? [] : [`--${alias}`]),
];

describe("the command tree", () => {
  test("has no two children of one name", () => {
    expect(allGroups.length).toBeGreaterThan(10);
    return Promise.all(
      allGroups.map(async ({ spec, path }) => {
        const names = ((await spec.commands?.()) ?? []).flatMap(({ name, aliases = [] }) => [name, ...aliases]);
        expect({ path, names: new Set(names).size }).toEqual({ path, names: names.length });
      }),
    );
  });

  test("knows which flags take no value before it knows the command", () => {
    const all = commands.flatMap(({ spec }) => flagsOf(spec));
    const words = (wanted: readonly FlagSpec[]) => new Set(wanted.flatMap(spellings));
    const switches = words(all.filter(({ value }) => value === undefined))
      .add("--help")
      .add("-h");
    const valued = words(all.filter(({ value }) => value !== undefined));
    const ambiguous = [...switches].filter((word) => valued.has(word));
    expect([...AMBIGUOUS].sort()).toEqual(ambiguous.sort());
    expect([...SWITCHES].sort()).toEqual([...switches].filter((word) => !AMBIGUOUS.has(word)).sort());
  });

  test.each(commands)("$path has flags of its own names, and loads", async ({ spec }) => {
    const words = flagsOf(spec).flatMap(spellings);
    expect(words.filter((word, i) => words.indexOf(word) < i)).toEqual([]);
    expect(typeof (await spec.load?.())).toBe("function");
  });

  test.each(commands)("$path has a help with an example that it understands", async ({ path, spec }) => {
    const { code, out, err } = await runCli([...path.split(" "), "--help"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`Usage: svc ${path}`);
    expect(out).toContain(spec.summary);
    const takesNothing = spec.args === undefined && (spec.flags ?? []).length === 0;
    if (takesNothing) return;
    expect(spec.example, "an example").toBeDefined();
    expect(spec.example).toContain(`svc ${path}`);
    expect(spec.example, "no shell looks into single quotes").not.toMatch(/'[^'\n]*\$[^'\n]*'/);
    const known = new Set([...flagsOf(spec).flatMap(spellings), "--help"]);
    const written = (spec.example ?? "").match(/(?<=\s)--?[a-zA-Z][\w.-]*/g) ?? [];
    // `-it` is `-i -t`.
    const used = written.flatMap((word) =>
      /^-[a-z]{2,}$/.test(word) ? [...word.slice(1)].map((letter) => `-${letter}`) : [word],
    );
    expect(used.filter((word) => !known.has(word))).toEqual([]);
  });

  test.each(allGroups.filter(({ spec }) => spec.load === undefined))(
    "svc $path alone prints its help",
    async ({ path }) => {
      const { code, out, err } = await runCli(path === "" ? [] : path.split(" "));
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toMatch(/^(Commands|.*[^:]):$/m);
    },
  );
});

const parse = ["keys", "parse", "00"];
const expected = (await runCli([...parse, "-o", "json"])).out;

describe("the help of a large group", () => {
  test.each(["", "tx", "query", "keys", "provider"])("svc %s shows every command below a heading", async (path) => {
    const { out } = await runCli(path === "" ? [] : [path]);
    const spec = allGroups.find((group) => group.path === path)?.spec;
    const children = (await spec?.commands?.()) ?? [];
    expect(children.filter(({ heading }) => heading === undefined).map(({ name }) => name)).toEqual([]);
    const headings = [...new Set(children.map(({ heading = "" }) => heading))];
    expect(headings.length).toBeGreaterThan(1);
    const found = headings.map((heading) => out.indexOf(`\n${heading}\n  `));
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found).not.toContain(-1);
    expect(out).not.toContain("\nCommands:\n");
  });
});

describe("habits of other tools", () => {
  test.each([
    [["help"], ["--help"]],
    [
      ["help", "keys"],
      ["keys", "--help"],
    ],
    [
      ["help", "keys", "add"],
      ["keys", "add", "--help"],
    ],
    [["--version"], ["version"]],
  ])("svc %j is svc %j", async (argv, ours) => {
    const { code, out } = await runCli(argv);
    expect({ code, out }).toEqual(await runCli(ours).then((ran) => ({ code: 0, out: ran.out })));
    expect(out).not.toBe("");
  });

  test("help for an unknown command says so", async () => {
    expect((await runCli(["help", "keyz"])).err).toContain('unknown command "keyz"');
  });
});

describe("flags", () => {
  test.each([
    [["-o", "json", ...parse]],
    [["keys", "-o", "json", "parse", "00"]],
    [["keys", "parse", "-o", "json", "00"]],
    [["--log_level", "debug", "keys", "--output=json", "--trace", "parse", "00"]],
    [["--trace", "-o", "json", "keys", "--home", "parse", "parse", "00"]],
  ])("stand anywhere: svc %j", async (argv) => {
    expect(await runCli(argv)).toEqual({ code: 0, out: expected, err: "" });
  });

  test("come from the environment when they are not written", async () => {
    expect((await runCli(parse, { env: { SVC_OUTPUT: "json" } })).out).toBe(expected);
    expect((await runCli([...parse, "-o", "text"], { env: { SVC_OUTPUT: "json" } })).out).not.toBe(expected);
  });

  test("of other programs are ignored", async () => {
    const env = { SVC_OUTPUT: "json", SVC_NET: "http://x", SVC_KEY_NAME: "k", SVC_ACCOUNT_ADDRESS: "a" };
    expect((await runCli(parse, { env })).code).toBe(0);
  });

  test("a stack is printed with --trace alone", async () => {
    const wrong = ["keys", "parse", "zz"];
    expect((await runCli(wrong)).err).not.toContain("    at ");
    expect((await runCli([...wrong, "--trace"])).err).toContain("    at ");
  });
});
