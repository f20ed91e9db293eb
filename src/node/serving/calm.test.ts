import { expect, it } from "vitest";
import { CalmCollector } from "./calm.ts";

const MIB = 1024 * 1024;

/** What a thread takes at each look, and after which of them it was collected. */
function collectedAt(looks: readonly number[], left: number): number[] {
  let taken = (looks[0] ?? 0) * MIB;
  let at = 0;
  const collected: number[] = [];
  const collector = new CalmCollector({
    taken: () => taken,
    collect: () => {
      collected.push(at);
      taken = left;
    },
  });
  for (const mib of looks.slice(1)) {
    at += 1;
    taken = mib * MIB;
    collector.look();
  }
  return collected;
}

it("collects what a burst has left when nothing more comes, once", () => {
  expect(collectedAt([50, 55, 200, 400, 405, 60, 65], 50 * MIB)).toEqual([4]);
});

it("leaves a thread alone that is at work, or that has made little", () => {
  expect(collectedAt([50, 200, 230, 260, 290], 50 * MIB)).toEqual([]);
  expect(collectedAt([50, 60, 70, 75, 80], 50 * MIB)).toEqual([]);
});

it("does not collect again and again what is in use", () => {
  expect(collectedAt([50, 400, 405, 405, 406, 407], 400 * MIB)).toEqual([2]);
});
