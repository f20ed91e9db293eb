import { expect, it } from "vitest";
import { outcomeOf } from "./outcome.ts";

it.each([
  [0, "succeeded", "good"],
  [12, "failed (code 12)", "bad"],
  [undefined, "Not known", "calm"],
] as const)("the result with code %s reads %j in lists", (code, word, kind) => {
  expect(outcomeOf(code)).toEqual({ word, kind });
});
