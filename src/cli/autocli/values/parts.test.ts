import { describe, expect, test } from "vitest";
import { DEC_ONE } from "../../../util/index.ts";
import { readPart, splitParts } from "./values.ts";

const split = (text: string) => splitParts(text, (word) => word);

describe("parts of a whole", () => {
  test("have their names, and their sum is one", () => {
    expect(split("yes=0.6, no=0.4")).toEqual([
      ["yes", (DEC_ONE * 6n) / 10n],
      ["no", (DEC_ONE * 4n) / 10n],
    ]);
    expect(split("yes=1")).toEqual([["yes", DEC_ONE]]);
  });

  test.each([
    ["yes", "no part above 0"],
    ["yes=", "no part above 0"],
    ["yes=0", "no part above 0"],
    ["yes=1.000000000000000001", "no part above 0"],
    ["yes=0.5", "add up to 0.5, not to 1"],
    ["yes=0.5,yes=0.5", "appears twice"],
    ["yes=1,", "no part above 0"],
    ["", "no part above 0"],
  ])("%s is refused", (text, fault) => {
    expect(() => split(text)).toThrow(fault);
  });
});

describe("a part", () => {
  test("is from 0 to 1, both included", () => {
    expect([readPart("0"), readPart("1")]).toEqual([0n, DEC_ONE]);
    for (const text of ["-0.1", "1.000000000000000001", "x", ""]) expect(() => readPart(text)).toThrow();
  });
});
