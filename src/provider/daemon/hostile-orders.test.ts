import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { ChainClient } from "../../client/index.ts";
import { type TestNode, testNode } from "../../testing/index.ts";
import { formatOrderId, type LeaseKey } from "../../wire/index.ts";
import type { Patience } from "../orders/index.ts";

/** Tenants who make orders for the price of gas alone, so that the provider's bids keep others out. */

/** A service of this many replicas takes the whole cluster. */
const WHOLE = 10;
const HALF = WHOLE / 2;
const WAIT = { timeout: 120_000, interval: 100 };
const PATIENCE = { alone: 3_000, least: 1_000 };
const TEST_MS = 300_000;

interface MarketOptions {
  readonly balance?: bigint;
  readonly bidPatience?: Patience;
  readonly accounts?: readonly string[];
  readonly blockIntervalMs?: number;
}

async function hostileMarket({
  balance,
  bidPatience = PATIENCE,
  blockIntervalMs = 200,
  accounts = ["alice", "bob", "carol", "dave"],
}: MarketOptions = {}): Promise<{ readonly node: TestNode; readonly daemon: TestDaemon }> {
  const node = await testNode({ blockIntervalMs, accounts });
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const config = { ...quietConfig(mkdtempSync(join(tmpdir(), "svc-hostile-"))), bidPatience };
  const keep = balance === undefined ? {} : { minimumBalance: { denom: "utoken", amount: balance } };
  const options = { config: { ...config, ...keep }, nodePorts: { first: 40_000, last: 40_001 }, cores: 1 };
  const daemon = new TestDaemon(market, options);
  onTestFinished(() => daemon.stop());
  return { node, daemon };
}

const stateOf = async (daemon: TestDaemon, id: LeaseKey) => (await daemon.chain.bid(id))?.state;

test(
  "one tenant's orders hold the whole provider only until another wants a part of it",
  async () => {
    const { node, daemon } = await hostileMarket();
    await daemon.start();
    const carol = node.key("carol");
    const hostile: LeaseKey[] = [];
    for (let at = 0; at < 3; at++) hostile.push(await daemon.deploy(sampleDeployment({ count: HALF }), carol));
    const held = async () =>
      (await Promise.all(hostile.map((id) => stateOf(daemon, id)))).filter((is) => is === "open");
    await expect.poll(async () => (await held()).length, WAIT).toBe(2);
    const honest = await daemon.deploy(sampleDeployment());
    await expect.poll(() => stateOf(daemon, honest), WAIT).toBe("open");
    // One was enough, and waiting orders of the same tenant do not take it back.
    expect(await held()).toHaveLength(1);
    expect(daemon.logged("withdrawing bid, another order waits for its room")).toMatchObject({
      other: formatOrderId(honest),
    });
    await daemon.lease(honest);
    expect(await stateOf(daemon, honest)).toBe("active");
    expect(daemon.logs.filter(({ message }) => message.startsWith("withdrawing bid, another"))).toHaveLength(1);
  },
  TEST_MS,
);

test(
  "tenants who ask for everything in turn do not keep out one who asks for little",
  async () => {
    const { node, daemon } = await hostileMarket();
    await daemon.start();
    const whole = sampleDeployment({ count: WHOLE });
    const first = await daemon.deploy(whole, node.key("carol"));
    await expect.poll(() => stateOf(daemon, first), WAIT).toBe("open");
    const second = await daemon.deploy(whole, node.key("dave"));
    const honest = await daemon.deploy(sampleDeployment());
    await expect.poll(() => stateOf(daemon, honest), WAIT).toBe("open");
    expect(await stateOf(daemon, first)).toBeUndefined();
    // The one with everything does not fit beside it.
    expect(await stateOf(daemon, second)).toBeUndefined();
  },
  TEST_MS,
);

test(
  "deposits that one tenant's orders hold come back for another's",
  async () => {
    const funded = await hostileMarket();
    const balance = await funded.daemon.balance();
    await funded.node.stop();
    // Enough for two bids and their fees.
    const { node, daemon } = await hostileMarket({ balance: balance - 11_000_000n });
    await daemon.start();
    const carol = node.key("carol");
    const hostile = [await daemon.deploy(sampleDeployment(), carol), await daemon.deploy(sampleDeployment(), carol)];
    const states = () => Promise.all(hostile.map((id) => stateOf(daemon, id)));
    await expect.poll(states, WAIT).toEqual(["open", "open"]);
    const honest = await daemon.deploy(sampleDeployment());
    await expect.poll(() => stateOf(daemon, honest), WAIT).toBe("open");
    expect((await states()).filter((is) => is === "open")).toHaveLength(1);
  },
  TEST_MS,
);

const OWNERS = Array.from({ length: 100 }, (_, at) => `owner${at}`);
const AT_ONCE = 20;
const FEW_BLOCKS = 30;

test(
  "a hundred accounts with one order each keep a tenant from a bid for a few blocks, not for the patience of each",
  async () => {
    const bidPatience = { alone: 10_000, least: 3_000 };
    const accounts = ["alice", "bob", ...OWNERS];
    const { node, daemon } = await hostileMarket({ bidPatience, accounts, blockIntervalMs: 1_000 });
    await daemon.start();
    const client = new ChainClient(node.url);
    onTestFinished(() => client.close());
    const height = async () => (await client.node.status()).latestHeight;
    for (let at = 0; at < OWNERS.length; at += AT_ONCE) {
      const some = OWNERS.slice(at, at + AT_ONCE);
      await Promise.all(some.map((name) => daemon.deploy(sampleDeployment(), node.key(name))));
    }
    const honest = await daemon.deploy(sampleDeployment());
    const from = await height();
    await expect.poll(() => stateOf(daemon, honest), WAIT).toBe("open");
    expect(Number((await height()) - from)).toBeLessThanOrEqual(FEW_BLOCKS);
    await daemon.lease(honest);
    expect(await stateOf(daemon, honest)).toBe("active");
  },
  TEST_MS,
);
