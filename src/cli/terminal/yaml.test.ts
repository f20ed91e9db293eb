import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readJson } from "../../wire/index.ts";
import { printYaml } from "./output.ts";

interface Session {
  readonly args: readonly string[];
  readonly stdout: string;
}

const sessions = JSON.parse(
  readFileSync(new URL("../../../test/vectors/cli-live-sdk042.json", import.meta.url), "utf8"),
) as readonly Session[];

/** Queries that were recorded both as JSON and as text. */
const pairs = sessions.flatMap(({ args, stdout }) => {
  const text = sessions.find((other) => [...other.args, "-o", "json"].join(" ") === args.join(" "));
  return text === undefined || stdout === "" ? [] : [{ name: text.args.join(" "), json: stdout, yaml: text.stdout }];
});

describe("YAML output", () => {
  test("there are recorded pairs", () => expect(pairs.length).toBeGreaterThanOrEqual(4));

  test.each(pairs.filter(({ name }) => !name.startsWith("query tx ")))("$name prints as recorded", ({ json, yaml }) => {
    expect(printYaml(readJson(json))).toBe(yaml);
  });

  test("a transaction prints as recorded", () => {
    const pair = pairs.find(({ name }) => name.startsWith("query tx "));
    // The reference merges neighbouring events of one type in its text, and only there.
    const withoutEvents = (yaml: string) => yaml.replace(/^events:\n(?:[- ].*\n)*/m, "");
    expect(withoutEvents(printYaml(readJson(pair?.json ?? "{}")))).toBe(withoutEvents(pair?.yaml ?? "none"));
  });

  test.each([
    ["", '""'],
    ["0", '"0"'],
    ["1e3", '"1e3"'],
    ["0x1F", '"0x1F"'],
    ["0o17", '"0o17"'],
    ["0b101", '"0b101"'],
    ["0B3F", "0B3F"],
    ["0o89", "0o89"],
    ["12:30", '"12:30"'],
    ["2026-11-21T17:17:35Z", '"2026-11-21T17:17:35Z"'],
    ["No", '"No"'],
    ["~", '"~"'],
    ["@type", "'@type'"],
    ["it's: here", "'it''s: here'"],
    ["a: b", "'a: b'"],
    ["a #b", "'a #b'"],
    ["- a", "'- a'"],
    ["-a", "-a"],
    ["two words", "two words"],
    ["a\nb", '"a\\nb"'],
    ["\u001b[2J", '"\\u001b[2J"'],
    ["\u202egnp", '"\\u202egnp"'],
    ["1814400s", "1814400s"],
    ["/sdk.bank.v1beta1.MsgSend", "/sdk.bank.v1beta1.MsgSend"],
  ])("%j prints as %s", (value, expected) => {
    expect(printYaml(value)).toBe(`${expected}\n`);
  });

  test("whatever is printed reads back", () => {
    const scalars = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        scalars,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(
          fc.string({ minLength: 1 }).filter((key) => key !== "__proto__"),
          tie("value"),
          { maxKeys: 4 },
        ),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => {
        const plain = JSON.parse(JSON.stringify(json));
        expect(parse(printYaml(plain), { version: "1.1", merge: false })).toEqual(plain);
        expect(parse(printYaml(plain), { version: "1.2" })).toEqual(plain);
      }),
      { numRuns: 500 },
    );
  });
});
