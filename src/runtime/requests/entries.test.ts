import { expect, test } from "vitest";
import { entryProblems } from "./entries.ts";

test("every bad entry of a genesis list is named, the good ones are not", () => {
  const identify = (entry: string) => {
    if (entry === "") throw new Error("empty");
    return entry;
  };
  expect(entryProblems("names", ["a", "", "b", "a", ""], identify)).toEqual([
    "names[1]: empty",
    "names[3]: a appears twice",
    "names[4]: empty",
  ]);
  expect(entryProblems("names", [], identify)).toEqual([]);
});
