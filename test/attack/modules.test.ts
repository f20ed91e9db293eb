import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { homePaths } from "../../src/node/index.ts";
import { openLmdb } from "../../src/store/index.ts";
import { fromUtf8, toUtf8 } from "../../src/util/index.ts";
import { runSvc, waitFor } from "../support/index.ts";
import { AttackedNode } from "./lib/attacked-node.ts";

/** Where the state has the modules that made it (`src/app/upgrades/module-versions.ts`). */
const [TABLE, KEY] = ["state/consensus", Uint8Array.of(2)];

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

describe("the record of the modules that made a state", () => {
  it.each([
    ["fewer modules", (set: Record<string, number>) => delete set.audit],
    ["a module that this one lacks", (set: Record<string, number>) => (set.lottery = 1)],
    ["a newer version of a module", (set: Record<string, number>) => (set.market = 99)],
  ])(
    "is covered by the app hash: with another one the node does not start, and leaves it as it was: %s",
    async (_, change) => {
      const { home } = node.node;
      await waitFor(async () => (await node.height()) > 2n, "some blocks");
      const height = await node.height();
      expect(await node.node.process.stop()).toBe(0);
      const before = rewriteSet(home, change);
      const started = await runSvc(node.node.process.args, { home });
      expect(started.code).toBe(1);
      expect(started.stderr).toContain("store consensus at height");
      rewriteSet(home, (set) => {
        for (const name of Object.keys(set)) delete set[name];
        Object.assign(set, JSON.parse(before));
      });
      expect(await node.node.start()).toBeGreaterThanOrEqual(height);
    },
  );
});
