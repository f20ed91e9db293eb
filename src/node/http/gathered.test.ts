import { expect, it } from "vitest";
import { Gathered } from "./gathered.ts";

it("gives back what came, in any parts", () => {
  const sent = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 251));
  for (const size of [1, 2, 7, 4_095, 4_096, 10_000]) {
    const gathered = new Gathered();
    for (let at = 0; at < sent.length; at += size) gathered.add(sent.subarray(at, at + size));
    expect(gathered.bytes().equals(sent), `parts of ${size}`).toBe(true);
  }
  const mixed = new Gathered();
  for (const [from, to] of [
    [0, 1],
    [1, 5_000],
    [5_000, 5_001],
    [5_001, 10_000],
  ])
    mixed.add(sent.subarray(from, to));
  expect(mixed.bytes().equals(sent), "small and large parts").toBe(true);
  expect(new Gathered().bytes()).toHaveLength(0);
});

it("changes no part that it was given", () => {
  const first = Buffer.from(new Uint8Array([1, 2, 3, 4]).buffer);
  const gathered = new Gathered();
  gathered.add(first);
  gathered.add(Buffer.of(5));
  expect([...gathered.bytes(), ...first]).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4]);
});

it("keeps none of what was read beside a small part", () => {
  const read = new ArrayBuffer(65_536);
  const gathered = new Gathered();
  gathered.add(Buffer.from(read, 10, 1));
  expect(gathered.bytes().buffer).not.toBe(read);
});

it("holds nothing once it was let go, and can begin again", () => {
  const gathered = new Gathered();
  gathered.add(Buffer.alloc(100_000, 1));
  gathered.release();
  expect(gathered.bytes()).toHaveLength(0);
  gathered.add(Buffer.alloc(5_000, 2));
  expect(gathered.bytes().equals(Buffer.alloc(5_000, 2))).toBe(true);
});
