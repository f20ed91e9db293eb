import { describe, expect, it } from "vitest";
import { SDL_CODES, SdlError } from "../errors.ts";
import { loadSdl } from "../load.ts";
import { MAX_DEPTH, MAX_FILE_BYTES, MAX_TOKENS } from "./guard.ts";

function refusal(text: string): SdlError {
  try {
    loadSdl(text, { file: "f" });
  } catch (error) {
    if (error instanceof SdlError) return error;
    throw error;
  }
  throw new Error("accepted");
}

describe("hostile text", () => {
  const deep = (open: string, times: number): string => `a: ${open.repeat(times)}`;

  it.each([
    ["one byte too many", "a".repeat(MAX_FILE_BYTES + 1), "the file is larger than 65536 bytes"],
    [
      "too many bytes in few characters",
      "\u20ac".repeat(MAX_FILE_BYTES / 3 + 1),
      "the file is larger than 65536 bytes",
    ],
    ["a million characters", "k: ".padEnd(1_000_000, "x"), "the file is larger than 65536 bytes"],
    ["brackets", deep("[", 60_000), `values are nested more than ${MAX_DEPTH} deep`],
    ["braces", deep("{a: ", 15_000), `values are nested more than ${MAX_DEPTH} deep`],
    ["dashes", "- ".repeat(32_000), `values are nested more than ${MAX_DEPTH} deep`],
    ["question marks", "? ".repeat(32_000), `values are nested more than ${MAX_DEPTH} deep`],
    [
      "indentation",
      Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      `values are nested more than ${MAX_DEPTH} deep`,
    ],
    [
      "a long map",
      Array.from({ length: 7_000 }, (_, i) => `k${i}: 1`).join("\n"),
      "the file has more than 20000 words and marks",
    ],
    ["a long list", "- a\n".repeat(16_000), "the file has more than 20000 words and marks"],
    ["commas", `a: [${",".repeat(60_000)}]`, "the file has more than 20000 words and marks"],
    ["quotes", '"'.repeat(65_000), "the file has more than 20000 words and marks"],
  ])("%s: refused before a tree is built", (_, text, problem) => {
    const error = refusal(text);
    expect(error.issues.at(-1)?.problem).toBe(problem);
    expect(error.code).toBe(SDL_CODES.size);
  });

  const nested = (levels: number): string => Array.from({ length: levels }, (_, i) => `${" ".repeat(i)}a:`).join("\n");

  it.each<readonly [string, (size: number) => string, number, string]>([
    ["bytes", (bytes) => "#".padEnd(bytes, "x"), MAX_FILE_BYTES, "is larger than"],
    // Each line is a dash, a space, a word and an end.
    ["words and marks", (tokens) => "- a\n".repeat(tokens / 4) + "#".repeat(tokens % 4), MAX_TOKENS, "words"],
    ["levels of brackets", (levels) => deep("[", levels), MAX_DEPTH, "nested"],
    // The last dash holds a value, which has a level itself.
    ["levels of dashes", (levels) => `${"- ".repeat(levels - 1)}a`, MAX_DEPTH, "nested"],
    ["levels of indentation", nested, MAX_DEPTH, "nested"],
    ["levels below an earlier line", (levels) => `b: 1\n${nested(levels)}`, MAX_DEPTH, "nested"],
  ])("the limit of %s is exact", (_, text, limit, problem) => {
    expect(refusal(text(limit)).message).not.toContain(problem);
    expect(refusal(text(limit + 1)).message).toContain(problem);
  });

  it.each([
    ["a NUL byte", "a: 1\nb: \u0000", "2:4"],
    ["an escape character", "a: \u001b[31m", "1:4"],
    ["half of a surrogate pair", "a: \ud800", "1:4"],
    ["text that was UTF-16", "v\u0000e\u0000r\u0000", "1:2"],
  ])("%s is refused at its place", (_, text, at) => {
    const [issue] = refusal(text).issues;
    expect(`${issue?.line}:${issue?.column}`).toBe(at);
    expect(issue?.kind).toBe("syntax");
  });

  it("names every use of a feature that is left out", () => {
    const tagged = "a: [x, x]\nb: !x [1]\nc: !!binary xx\nd: !<tag:x> y\n";
    const places = refusal(tagged).issues.map(({ kind, line, column }) => `${kind} ${line}:${column}`);
    expect(places).toEqual(["2:4", "3:4", "4:4"].map((place) => `feature ${place}`));
  });

  it("takes text that only looks like such a feature", () => {
    const text = "a: \"&x *y !z\"\nb: |\n  &x\n  *y\n  !z\n  ---x\nc: '- - - [[['\nd: a & b * c !\n";
    const problems = refusal(text).issues.map((issue) => issue.problem);
    expect(problems.filter((problem) => problem.includes("not supported"))).toEqual([]);
    expect(problems).toContain('unknown key "a"');
  });
});

describe("harmless text", () => {
  const file = (text: string): string => refusal(text).issues[0]?.problem ?? "";

  it("may begin with a byte order mark and a document mark, and end its lines in the manner of Windows", () => {
    const text = "\uFEFF# comment\r\n---\r\nversion: '2.0'\r\n";
    expect(file(text)).toBe('"services" is missing');
  });

  it.each(["", "# nothing\n", "null\n", "just words\n", "- 1\n", "[]"])("%j is not a deployment file", (text) => {
    expect(refusal(text).issues[0]?.problem).toMatch(/is not a deployment file$/);
  });
});
