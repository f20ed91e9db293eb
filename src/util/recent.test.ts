import { expect, test } from "vitest";
import { Recent } from "./recent.ts";

test("what was used last stays, and no more than two generations", () => {
  const recent = new Recent<number, string>(3);
  for (let i = 0; i < 10; i++) {
    recent.set(i, `${i}`);
    expect(recent.get(0)).toBe("0");
    expect(recent.get(i)).toBe(`${i}`);
  }
  const kept = Array.from({ length: 10 }, (_, i) => i).filter((i) => recent.get(i) !== undefined);
  expect(kept.length).toBeLessThanOrEqual(6);
  expect(kept).toContain(0);
  expect(kept).toContain(9);
  expect(kept).not.toContain(1);
});

test("a later value stands in the place of an older one, in whichever generation that is", () => {
  const recent = new Recent<string, number | null>(1);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.set("a", null);
  expect(recent.get("a")).toBeNull();
  recent.set("c", 3);
  expect(recent.get("a")).toBeNull();
});
