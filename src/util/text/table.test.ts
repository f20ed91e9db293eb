import { expect, test } from "vitest";
import { textTable } from "./table.ts";

test("columns are as wide as their widest cell", () => {
  expect(
    textTable([
      ["A", "LONG", "C"],
      ["abc", "", "d"],
    ]),
  ).toBe("A    LONG  C\nabc        d\n");
  expect(textTable([])).toBe("");
});
