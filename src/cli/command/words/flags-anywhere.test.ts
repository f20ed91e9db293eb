import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { runs } from "../../../../test/support/runs.ts";
import { ROOT } from "../../root.ts";
import { allFlags, type ParsedLine, parseLine, toCommand } from "../command-line.ts";
import type { FlagSpec } from "../flag-spec.ts";
import type { CommandSpec } from "../spec.ts";
import { resolveCommand } from "./normalize.ts";

interface Leaf {
  readonly words: readonly string[];
  readonly spec: CommandSpec;
}

async function leaves(spec: CommandSpec, words: readonly string[] = []): Promise<Leaf[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => leaves(child, [...words, child.name])));
  return [...(spec.load === undefined ? [] : [{ words, spec }]), ...below.flat()];
}

const commands = await leaves(ROOT);
/** Words that name a command somewhere are never values here: after a flag that is a switch elsewhere they are commands. */
const names = new Set(
  commands.flatMap(({ words, spec }) => [...words, ...(spec.aliases ?? [])]).concat("q", "validate"),
);

async function parse(argv: readonly string[]): Promise<{ path: string; line: ParsedLine | undefined }> {
  const { path, rest } = await resolveCommand(ROOT, argv);
  const spec = path.at(-1) ?? ROOT;
  const line = await parseLine(await toCommand(path, { out: () => {} }), spec, rest);
  return { path: path.map(({ name }) => name).join(" "), line };
}

const word = fc.stringMatching(/^[a-z0-9_./:-]{1,8}$/).filter((text) => !names.has(text) && !text.startsWith("-"));
/** Values may look like flags, or be anything else. */
const value = fc
  .oneof(word, fc.constantFrom("-1", "-y", "--from", "a b", "a=b", "", "*"))
  .filter((text) => text !== "--");

/** One flag in one of its spellings, with its value. */
function written(flag: FlagSpec): fc.Arbitrary<readonly string[]> {
  const { name, short, value: placeholder, alias, choices } = flag;
  const long = fc.constantFrom(`--${name}`, ...(alias === undefined ? [] : [`--${alias}`]));
  const spelling = short === undefined ? long : fc.oneof(long, fc.constant(`-${short}`));
  if (placeholder === undefined) {
    return fc.oneof(
      spelling.map((text) => [text]),
      fc.tuple(long, fc.boolean()).map(([text, on]) => [`${text}=${on}`]),
    );
  }
  const values = choices === undefined ? value : fc.constantFrom(...choices);
  return fc.oneof(
    fc.tuple(spelling, values).map(([text, given]) => [text, given]),
    fc.tuple(spelling, values).map(([text, given]) => [`${text}=${given}`]),
    ...(short === undefined ? [] : [word.map((given) => [`-${short}${given.replace(/[=-]/g, "x")}`])]),
  );
}

function positionals({ args = "" }: CommandSpec): fc.Arbitrary<readonly string[]> {
  const places = args.split(/\s+(?=[<[])/).filter((place) => place !== "");
  const each = places.map((place) => {
    const minLength = place.startsWith("<") ? 1 : 0;
    return fc.array(word, { minLength, maxLength: place.includes("...") ? 3 : 1 });
  });
  // An optional word is present only if the words before it are.
  return fc.tuple(...each).map((groups) => {
    const end = groups.findIndex((group) => group.length === 0);
    return groups.slice(0, end < 0 ? groups.length : end).flat();
  });
}

const line = fc.constantFrom(...commands).chain(({ words, spec }) =>
  fc.record({
    words: fc.constant(words),
    spec: fc.constant(spec),
    args: positionals(spec),
    flags: fc
      .subarray([...allFlags(spec)], { minLength: 1, maxLength: 4 })
      .chain((some) => fc.tuple(...some.map(written))),
    moved: fc.nat(),
    place: fc.nat(),
  }),
);

describe("flags", () => {
  test("mean the same at every earlier place", async () => {
    await fc.assert(
      fc.asyncProperty(line, async ({ words, spec, args, flags, moved, place }) => {
        // After the words of another program, a flag belongs to that program.
        const units =
          spec.passThrough === true || spec.programAfter !== undefined
            ? [...flags, ...args.map((arg) => [arg])]
            : [...args.map((arg) => [arg]), ...flags];
        const all = [...words.map((each) => [each]), ...units];
        const index = all.indexOf(flags[moved % flags.length] ?? []);
        const to = place % (index + 1);
        const unit = all[index] ?? [];
        const other = all.toSpliced(index, 1).toSpliced(to, 0, unit);
        const before = await parse(all.flat());
        expect(before.path).toBe(["svc", ...words].join(" "));
        expect({ argv: other.flat(), ...(await parse(other.flat())) }).toEqual({ argv: other.flat(), ...before });
      }),
      { numRuns: runs(150) },
    );
  });

  test.each([
    [
      ["tx", "bank", "send", "a", "b", "1x", "--yes=true", "-o=json", "-b=block"],
      { yes: true, output: "json", "broadcast-mode": "block" },
    ],
    [["tx", "bank", "send", "--yes=false", "a", "b", "1x", "--dry-run=1"], { yes: false, "dry-run": true }],
    [["-yojson", "tx", "bank", "send", "a", "b", "1x"], { yes: true, output: "json" }],
    [["-a12", "-s", "3", "tx", "bank", "send", "a", "b", "1x"], { "account-number": "12", sequence: "3" }],
    [["tx", "bank", "send", "a", "b", "1x", "--memo", "--yes=maybe"], { memo: "--yes=maybe" }],
    [["tx", "bank", "send", "a", "b", "1x", "--memo=a=b"], { memo: "a=b" }],
  ])("%j", async (argv, flags) => {
    const { line: parsed } = await parse(argv);
    expect(parsed?.args).toEqual(["a", "b", "1x"]);
    expect(Object.fromEntries(parsed?.flags ?? [])).toEqual(flags);
  });

  test("a switch of a command without arguments may have its value behind it", async () => {
    const on = (await parse(["provider", "run", "--cluster-k8s", "true", "--deployment-ingress-static-hosts", "false"]))
      .line;
    expect(on).toMatchObject({ args: [] });
    expect(Object.fromEntries(on?.flags ?? [])).toEqual({
      "cluster-orch": true,
      "deployment-ingress-static-hosts": false,
    });
    // In a command with arguments, the word is one of them: `true` may be the name of a key.
    const key = (await parse(["keys", "delete", "-y", "true"])).line;
    expect(key?.args).toEqual(["true"]);
    await expect(parse(["provider", "run", "--cluster-orch", "maybe"])).rejects.toThrow("too many arguments");
  });

  test.each([
    [["web", "-t", "sh", "-c", "ls -l", "--from", "x"], ["web", "sh", "-c", "ls -l", "--from", "x"], { tty: true }],
    [["-t", "web", "--", "sh", "-c", "ls"], ["web", "sh", "-c", "ls"], { tty: true }],
    [["web", "--from", "alice", "--dseq=7", "ls", "--", "-l"], ["web", "ls", "--", "-l"], { from: "alice", dseq: "7" }],
    [["web", "-t"], ["web"], { tty: true }],
  ])("behind the command of a container's shell they are the command's: %j", async (argv, args, flags) => {
    const { line: parsed } = await parse(["deploy", "shell", ...argv]);
    expect(parsed?.args).toEqual(args);
    expect(Object.fromEntries(parsed?.flags ?? [])).toEqual(flags);
  });

  test("a switch takes true and false alone", async () => {
    const { code, err } = await runCli(["tx", "bank", "send", "a", "b", "1x", "--yes=maybe"]);
    expect(code).toBe(2);
    expect(err).toBe('Error: --yes takes true or false, not "maybe"\nHint: write --yes alone\n');
  });
});

describe("logs", () => {
  const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "panic"];
  const FORMATS = ["plain", "json"];
  const all = LEVELS.flatMap((level) => FORMATS.map((format) => [level, format] as const));

  test.each(all)("level %s in format %s is taken everywhere", async (level, format) => {
    const parsed = ["keys", "parse", "00"];
    const { out } = await runCli(parsed);
    expect(await runCli(["--log_level", level, ...parsed, "--log_format", format])).toEqual({ code: 0, out, err: "" });
    const env = { SVC_LOG_LEVEL: level, SVC_LOG_FORMAT: format };
    expect(await runCli(parsed, { env })).toEqual({ code: 0, out, err: "" });
    expect((await runCli([...parsed, `--log-level=${level}`])).code).toBe(0);
  });

  test("a stack is printed with --trace or SVC_TRACE alone", async () => {
    const wrong = ["keys", "parse", "zz"];
    const stack = async (argv: readonly string[], env = {}) => (await runCli(argv, { env })).err.includes("    at ");
    expect(await stack(wrong)).toBe(false);
    expect(await stack([...wrong, "--trace"])).toBe(true);
    expect(await stack(["--trace", ...wrong])).toBe(true);
    expect(await stack(wrong, { SVC_TRACE: "true" })).toBe(true);
    expect(await stack(wrong, { SVC_TRACE: "0" })).toBe(false);
    expect(await stack(["keys", "parse", "--", "--trace"])).toBe(false);
    expect(await stack(["frobnicate", "--trace"])).toBe(true);
  });
});
