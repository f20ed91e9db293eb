import { describe, expect, it } from "vitest";
import { imageLayout } from "./volumes.ts";

const MIB = 1n << 20n;

describe("the image of a volume", () => {
  it("is larger than the volume by what the file system keeps, in whole blocks", () => {
    for (const size of [MIB, 64n * MIB, 64n * MIB + 1n, 10n << 30n]) {
      for (const journal of [true, false]) {
        const { bytes } = imageLayout(size, { journal });
        expect(bytes % 4096n).toBe(0n);
        expect(bytes).toBeGreaterThan(size);
        expect(bytes - size).toBeLessThan(size / 32n + 8n * MIB);
      }
    }
  });

  it.each([
    ["the least", MIB, "1024"],
    ["the least at the end of its range", 16n * MIB + 16_383n, "1024"],
    ["one more after it", 16n * MIB + 16_384n, "1025"],
    ["the most", 64n << 30n, "4194304"],
    ["the most for more too", 128n << 30n, "4194304"],
  ])("has %s inodes", (_, size, inodes) => {
    const { options } = imageLayout(size, { journal: false });
    expect(options[options.indexOf("-N") + 1]).toBe(inodes);
  });
});
