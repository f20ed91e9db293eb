import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { gatherClientParts, gatherParts } from "./gather.ts";

const LARGE = 8 << 10;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Sends a body in turns of parts, and returns the received parts. */
async function carried(turns: readonly (readonly string[])[]): Promise<string[]> {
  const source = new Readable({ read() {} });
  gatherParts(source);
  const seen: string[] = [];
  source.on("data", (part: Buffer) => seen.push(String(part)));
  for (const parts of turns) {
    for (const part of parts) source.push(Buffer.from(part));
    await nextTurn();
  }
  source.push(null);
  await new Promise((resolve) => source.once("end", resolve));
  return seen;
}

it("passes on the first part of a turn by itself, and the others as one", async () => {
  expect(await carried([["a", "b", "c"], ["d"], ["e", "f"]])).toEqual(["a", "bc", "d", "e", "f"]);
});

it("passes on large parts by themselves, each in its place", async () => {
  const large = "x".repeat(LARGE);
  expect(await carried([["a", large, "b", large, "c"]])).toEqual(["a", large, "b", large, "c"]);
});

it("passes on what it has gathered before the end", () => {
  const source = new Readable({ read() {} });
  gatherParts(source);
  for (const part of ["a", "b", "c"]) source.push(Buffer.from(part));
  source.push(null);
  expect(String(source.read())).toBe("abc");
});

it.each([
  [1_000, false],
  [1_002, true],
])("breaks off a request whose parts arrive %i at once: %s", async (count, isBroken) => {
  const source = new Readable({ read() {} });
  gatherClientParts(source);
  source.resume();
  for (let i = 0; i < count; i++) source.push(Buffer.from("x"));
  await nextTurn();
  await nextTurn();
  expect(source.destroyed).toBe(isBroken);
});

it("keeps no more than a stream takes, and says so", () => {
  const source = new Readable({ read() {}, highWaterMark: 100 });
  gatherParts(source);
  let taken = 1;
  while (source.push(Buffer.from("x")) && taken < 200) taken++;
  expect(taken).toBe(100);
});
