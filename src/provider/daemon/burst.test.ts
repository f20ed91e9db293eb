import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { orderBurst } from "../../../test/support/provider/orders/burst.ts";
import { testNode } from "../../testing/index.ts";

const ORDERS = 40;
/** Forty bids fit into a block, so two blocks would do. A busy machine misses some. */
const MOST_BLOCKS = 40;

test("a burst of orders, some cancelled at once, is bid on in a few blocks", async () => {
  const node = await testNode({ blockIntervalMs: 500 });
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const config = quietConfig(mkdtempSync(join(tmpdir(), "svc-burst-")));
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 40_000, last: 40_001 }, cores: ORDERS });
  onTestFinished(() => daemon.stop());
  await daemon.start();
  const { provider, tenant } = market;
  const signer = {
    address: tenant.address,
    publicKey: tenant.publicKey,
    sign: async (b: Uint8Array) => tenant.sign(b),
  };
  const burst = { url: node.url, tenant: signer, provider: provider.address, orders: ORDERS, cancelEvery: 20 };
  const result = await orderBurst({ ...burst, mostBlocks: MOST_BLOCKS });
  expect(result).toMatchObject({ wanted: ORDERS - ORDERS / 20, bidOn: ORDERS - ORDERS / 20 });
});
