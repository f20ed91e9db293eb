import { expect, it } from "vitest";
import { RateLimit } from "./limits.ts";

it("allows each key a burst, and more as time goes by", () => {
  const limit = new RateLimit(2, 1);
  expect([limit.take("a", 0), limit.take("a", 0), limit.take("a", 0)]).toEqual([true, true, false]);
  expect(limit.take("b", 0)).toBe(true);
  expect([limit.take("a", 999), limit.take("a", 1_000), limit.take("a", 1_000)]).toEqual([false, true, false]);
  limit.giveBack("a");
  expect(limit.take("a", 1_000)).toBe(true);
});

it("remembers a key in use among any number of others, and not all of these", () => {
  const limit = new RateLimit(1, 0.001);
  expect(limit.take("first", 0)).toBe(true);
  const others = Array.from({ length: 20_000 }, (_, i) => `other ${i}`);
  const refusals = others.filter((other, i) => {
    limit.take(other, 0);
    return i % 1_000 === 0 && limit.take("first", 0);
  });
  expect(refusals).toEqual([]);
  expect(limit.take("other 0", 0)).toBe(true);
});
