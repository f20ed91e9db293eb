import { expect, it } from "vitest";
import { forget, isLent, lendMemory, movedPart, returnMemory } from "./lent-memory.ts";

const MIB = 1024 * 1024;

it("lends memory that goes back to the system at once", () => {
  const lent = Array.from({ length: 64 }, () => lendMemory(MIB).fill(1));
  const taken = process.memoryUsage.rss();
  for (const each of lent) returnMemory(each);
  // Others may take some meanwhile; no garbage was collected.
  expect(taken - process.memoryUsage.rss()).toBeGreaterThan(48 * MIB);
  expect(lent.map((each) => each.length)).toEqual(lent.map(() => 0));
});

it("moves what was read, and frees where it was", () => {
  const part = Buffer.from(new Uint8Array(65_536).fill(7).buffer);
  const moved = movedPart(part);
  expect(moved?.equals(Buffer.alloc(65_536, 7))).toBe(true);
  expect(moved !== undefined && isLent(moved)).toBe(true);
  expect([part.length, isLent(part)]).toEqual([0, false]);
});

it("leaves what is small, and what shares its memory with others", () => {
  expect(movedPart(Buffer.alloc(100))).toBeUndefined();
  const read = Buffer.from(new Uint8Array(65_536).fill(7).buffer);
  const first = read.subarray(0, 40_000);
  expect(movedPart(first)).toEqual(Buffer.alloc(40_000, 7));
  forget(first);
  expect(read.equals(Buffer.alloc(65_536, 7))).toBe(true);
});
