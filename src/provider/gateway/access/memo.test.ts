import { describe, expect, it } from "vitest";
import { Memo } from "./memo.ts";

function counted() {
  const asked: string[] = [];
  let now = 0;
  const memo = new Memo<string>(
    async (key) => {
      asked.push(key);
      if (key === "bad") throw new Error("away");
      return key.toUpperCase();
    },
    100,
    () => now,
  );
  return { memo, asked, at: (ms: number) => (now = ms) };
}

describe("a memo", () => {
  it("asks once for everybody, and again when the answer is old", async () => {
    const { memo, asked, at } = counted();
    expect(await Promise.all([memo.get("a"), memo.get("a")])).toEqual(["A", "A"]);
    at(99);
    await memo.get("a");
    expect(asked).toEqual(["a"]);
    at(100);
    await memo.get("a");
    expect(asked).toEqual(["a", "a"]);
  });

  it("keeps no failure", async () => {
    const { memo, asked } = counted();
    await expect(memo.get("bad")).rejects.toThrow("away");
    await expect(memo.get("bad")).rejects.toThrow("away");
    expect(asked).toHaveLength(2);
  });

  it("forgets what is old, also while one key is asked again and again", async () => {
    const { memo, at } = counted();
    for (let i = 0; i < 1000; i++) {
      at(i * 50);
      await memo.get("steady");
      await memo.get(`stranger ${i}`);
    }
    expect(memo.size).toBeLessThan(10);
  });
});
