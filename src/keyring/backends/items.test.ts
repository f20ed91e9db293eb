import { expect, test } from "vitest";
import { LazyItems, MemoryItems } from "./items.ts";

class Losable extends MemoryItems {
  isLost = false;
}

test("a store is opened at the first use, once for uses at the same time, and again when it was lost", async () => {
  const opened: Losable[] = [];
  const items = new LazyItems("os", async () => {
    const store = new Losable();
    opened.push(store);
    return store;
  });
  expect([opened.length, items.backend]).toEqual([0, "os"]);
  await Promise.all([items.keys(), items.read("a"), items.write("b", Uint8Array.of(1))]);
  expect([opened.length, items.backend]).toEqual([1, "memory"]);
  for (const store of opened) store.isLost = true;
  expect(await items.keys()).toEqual([]);
  expect(opened.length).toBe(2);
});

test("a failed attempt does not stick", async () => {
  const answers = [() => Promise.reject(new Error("not yet")), async () => new MemoryItems()];
  const items = new LazyItems("os", async () => (answers.shift() ?? (async () => new MemoryItems()))());
  await expect(items.keys()).rejects.toThrow("not yet");
  expect(await items.keys()).toEqual([]);
});
