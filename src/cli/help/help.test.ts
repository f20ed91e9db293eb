import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { ROOT } from "../root.ts";
import { guidePath, sectionOf } from "./command.ts";
import { isTopic, TOPICS } from "./topics.ts";

const GUIDES = readdirSync(guidePath("")).filter((name) => name.endsWith(".md"));

describe("svc help TOPIC", () => {
  test("shows each topic from the guides", async () => {
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

  test("the text goes through the pager", async () => {
    const file = join(folder, "shown");
    vi.stubEnv("PAGER", `cat >${file}`);
    const { code, out } = await runCli(["help", "money"], { columns: 60 });
    expect({ code, out }).toEqual({ code: 0, out: "" });
    const [first] = readFileSync(file, "utf8").split("\n");
    expect(first).toBe("## Money");
  });

  test.each(["", "exit 127"])("PAGER=%j leaves the text to the terminal", async (pager) => {
    vi.stubEnv("PAGER", pager);
    const { out } = await runCli(["help", "money"], { columns: 80 });
    expect(out).toMatch(/^## Money\n\nPrices are per block/);
  });

  test("a pager that is left early is no failure", async () => {
    vi.stubEnv("PAGER", "true");
    expect(await runCli(["help", "providers"], { columns: 80 })).toEqual({ code: 0, out: "", err: "" });
  });
});

test("a section of a guide ends at the next heading of its level; lines of code are no headings", () => {
  const guide = "# Guide\n## One\ntext\n### Below\n```\n# no heading\n```\n## Two\nmore";
  expect(sectionOf(guide, "One")).toBe("## One\ntext\n### Below\n```\n# no heading\n```\n");
  expect(sectionOf(guide, "Two")).toBe("## Two\nmore\n");
  expect(sectionOf(guide, "no heading")).toBeUndefined();
});
