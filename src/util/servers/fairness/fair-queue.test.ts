import { expect, it } from "vitest";
import type { Caller } from "./caller.ts";
import { FairQueue } from "./fair-queue.ts";

const [a1, a2, b1] = ["a", "a", "b"].map((client) => ({ client, connection: {} })) as [Caller, Caller, Caller];

function rest(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) taken.push(next);
  return taken;
}

it("takes one of each client, and of a client one of each connection", () => {
  const queue = new FairQueue<string>();
  for (const item of ["1", "2", "3"]) queue.push(a1, `a1.${item}`);
  queue.push(a2, "a2.1");
  for (const item of ["1", "2"]) queue.push(b1, `b1.${item}`);
  expect(rest(queue)).toEqual(["a1.1", "b1.1", "a2.1", "b1.2", "a1.2", "a1.3"]);
  expect(queue.isEmpty).toBe(true);
});

it("forgets a connection, and a client of which nothing else waits", () => {
  const queue = new FairQueue<string>();
  for (const caller of [a1, a2, b1]) queue.push(caller, "1");
  queue.remove(a1);
  queue.remove(b1);
  queue.remove(b1);
  expect(rest(queue)).toEqual(["1"]);
  queue.push(a1, "2");
  queue.remove(a1);
  expect(queue.isEmpty).toBe(true);
});

it("gives what is put back the first turns", () => {
  const queue = new FairQueue<string>();
  queue.push(a1, "a1.2");
  queue.putBack([
    [b1, "b1.1"],
    [a2, "a2.1"],
  ]);
  expect(rest(queue)).toEqual(["b1.1", "a2.1", "a1.2"]);
});
