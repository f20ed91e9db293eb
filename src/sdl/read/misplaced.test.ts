import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { SdlError } from "../errors.ts";
import { loadSdl } from "../load.ts";

const WEB = readFileSync(join(resolve(import.meta.dirname, "../../.."), "test/vectors/sdl/web.yaml"), "utf8");

/** The file with the lines of a section moved to the right, or to the left. */
function indented(section: string, by: number): string {
  const lines = WEB.split("\n");
  const first = lines.findIndex((line) => line.trim() === `${section}:`);
  const own = lines[first]?.search(/\S/) ?? 0;
  const rest = lines.findIndex((line, i) => i > first && line !== "" && line.search(/\S/) <= own);
  const end = rest < 0 ? lines.length : rest;
  const move = (line: string) => (by > 0 ? " ".repeat(by) + line : line.slice(-by));
  return lines.map((line, i) => (i >= first && i < end && line !== "" ? move(line) : line)).join("\n");
}

test.each([
  ["profiles", 2, '"profiles" is below services; write profiles: at the left margin'],
  ["deployment", 2, '"deployment" is below profiles; write deployment: at the left margin'],
  ["placement", 2, '"placement" is below profiles.compute; indent placement: below profiles'],
  ["placement", -2, '"placement" is at the left margin; indent placement: below profiles'],
])("one wrong indent is one fault: %s by %d", (section, by, says) => {
  try {
    loadSdl(indented(section, by));
    expect.unreachable();
  } catch (error) {
    const issues = error instanceof SdlError ? error.issues : [];
    expect(issues.map(({ problem, remedy }) => `${problem}; ${remedy}`)).toEqual([says]);
  }
});

test("a service may have the name of a section", () => {
  expect(
    loadSdl(WEB.replaceAll(/\bweb:/g, "profiles:").replaceAll("profile: web", "profile: profiles")).warnings,
  ).toEqual([]);
});
