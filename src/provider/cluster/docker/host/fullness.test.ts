import { expect, it } from "vitest";
import { lackOf } from "./fullness.ts";

const MIB = 1n << 20n;

/** The message about a volume with this much space left. */
function told(left: { bytes?: bigint; files?: bigint; size?: bigint; of?: bigint }, wasFull = false) {
  const { bytes = 32n * MIB, files = 100n, size = 64n * MIB, of = size } = left;
  const space = { blocks: of / 4096n, bsize: 4096n, bavail: bytes / 4096n, files: 1_000n, ffree: files };
  return lackOf("/volume", { size, wasFull, measure: async () => space });
}

it("a volume is full with hardly any room or no file left", async () => {
  expect(await told({})).toBeUndefined();
  expect(await told({ bytes: MIB })).toBeUndefined();
  expect(await told({ bytes: MIB / 2n })).toBe("room");
  expect(await told({ files: 0n })).toBe("files");
  const beside = { size: 8n * MIB, of: 9n * MIB };
  expect(await told({ ...beside, bytes: MIB })).toBe("room");
  expect(await told({ ...beside, bytes: 2n * MIB })).toBeUndefined();
  const large = 1n << 40n;
  expect(await told({ size: large, bytes: 17n * MIB })).toBeUndefined();
  expect(await told({ size: large, bytes: 16n * MIB })).toBe("room");
});

it("one that was full needs more to count as free", async () => {
  expect(await told({ bytes: 3n * MIB }, true)).toBe("room");
  expect(await told({ bytes: 4n * MIB }, true)).toBeUndefined();
  expect(await told({ files: 50n }, true)).toBe("files");
  expect(await told({ files: 51n }, true)).toBeUndefined();
});

it("nothing is told of a volume that is not mounted, or cannot be looked at", async () => {
  expect(await told({ bytes: 0n, of: 1n << 40n })).toBeUndefined();
  const measure = async () => Promise.reject(new Error("EIO"));
  expect(await lackOf("/volume", { size: MIB, wasFull: false, measure })).toBeUndefined();
});
