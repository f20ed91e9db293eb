import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { GLOBAL_FLAGS } from "../src/cli/command/global-flags.ts";
import type { CommandSpec } from "../src/cli/command/spec.ts";
import { resolveCommand } from "../src/cli/command/words/normalize.ts";
import { ROOT as COMMANDS } from "../src/cli/root.ts";
import { DEFAULT_HTTP_OPTIONS } from "../src/sdl/read/expose.ts";
import { codespaceOf, ERROR_TABLES } from "../tools/docs/errors.ts";
import { libraryEntries } from "../tools/docs/library.ts";
import { anchor } from "../tools/docs/markdown.ts";
import { referencePages } from "../tools/docs/pages.ts";

const ROOT = resolve(import.meta.dirname, "..");
const DOCS = join(ROOT, "docs");
const EXAMPLES = join(DOCS, "examples");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** Pages written by hand: at the root, and the guides. */
const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...filesBelow("docs", ".md").filter((name) => !name.startsWith("docs/reference/")),
  ...filesBelow("src", ".md"),
];

describe("the reference pages", () => {
  it("are those that `npm run docs` makes", { timeout: 60_000 }, async () => {
    const made = await referencePages(ROOT);
    expect(readdirSync(join(DOCS, "reference")).sort()).toEqual([...made.keys()].sort());
    for (const [name, text] of made) expect({ name, text: read(`docs/reference/${name}`) }).toEqual({ name, text });
  });

  it("have every table of errors, each number once", () => {
    const sources = filesBelow("src", ".ts").filter((path) => !path.endsWith(".test.ts"));
    const spaces = sources.flatMap((path) => [...read(path).matchAll(/defineErrors\(\s*"?([\w-]+)"?,/g)]);
    expect(ERROR_TABLES.length).toBe(spaces.length);
    const numbers = ERROR_TABLES.flatMap((errors) =>
      Object.values(errors).map(({ code }) => `${codespaceOf(errors)}/${code}`),
    );
    expect(numbers.filter((number, i) => numbers.indexOf(number) < i)).toEqual([]);
  });

  it("have a docstring for every public name of the library", () => {
    const names = libraryEntries(ROOT).flatMap(({ specifier, exports }) =>
      exports.flatMap(({ name, doc, file, methods }) => [
        { name: `${specifier} ${name}`, doc, file },
        ...methods.map((method) => ({ name: `${specifier} ${name}.${method.name}`, doc: method.doc, file })),
      ]),
    );
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter(({ doc }) => !/^\W*\w.{8,}\.$/.test(doc))).toEqual([]);
  });

  it("name every event that a module emits", () => {
    const known = read("docs/reference/events.md");
    const emitted = filesBelow("src/modules", ".ts")
      .filter((path) => !path.endsWith(".test.ts"))
      .flatMap((path) => [...read(path).matchAll(/emit\w*\(\s*ctx,\s*"([a-z-]+)"/g)].map(([, action = ""]) => action));
    expect(emitted.length).toBeGreaterThan(20);
    const missing = emitted.filter(
      (action) => !known.includes(action) && !known.includes(`\`-${action.split("-").slice(1).join("-")}\``),
    );
    expect(missing).toEqual([]);
  });
});

describe("links", () => {
  it.each([...pages, ...filesBelow("docs/reference", ".md")])("of %s lead somewhere", (path) => {
    const text = read(path).replaceAll(/```.*?```/gs, "");
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^https?:/.test(target) && !leadsSomewhere(path, target));
    expect(broken).toEqual([]);
  });
});

function leadsSomewhere(from: string, target: string): boolean {
  const [file = "", fragment] = target.split("#");
  const path = file === "" ? from : relative(ROOT, resolve(ROOT, dirname(from), file));
  if (!existsSync(join(ROOT, path))) return false;
  if (fragment === undefined) return true;
  return [...read(path).matchAll(/^#+ (.*)$/gm)].some(([, heading = ""]) => anchor(heading) === fragment);
}

/** A command whose output is a word of another one. */
const INNER = /\$\(([^)]*)\)/g;

/** Lines of the code blocks of a page that hold commands or plain text; a line that ends in a backslash continues. */
function codeLines(text: string): string[] {
  const blocks = text.split(/^```/m).filter((_, i) => i % 2 === 1);
  const plain = blocks.filter((block) => /^(sh|console)?\n/.test(block));
  return plain.flatMap((block) => block.replaceAll(/\\\n/g, " ").split("\n").slice(1));
}

/** Command lines of a page: `svc ...` and `./svc ...`. */
function commandLines(text: string): string[] {
  return codeLines(text)
    .flatMap((line) => [line.replaceAll(INNER, "VALUE"), ...[...line.matchAll(INNER)].map(([, inner = ""]) => inner)])
    .flatMap((line) => /(?:^|&& |\| )\s*(?:\.\/)?(svc [^|#>]*)/.exec(line)?.[1] ?? [])
    .map((line) => line.trim());
}

/** Words of a command line; quoted text is one word. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word.replaceAll(/["']/g, ""));
}

async function commandFault(line: string): Promise<string | undefined> {
  const { path, rest, unknown } = await resolveCommand(COMMANDS, wordsOf(line).slice(1));
  const spec: CommandSpec = path.at(-1) ?? COMMANDS;
  if (unknown !== undefined && spec.load === undefined) return `${line}: there is no "${unknown}"`;
  const flags = [...(spec.flags ?? []), ...GLOBAL_FLAGS].flatMap(({ name, short, alias }) => [name, short, alias]);
  const known = new Set([...flags.filter((name) => name !== undefined), "help", "h"]);
  const own = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  const wrong = own
    .filter((word) => /^--?[a-z]/.test(word))
    .find((word) => !known.has(word.replace(/^--?/, "").replace(/=.*/, "")));
  return wrong === undefined ? undefined : `${line}: there is no flag ${wrong}`;
}

describe("the tenant's guide", () => {
  const guide = read("docs/guides/tenant.md");

  it("tells the default of every HTTP option", () => {
    const [row = ""] = /^\| `\.expose\[\]\.http_options` .*$/m.exec(guide) ?? [];
    const { nextCases = [], ...numbers } = DEFAULT_HTTP_OPTIONS;
    for (const [name, value] of Object.entries({ ...numbers, nextCases: `[${nextCases.join(", ")}]` })) {
      const key = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect(row).toContain(`\`${key}\``);
      expect(row).toContain(`${value}`);
    }
  });

  it("describes every parameter of a service", () => {
    for (const name of ["storage", "tee"]) expect(guide).toMatch(new RegExp(`^\\| \`\\.params\\.${name}`, "m"));
  });
});

describe("troubleshooting", () => {
  it("quotes errors as the product says them", () => {
    const sources = ["src", "tools"].flatMap((folder) =>
      [".ts", ".mjs"].flatMap((ending) => filesBelow(folder, ending)),
    );
    const said = sources
      .map(read)
      .join("\n")
      .replaceAll(/\\?["`]/g, "");
    const quoted = [...read("docs/guides/troubleshooting.md").matchAll(/^\| (`[^|]*) \|/gm)]
      .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text))
      .flatMap((text) => text.replaceAll('"', "").split("..."))
      .map((text) => text.replaceAll(/^[\s:;,()]+|[\s:;,()]+$/g, ""))
      .filter((text) => text.length > 3);
    expect(quoted.length).toBeGreaterThan(60);
    expect(quoted.filter((text) => !said.includes(text))).toEqual([]);
  });
});

/** The package of an import: its first word, or the first two under a scope. */
function packageOf([, specifier = ""]: RegExpExecArray): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

describe("the list of dependencies", () => {
  it("has every one of package.json", () => {
    const { dependencies, optionalDependencies } = JSON.parse(read("package.json"));
    const rows = [...read("docs/decisions/dependencies.md").matchAll(/^\| (`[^|]*) \|/gm)];
    const listed = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(listed.sort()).toEqual(Object.keys({ ...dependencies, ...optionalDependencies }).sort());
  });

  it("has none that the code does not import", () => {
    const { dependencies, optionalDependencies } = JSON.parse(read("package.json"));
    const code = filesBelow("src", ".ts").filter((path) => !path.endsWith(".test.ts"));
    const imported = new Set(
      code
        .flatMap((path) => [...read(path).matchAll(/(?:from|import|import\(|require\()\s?"([^."][^"]*)"/g)])
        .map(packageOf),
    );
    expect(Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !imported.has(name))).toEqual([]);
  });
});

describe("commands", () => {
  it.each(pages)("of %s are understood", async (path) => {
    const faults = await Promise.all(commandLines(read(path)).map(commandFault));
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  it("are found in pages", () => {
    expect(pages.flatMap((path) => commandLines(read(path))).length).toBeGreaterThan(60);
  });
});

describe("examples for developers", () => {
  it("stand in the guides as they are in their files", () => {
    const guides = ["developer", "library"].map((name) => read(`docs/guides/${name}.md`)).join("\n");
    const shown = [...guides.matchAll(/`docs\/examples\/([\w-]+\.ts)`[^`]*```ts\n(.*?)```/gs)];
    expect(shown.map(([, name]) => name).sort()).toEqual(readdirSync(EXAMPLES).sort());
    for (const [, name = "", body] of shown)
      expect({ name, body }).toEqual({ name, body: read(`docs/examples/${name}`) });
  });
});
