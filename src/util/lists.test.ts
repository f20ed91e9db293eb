import { expect, it } from "vitest";
import { append, keysOf, mapValues } from "./lists.ts";

it("appends a list that would not fit onto the call stack", () => {
  const list = [-1];
  append(list, Array.from({ length: 1_000_000 }).keys());
  expect([list.length, list[0], list[1], list.at(-1)]).toEqual([1_000_001, -1, 0, 999_999]);
});

it("names the keys of an object, and makes a value of each value", () => {
  expect(keysOf({ b: 1, a: 2 })).toEqual(["b", "a"]);
  expect(mapValues({ b: 1, a: 2 }, (value) => value * 10)).toEqual({ b: 10, a: 20 });
});
