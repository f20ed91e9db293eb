import { beforeAll, expect, it, vi } from "vitest";

let lists: typeof import("./lists.tsx");
beforeAll(async () => {
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("document", { baseURI: "http://127.0.0.1:1/console/" });
  lists = await import("./lists.tsx");
  vi.unstubAllGlobals();
});

it.each([
  [0, "succeeded", "good"],
  [12, "failed (code 12)", "bad"],
  [undefined, "Not known", "calm"],
] as const)("the result with code %s reads %j in lists", (code, word, kind) => {
  expect(lists.outcomeOf(code)).toEqual({ word, kind });
});
