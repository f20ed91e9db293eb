import { expect, test } from "vitest";
import { didYouMean, nearest } from "./nearest.ts";

test.each([
  ["servcies", ["services", "profiles"], "services"],
  ["log-nocolor", ["log_level", "log_no_color"], "log_no_color"],
  ["NODE", ["home", "node"], "node"],
  ["x", ["y"], undefined],
  ["frobnicate", ["keys", "query"], undefined],
  ["n".repeat(65), ["n".repeat(64)], undefined],
])("%s among %j", (word, candidates, meant) => {
  expect(nearest(word, candidates)).toBe(meant);
  expect(didYouMean(word, candidates, "remove it")).toBe(
    meant === undefined ? "remove it" : `did you mean "${meant}"?`,
  );
});

test("no more candidates are compared than wanted", () => {
  const many = [...Array.from({ length: 100 }, (_, i) => `other${i}`), "services"];
  expect(nearest("service", many)).toBeUndefined();
  expect(nearest("service", many, many.length)).toBe("services");
});
