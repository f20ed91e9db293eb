import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");

/** Generated files and recorded answers of other programs. */
const NOT_OURS = ["src/wire/gen", "test/vectors", "node_modules"];

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?<=^|\s)\/\/ (.*)$/gm;
const LINE_COMMENTS_IN_A_ROW = /\n[ \t]*\/\/ /g;

/** Openings that hide the subject of a sentence. */
const OPENING = /^(?:Those|Of|Whoever|What(?![^.!]*\?))\b/;

/** Words that stand for a thing that the sentence could name. */
const VAGUE = /\b(?:of (?:these|them|which|whom)|those (?:that|of|who)|nobody|whoever|as (?:it is|they are))\b/gi;

/** Folders and pages that still have such openings. Remove one when it is mended; never add one. */
const LEFT: readonly string[] = [];

/** Vague words that are left. Lower it when there are fewer; never raise it. */
const MAX_VAGUE = 340;

interface Prose {
  readonly path: string;
  readonly sentences: readonly string[];
}

function walk(folder: string, endings: RegExp): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (NOT_OURS.some((each) => path.endsWith(each))) return [];
    if (statSync(join(ROOT, path)).isDirectory()) return walk(path, endings);
    return endings.test(name) ? [path] : [];
  });
}

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Sentences of paragraphs, list items and table cells; a sentence ends at a period or colon before a space. */
function sentencesOf(text: string): string[] {
  const paragraphs = text.split(/\n\s*\n|\n\s*(?:[-*]|\d+\.|#+) |\|/);
  return paragraphs.flatMap((paragraph) =>
    paragraph
      .replaceAll(/\*\*|\s+/g, (each) => (each === "**" ? "" : " "))
      .trim()
      .split(/(?<=[.!?:]) (?=[A-Z])/),
  );
}

function comments(path: string): Prose {
  const found = read(path).replaceAll(LINE_COMMENTS_IN_A_ROW, " // ").matchAll(COMMENT);
  const texts = [...found].map(([, block = "", line = ""]) =>
    `${block}${line}`.replaceAll(/^\s*\* ?| \/\/(?= )/gm, ""),
  );
  return { path, sentences: texts.flatMap(sentencesOf) };
}

function page(path: string): Prose {
  return { path, sentences: sentencesOf(`\n${read(path).replaceAll(/^```[\s\S]*?^```/gm, "")}`) };
}

const sources = ["src", "test", "bench", "tools", "docs"].flatMap((folder) => walk(folder, /\.(?:tsx?|mjs)$/));
const pages = ["src", "test", "bench", "docs"].flatMap((folder) => walk(folder, /\.md$/));
const prose = [
  ...sources.map(comments),
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "CHANGELOG.md", ...pages].map(page),
].map((each) => ({ ...each, path: relative("", each.path) }));

describe("the changelog", () => {
  it("tells the changes of the next version in at most 60 lines", () => {
    const [, next = ""] = read("CHANGELOG.md").split(/^## /m);
    expect(next.split("\n").length).toBeLessThanOrEqual(60);
  });
});

describe("comments and pages", () => {
  it("begin no sentence with Those, What, Of or Whoever", () => {
    const mended = prose.filter(({ path }) => !LEFT.some((left) => path.startsWith(left)));
    const faults = mended.flatMap(({ path, sentences }) =>
      sentences.filter((sentence) => OPENING.test(sentence)).map((sentence) => `${path}: ${sentence}`),
    );
    expect(faults, "name the thing: a noun of the field (STYLE.md)").toEqual([]);
  });

  it("use fewer and fewer words that stand for a thing", () => {
    const count = prose.flatMap(({ sentences }) => sentences.flatMap((each) => each.match(VAGUE) ?? [])).length;
    expect(count, "name the thing: a noun of the field (STYLE.md)").toBeLessThanOrEqual(MAX_VAGUE);
  });
});
