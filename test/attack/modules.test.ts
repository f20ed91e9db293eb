import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { homePaths } from "../../src/node/index.ts";
import { openLmdb } from "../../src/store/index.ts";
import { fromUtf8, toUtf8 } from "../../src/util/index.ts";
import { runSvc, waitFor } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";

/** Where the state has the modules that made it (`src/app/module-versions.ts`). */
const [TABLE, KEY] = ["app", toUtf8("modules")];

let node: AttackedNode;
beforeAll(async () => {
  node = await AttackedNode.start();
});
afterAll(() => node?.close());

/** Changes the record of the modules that made a home's state; returns what it was. */
function rewriteSet(home: string, change: (set: Record<string, number>) => void): string {
  const database = openLmdb(homePaths(home).database);
  try {
    const before = fromUtf8(database.table(TABLE).get(KEY) ?? toUtf8("{}"));
    const set: Record<string, number> = JSON.parse(before);
    change(set);
    database.write([{ table: TABLE, key: KEY, value: toUtf8(JSON.stringify(set)) }]);
    return before;
  } finally {
    database.close();
  }
}

describe("the state of a program with other modules", () => {
  it.each([
    ["fewer modules", (set: Record<string, number>) => delete set.audit],
    ["a module that this one lacks", (set: Record<string, number>) => (set.lottery = 1)],
    ["a newer version of a module", (set: Record<string, number>) => (set.market = 99)],
  ])("is refused with both sets named, and left as it was: %s", async (_, change) => {
    const { home } = node.node;
    await waitFor(async () => (await node.height()) > 2n, "some blocks");
    const height = await node.height();
    expect(await node.node.process.stop()).toBe(0);
    const before = rewriteSet(home, change);
    const started = await runSvc(node.node.process.args, { home });
    expect(started.code).toBe(1);
    expect(started.stderr).toContain("the state was written by a version of svc with other modules");
    for (const name of Object.keys(JSON.parse(before))) expect(started.stderr).toContain(name);
    rewriteSet(home, (set) => {
      for (const name of Object.keys(set)) delete set[name];
      Object.assign(set, JSON.parse(before));
    });
    expect(await node.node.start()).toBeGreaterThanOrEqual(height);
  });
});
