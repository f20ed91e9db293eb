import { describe, expect, test } from "vitest";
import { allFlags } from "../src/cli/command/command-line.ts";
import type { CommandSpec } from "../src/cli/command/spec.ts";
import { ROOT } from "../src/cli/root.ts";
import { manPages } from "../tools/docs/man.ts";

const pages = await manPages({ version: "1.2.3", date: "2026-01-02" });
/** Without the marks of roff. */
const textOf = (name: string): string => (pages.get(name) ?? "").replace(/\\f[BIR]|\\:/g, "").replaceAll("\\-", "-");

interface Place {
  readonly words: readonly string[];
  readonly spec: CommandSpec;
  readonly children: readonly CommandSpec[];
}

async function placesOf(spec: CommandSpec, words: readonly string[]): Promise<Place[]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => placesOf(child, [...words, child.name])));
  return [{ words, spec, children }, ...below.flat()];
}

describe("the man pages", async () => {
  const places = await placesOf(ROOT, ["svc"]);

  test("are one for each group and each command", () => {
    expect([...pages.keys()].sort()).toEqual(places.map(({ words }) => `${words.join("-")}.1`).sort());
    expect(pages.size).toBeGreaterThan(250);
  });

  test("have the summary, the commands below and every flag with its variable", () => {
    for (const { words, spec, children } of places) {
      const text = textOf(`${words.join("-")}.1`);
      const flags = spec.load === undefined ? [] : allFlags(spec).filter(({ hidden }) => hidden !== true);
      const wanted = [
        `${words.join("-")} - ${spec.summary.replace(/\.$/, "")}\n`,
        ...children.map(({ name }) => `\n${words.join(" ")} ${name}\n`),
        ...flags.map(({ name }) => `--${name}`),
      ];
      expect({ words, missing: wanted.filter((part) => !text.includes(part)) }).toEqual({ words, missing: [] });
    }
  });

  test("begin with the title, the version and the date", () => {
    const [first] = (pages.get("svc-tx-bank-send.1") ?? "").split("\n");
    expect(first).toBe('.TH SVC-TX-BANK-SEND 1 "2026-01-02" "svc 1.2.3" "svc"');
  });

  test("have requests of roff only where they are meant", () => {
    const known = /^\.(TH|SH|TP|EX|EE|BR|B|I|nh|ad l)( |$)/;
    const lines = [...pages.values()].flatMap((text) => text.split("\n")).filter((line) => /^[.']/.test(line));
    expect(lines.filter((line) => !known.test(line))).toEqual([]);
  });

  test("own flags come first and global ones last", () => {
    const text = textOf("svc-tx-bank-send.1");
    const order = ["SYNOPSIS", "TRANSACTION FLAGS", "GLOBAL FLAGS", "EXAMPLES", "SEE ALSO"];
    const found = order.map((title) => text.indexOf(`.SH ${title}\n`));
    expect(found).not.toContain(-1);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  });
});
