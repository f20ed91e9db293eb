import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord } from "./shell-word.ts";

test("a plain word stays as it is", () => {
  expect(shellWord("/srv/app-1.yaml")).toBe("/srv/app-1.yaml");
});

test.each(["", "a b", "it's", "$HOME", "a\nb", "~", "*"])("the shell reads %j as one word", (word) => {
  expect(execFileSync("sh", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8" })).toBe(word);
});
