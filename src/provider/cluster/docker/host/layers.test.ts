import { expect, test } from "vitest";
import { isLayerSized } from "./layers.ts";

const MIB = 1n << 20n;
const LIMIT = 512n * MIB;

function measured(bytes: bigint): Parameters<typeof isLayerSized>[2] {
  return async () => ({ blocks: bytes / 4096n, bsize: 4096n });
}

function failing(code: string): Parameters<typeof isLayerSized>[2] {
  return async () => {
    throw Object.assign(new Error(code), { code });
  };
}

test("a layer has its size where its file system is not much larger", async () => {
  expect(await isLayerSized(1, LIMIT, measured(LIMIT))).toBe(true);
  expect(await isLayerSized(1, LIMIT, measured(LIMIT + LIMIT / 4n + 16n * MIB))).toBe(true);
  expect(await isLayerSized(1, LIMIT, measured(LIMIT + LIMIT / 4n + 17n * MIB))).toBe(false);
});

test("only a process that has ended needs no size", async () => {
  expect(await isLayerSized(1, LIMIT, failing("ENOENT"))).toBe(true);
  expect(await isLayerSized(1, LIMIT, failing("ESRCH"))).toBe(true);
  expect(await isLayerSized(1, LIMIT, failing("EACCES"))).toBe(false);
});
