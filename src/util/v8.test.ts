import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { collectGarbage } from "./v8.ts";

const COUNT = 100;
const pause = () => new Promise((resolve) => setTimeout(resolve, 0));

it("collects what nobody uses, and nothing else", async () => {
  const kept = Array.from({ length: COUNT }, (_, index) => ({ index }));
  const seen = { kept: kept.map((each) => new WeakRef(each)), left: references() };
  for (let round = 0; round < 2; round++) {
    await pause();
    collectGarbage();
  }
  const alive = (all: readonly WeakRef<object>[]) => all.filter((each) => each.deref() !== undefined).length;
  expect([alive(seen.kept), alive(seen.left)]).toEqual([kept.length, 0]);
});

function references(): WeakRef<object>[] {
  return Array.from({ length: COUNT }, (_, index) => new WeakRef({ index }));
}

it.each(["max-inlined-bytecode-size-cumulative", "heap-growing-percent"])(
  "V8 knows --%s: it ignores others",
  (flag) => {
    expect(execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" })).toContain(`--${flag} (`);
  },
);
