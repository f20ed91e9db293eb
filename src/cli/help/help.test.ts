import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { ROOT } from "../root.ts";
import { guidePath } from "./command.ts";
import { renderGuide, sectionOf } from "./render.ts";
import { isTopic, TOPICS } from "./topics.ts";

const GUIDES = readdirSync(guidePath(""));
const PLAIN = { width: 100, isBold: false, reference: () => "" };

describe("svc help TOPIC", () => {
  test("shows each topic from the guides, in lines that fit", async () => {
    for (const { name } of TOPICS) {
      const { code, out, err } = await runCli(["help", name]);
      expect({ name, code, err }).toEqual({ name, code: 0, err: "" });
      expect(out.length).toBeGreaterThan(1000);
    }
  });

  test("lists the topics", async () => {
    const { code, out } = await runCli(["help", "topics"]);
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.split(" ")[0])).toEqual([...TOPICS.map(({ name }) => name), ""]);
  });

  test("has a topic for every guide", () => {
    const shown = TOPICS.flatMap(({ parts }) => parts.map(({ guide }) => guide));
    expect([...new Set(shown)].sort()).toEqual(GUIDES.sort());
  });

  test("takes no word of a command", async () => {
    const commands = (await ROOT.commands?.()) ?? [];
    expect(commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]).filter(isTopic)).toEqual([]);
  });

  test("names the nearest topic for a word that is none", async () => {
    const { code, err } = await runCli(["--trace=false", "help", "mony"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'Error: no guide has the name "mony"\nHint: did you mean "money"?\n',
    });
  });

  test("finds guides beside the built program, in any installation", () => {
    expect(guidePath("tenant.md", "file:///usr/lib/svc/dist/svc.cjs")).toBe("/usr/lib/svc/docs/guides/tenant.md");
  });
});

describe("at a terminal", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-help-"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  test("the text goes through the pager, with bold letters", async () => {
    const file = join(folder, "shown");
    vi.stubEnv("PAGER", `cat >${file}`);
    const { code, out } = await runCli(["help", "money"], { columns: 60 });
    expect({ code, out }).toEqual({ code: 0, out: "" });
    const shown = readFileSync(file, "utf8");
    expect(shown).toContain("M\bMo\bon\bne\bey\by\n");
    const lines = shown.replace(/.[\b]/gu, "").split("\n");
    expect(Math.max(...lines.slice(0, 12).map(({ length }) => length))).toBeLessThanOrEqual(60);
  });

  test.each(["cat", "", "exit 127"])("PAGER=%j leaves the text to the terminal", async (pager) => {
    vi.stubEnv("PAGER", pager);
    const { out } = await runCli(["help", "money"], { columns: 80 });
    expect(out).toMatch(/^Money\n\n {2}Prices are per block/);
  });

  test("a pager that is left early is no failure", async () => {
    vi.stubEnv("PAGER", "true");
    expect(await runCli(["help", "providers"], { columns: 80 })).toEqual({ code: 0, out: "", err: "" });
  });
});

describe("the text of a guide", () => {
  test.each(GUIDES)("has no marks of Markdown: %s", (name) => {
    const markdown = readFileSync(guidePath(name), "utf8");
    const text = renderGuide(markdown.replace(/^ *```[\s\S]*?^ *```/gm, ""), PLAIN);
    const marks = text.split("\n").filter((line) => /\]\(|\*\*\w|`|^ *\||^#/.test(line));
    expect(marks).toEqual([]);
    const words = (source: string): string[] => source.match(/[A-Za-z]{4,}/g) ?? [];
    const missing =
      words(markdown.replace(/\]\([^)]*\)|^ *```.*/gm, "")).length - words(renderGuide(markdown, PLAIN)).length;
    // The heads of tables that are shown row by row are left out, and repeated where a row needs them.
    expect(missing).toBeLessThan(60);
  });

  test("is wrapped at words, with code and lists as they stand", () => {
    const markdown = [
      "# A **title** of `code`",
      "Words that [lead](tenant.md#money) to [others](https://example.com) and",
      "go on.",
      "- one `item` that is longer than the line",
      "  and goes on",
      "  - below",
      "",
      "1. first",
      "   ```sh",
      "   run it   # as it is, however long the line may be",
      "   ```",
    ].join("\n");
    const reference = (file: string): string => ` (see ${file})`;
    expect(renderGuide(markdown, { width: 30, isBold: false, reference })).toMatchInlineSnapshot(`
      "A title of code
        Words that lead (see
        tenant.md) to others
        (https://example.com) and go
        on.
        - one item that is longer
          than the line and goes on
          - below

        1. first
               run it   # as it is, however long the line may be
      "
    `);
  });

  test("has narrow tables as columns, and wide ones row by row", () => {
    const markdown = "| a | b | c |\n|---|---|---|\n| `x\\|y` | one | 1 |\n| z | | 2 |";
    expect(renderGuide(markdown, PLAIN)).toBe("  a    b    c\n  x|y  one  1\n  z         2\n");
    expect(renderGuide(markdown, { ...PLAIN, width: 13 })).toBe("  x|y\n      b: one\n      c: 1\n  z\n      c: 2\n");
  });

  test("of a section ends at the next heading of its level; lines of code are no headings", () => {
    const guide = "# Guide\n## One\ntext\n### Below\n```\n# no heading\n```\n## Two\nmore";
    expect(sectionOf(guide, "One")).toBe("## One\ntext\n### Below\n```\n# no heading\n```");
    expect(sectionOf(guide, "Two")).toBe("## Two\nmore");
    expect(sectionOf(guide, "no heading")).toBeUndefined();
  });
});
