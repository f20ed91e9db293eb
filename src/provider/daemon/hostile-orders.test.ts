import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { ChainClient } from "../../client/index.ts";
import { type TestNode, testNode } from "../../testing/index.ts";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
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
    const hasBid = async (): Promise<boolean> => (await daemon.chain.bid(honest))?.state === "open";
    await expect.poll(hasBid, WAIT).toBe(true);
    await daemon.lease(honest);
    expect((await daemon.chain.bid(honest))?.state).toBe("active");
    expect(await mostBids(node, honest.provider, hostile[0]?.owner)).toEqual({ all: 5, owner: 2 });
    expect(daemon.logged("bid timeout, closing bid")).toBeDefined();
  },
  TEST_MS,
);

/** The most open bids of a provider after any block, of all owners and of one. */
async function mostBids(node: TestNode, provider: string, owner?: string): Promise<{ all: number; owner: number }> {
  const client = new ChainClient(node.url);
  onTestFinished(() => client.close());
  const most = { all: 0, owner: 0 };
  const filters = { provider, state: "open" };
  for (let height = (await client.node.status()).latestHeight; height > 0n; height--) {
    const { bids } = await client.query.call(MarketQuery.method.bids, { filters }, { height });
    most.all = Math.max(most.all, bids.length);
    most.owner = Math.max(most.owner, bids.filter(({ bid }) => bid?.bidId?.owner === owner).length);
  }
  return most;
}
