import { describe, expect, it } from "vitest";
import { SdlError, type SdlIssue } from "../errors.ts";
import { loadSdl } from "../load.ts";
import { Report } from "../report.ts";
import { type Node, parseDocumentText } from "./document.ts";
import { MAX_DEPTH, MAX_FILE_BYTES, MAX_TOKENS } from "./guard.ts";

function plain(node: Node): unknown {
  if (node.kind === "scalar") return node.text;
  if (node.kind === "null") return null;
  if (node.kind === "list") return node.items.map(plain);
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value)]));
}

function read(text: string): unknown {
  const report = new Report("f");
  const node = parseDocumentText(text, report);
  report.check();
  return node && plain(node);
}

function faults(text: string): readonly SdlIssue[] {
  try {
    read(text);
  } catch (error) {
    if (error instanceof SdlError) return error.issues;
    throw error;
  }
  return [];
}

const problems = (text: string) => faults(text).map(({ line, column, problem }) => `${line}:${column} ${problem}`);

describe("aliases", () => {
  it("stand for the value that was last named so", () => {
    expect(read("a: &x [1, {b: 2}]\nc: *x\nd: &x two\ne: [*x, *x]\nf: *x\n")).toEqual({
      a: ["1", { b: "2" }],
      c: ["1", { b: "2" }],
      d: "two",
      e: ["two", "two"],
      f: "two",
    });
    expect(read("a: &o {i: &i 1, j: *i}\nb: &i 2\nc: *o\nd: *i\ne: &n\nf: *n\n")).toEqual({
      a: { i: "1", j: "1" },
      b: "2",
      c: { i: "1", j: "1" },
      d: "2",
      e: null,
      f: null,
    });
  });

  it("merge maps: what is written comes first, then the earlier map", () => {
    const maps = "a: &a {x: 1, y: 1}\nb: &b\n  y: 2\n  z: 2\n";
    expect(read(`${maps}c:\n  <<: *a\n  x: 3\nd: {<<: [*b, *a]}\ne:\n  x: 4\n  <<: {x: 5, w: 5}\n`)).toMatchObject({
      c: { x: "3", y: "1" },
      d: { x: "1", y: "2", z: "2" },
      e: { x: "4", w: "5" },
    });
    expect(read('"<<": 1')).toEqual({ "<<": "1" });
  });

  it.each([
    ["a: *x\nb: &x 1", ['1:4 there is no value named "&x" before this alias']],
    ["a: &x [*x]", ['1:8 there is no value named "&x" before this alias']],
    ["a: &x {b: 1}\nc: &x [*x]", ['2:8 there is no value named "&x" before this alias']],
    ["a: &x 1\nb: {<<: *x}", ["2:9 a merge key takes a map, or a list of maps"]],
    ["a: &x {b: 1}\nc: {<<: [*x, 1]}", ["2:14 a merge key takes a map, or a list of maps"]],
  ])("%j is refused", (text, expected) => expect(problems(text)).toEqual(expected));

  it("keep the line of the original, under the path of their own", () => {
    const text = [
      'version: "2.0"',
      "services:",
      "  a: &service",
      "    image: localhost/x:1",
      "    expose: [{port: 80, proto: sctp, to: [{global: true}]}]",
      "  b: *service",
      "  c: {<<: *service, image: localhost/y:1}",
    ].join("\n");
    try {
      loadSdl(text);
      expect.unreachable();
    } catch (error) {
      const found = error instanceof SdlError ? error.issues.filter(({ problem }) => problem.includes("sctp")) : [];
      const place = { line: 5, column: 32 };
      expect(found).toMatchObject(
        ["a", "b", "c"].map((name) => ({ ...place, path: `services.${name}.expose[0].proto` })),
      );
    }
  });
});

describe("text that aliases make large is refused before it is written out:", () => {
  const large = "the file is too large with its aliases written out";
  const level = (make: (i: number) => string, count: number) => Array.from({ length: count }, (_, i) => make(i + 1));

  it.each([
    ["a billion laughs", ["a0: &a0 ha", ...level((i) => `a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`)}]`, 25)]],
    ["merged laughs", ["a0: &a0 {k: v}", ...level((i) => `a${i}: &a${i} {p${i}: *a${i - 1}, q${i}: *a${i - 1}}`, 25)]],
    ["many keys merged often", [`a: &a {${level((i) => `k${i}: 1`, 1500)}}`, ...level((i) => `b${i}: {<<: *a}`, 50)]],
    ["a long text repeated", [`a: &a ${"x".repeat(30_000)}`, `b: [${Array(4_000).fill("*a")}]`]],
    [
      "a deep value in a deep place",
      [`a: &a ${"[".repeat(20)}1${"]".repeat(20)}`, `b: ${"[".repeat(20)}*a${"]".repeat(20)}`],
    ],
  ])("%s", (_, lines) => {
    expect(faults(lines.join("\n"))).toMatchObject([{ kind: "size", problem: large }]);
  });

  it("as large as a text may be without them is taken", () => {
    const list = Array(MAX_TOKENS / 20).fill("1");
    expect(read(`a: &a [${list}]\nb: [*a, *a, *a]`)).toMatchObject({ b: [list, list, list] });
    const third = "x".repeat(Math.floor(MAX_FILE_BYTES / 3) - 100);
    expect(read(`a: &a ${third}\nb: [*a, *a]`)).toMatchObject({ b: [third, third] });
    const deep = (depth: number, inner: string) => "[".repeat(depth) + inner + "]".repeat(depth);
    expect(problems(`a: &a ${deep(10, "1")}\nb: ${deep(MAX_DEPTH - 12, "*a")}`)).toEqual([]);
  });
});
