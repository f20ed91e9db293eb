import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleConsole, PACKAGES, type Script } from "../tools/console.mjs";
import { ROOT } from "./support/index.ts";

/**
 * Bytes with gzip -9: the first page with data of the chain, each page that is loaded later, or view within one, the reader of deployment files
 * with its YAML, the editor of their text, the frame of the terminal, and all files. The form, and the workflows of a deployment
 * and of its update need that reader: each has, with its page, twice the budget of a page beside it.
 */
const BUDGET = { first: 100_000, page: 40_000, reader: 65_000, editor: 130_000, terminal: 95_000, all: 700_000 };

const sources = readdirSync(join(ROOT, "src/console"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => [name, readFileSync(join(ROOT, "src/console", name), "utf8")] as const);

const bundle = bundleConsole();

describe("the console's files", () => {
  let files: ReadonlyMap<string, Buffer>;
  let inputs: readonly string[];
  let scripts: ReadonlyMap<string, Script>;

  beforeAll(async () => {
    ({ files, inputs, scripts } = await bundle);
  });

  const bytes = (path: string): number => gzipSync(files.get(path) ?? "", { level: 9 }).length;
  const total = (paths: Iterable<string>): number => [...paths].reduce((sum, path) => sum + bytes(path), 0);

  /** A script with every script that it cannot run without. */
  function whole(path: string, seen = new Set<string>()): Set<string> {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const next of scripts.get(path)?.imports ?? []) whole(next, seen);
    return seen;
  }

  const entry = (source: string): string =>
    [...scripts.keys()].find((path) => scripts.get(path)?.sources.includes(`src/console/${source}`)) ?? source;
  /** Whether a script is loaded by its name. */
  const isEntry = (path: string): boolean => scripts.get(path)?.sources.length !== 0;

  it("stay within their budgets", () => {
    const first = whole(entry("main.tsx"));
    expect(first.size).toBe(1);
    const style = [...files.keys()].filter((path) => path.endsWith(".css"));
    const follower = [...files.keys()].filter((path) => path.includes("blocks-worker"));
    expect(follower.length).toBe(1);
    expect(total([...first, ...follower, ...style, "index.html"])).toBeLessThan(BUDGET.first);
    const later = [...scripts.keys()].filter((path) => isEntry(path) && !first.has(path));
    expect(later.length).toBeGreaterThan(9);
    const [reader, editor] = [entry("deploy/read.ts"), entry("deploy/code.ts")];
    const budgets: ReadonlyMap<string, number> = new Map([
      [reader, BUDGET.reader],
      [editor, BUDGET.editor],
    ]);
    const run = "deploy/run/page.tsx";
    const besideReader = new Set([...first, ...whole(reader)]);
    const ownOf = (path: string, known = first): string[] => [...whole(path)].filter((each) => !known.has(each));
    const workflows = Object.entries({
      "deploy/form/form.tsx": "deploy/page.tsx",
      "deploy/run/workflow.ts": run,
      "manage/update.tsx": run,
      "manage/run-update.ts": run,
    }).map(([workflow, page]) => [entry(workflow), entry(page)] as const);
    const largeWorkflows = workflows.filter(([workflow, page]) => {
      const own = new Set([...ownOf(workflow, besideReader), ...ownOf(page, besideReader)]);
      return total(own) > 2 * BUDGET.page;
    });
    expect(largeWorkflows).toEqual([]);
    const names = workflows.map(([workflow]) => workflow);
    const views = [entry("running/logs.tsx"), entry("running/shell.tsx")];
    const besideDeployments = new Set([...first, ...whole(entry("pages/deployments.tsx"))]);
    const large = later.filter((path) => {
      if (names.includes(path)) return false;
      const own = ownOf(path, views.includes(path) ? besideDeployments : first);
      return total(own) > (budgets.get(path) ?? BUDGET.page);
    });
    expect(large).toEqual([]);
    expect(bytes("terminal.html")).toBeLessThan(BUDGET.terminal);
    expect(total(files.keys())).toBeLessThan(BUDGET.all);
  });

  it("hold no package but those whose licences a release names", () => {
    const { packages }: { packages: Record<string, { dev?: boolean; dependencies?: object }> } = JSON.parse(
      readFileSync(join(ROOT, "package-lock.json"), "utf8"),
    );
    const named = new Set<string>();
    const add = (name: string): void => {
      if (named.has(name)) return;
      named.add(name);
      for (const next of Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {})) add(next);
    };
    for (const name of PACKAGES) add(name);
    const used = new Set(inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
    expect([...used].filter((name) => packages[`node_modules/${name}`]?.dev && !named.has(name))).toEqual([]);
    expect(PACKAGES.filter((name) => !used.has(name))).toEqual([]);
  });

  it("have the descriptors of messages only where messages are shown, or signed as text", () => {
    const messages = [entry("live/messages.ts"), entry("wallet/amino.ts")];
    const text = (path: string): string => files.get(path)?.toString() ?? "";
    const holders = [...scripts.keys()].filter((path) => /descriptors-\w+\.bin/.test(text(path)));
    expect(holders.length).toBe(1);
    const pages = [...scripts.keys()].filter((path) => isEntry(path) && !messages.includes(path));
    expect(pages.filter((path) => holders.some((holder) => whole(path).has(holder)))).toEqual([]);
  });

  it("name each other by relative paths, and hold no script or style in the page", () => {
    const page = files.get("index.html")?.toString() ?? "";
    expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path)).toEqual([
      "data:,",
      expect.stringMatching(/^assets\/console-\w+\.css$/),
      expect.stringMatching(/^assets\/console-\w+\.js$/),
    ]);
    expect(page).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });
});

describe("the frame of the terminal", () => {
  it("runs one script, which its policy names, and loads nothing", async () => {
    const { files } = await bundle;
    const page = files.get("terminal.html")?.toString() ?? "";
    const [script = "", ...others] = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = ""]) => text);
    expect([others.length, script.length > 100_000]).toEqual([0, true]);
    expect(page).toContain(`script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'`);
    expect(page.replace(script, "")).not.toMatch(/\ssrc=|<link|url\(|@import/);
  });
});

describe("the console's sources", () => {
  it("put texts of strangers into text nodes alone", () => {
    const sinks = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function/;
    expect(sources.filter(([, text]) => sinks.test(text)).map(([name]) => name)).toEqual([]);
  });

  it("link to other sites in one place", () => {
    const outside = sources.filter(([, text]) => /target="_blank"|rel="/.test(text)).map(([name]) => name);
    expect(outside).toEqual(["parts/text.tsx"]);
  });
});
