import { expect, it } from "vitest";
import { Shares } from "./limits.ts";

it("gives an owner no more than its share, and all no more than there is", () => {
  const shares = new Shares({ each: 3, all: 4 });
  const back = shares.take("a", 2);
  expect([shares.take("a", 2), shares.take("b", 3)]).toEqual([undefined, undefined]);
  expect([shares.of("a"), shares.of("b")]).toEqual([2, 0]);
  expect(shares.take("b", 2)).toBeTypeOf("function");
  expect(shares.take("c")).toBeUndefined();
  back?.();
  // An amount that was given back is not given back again.
  back?.();
  expect(shares.of("a")).toBe(0);
  expect(shares.take("c", 2)).toBeTypeOf("function");
});
