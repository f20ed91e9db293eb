import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { testNode } from "../../testing/index.ts";
import type { LeaseKey } from "../../wire/index.ts";

/** Tenants who make orders for the price of gas alone and accept no bid, beside one who does; on a chain. */

const OWNERS = Array.from({ length: 12 }, (_, at) => `owner${at}`);
const BID_TIMEOUT_MS = 2_000;
const WAIT = { timeout: 120_000, interval: 100 };
const TEST_MS = 300_000;

test(
  "open bids hold half of the provider and one owner a part of that, and one who accepts has its turn",
  async () => {
    const node = await testNode({ blockIntervalMs: 200, accounts: ["alice", "bob", ...OWNERS] });
    onTestFinished(() => node.stop());
    const config = {
      ...quietConfig(mkdtempSync(join(tmpdir(), "svc-hostile-"))),
      bidShare: 50,
      bidTimeoutMs: BID_TIMEOUT_MS,
    };
    const market = await testMarketplace(node);
    // A service takes a tenth of the cluster.
    const daemon = new TestDaemon(market, { config, nodePorts: { first: 40_000, last: 40_001 }, cores: 1 });
    onTestFinished(() => daemon.stop());
    await daemon.start();
    const [first = "", ...others] = OWNERS;
    const hostile: LeaseKey[] = [];
    for (let at = 0; at < 4; at++) hostile.push(await daemon.deploy(sampleDeployment(), node.key(first)));
    for (const name of others) hostile.push(await daemon.deploy(sampleDeployment(), node.key(name)));
    const honest = await daemon.deploy(sampleDeployment());
    const most = { all: 0, owner: 0 };
    const hasBid = async (): Promise<boolean> => {
      const open = await daemon.chain.openBids(honest.provider);
      const ofFirst = open.filter(({ id }) => id.owner === hostile[0]?.owner);
      most.all = Math.max(most.all, open.length);
      most.owner = Math.max(most.owner, ofFirst.length);
      return open.some(({ id }) => id.dseq === honest.dseq);
    };
    await expect.poll(hasBid, WAIT).toBe(true);
    await daemon.lease(honest);
    expect((await daemon.chain.bid(honest))?.state).toBe("active");
    expect(most).toEqual({ all: 5, owner: 2 });
    expect(daemon.logged("bid timeout, closing bid")).toBeDefined();
  },
  TEST_MS,
);
