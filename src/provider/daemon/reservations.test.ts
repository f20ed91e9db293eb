import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { expect, onTestFinished, test } from "vitest";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { ChainClient, sendTx } from "../../client/index.ts";
import { testNode } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { formatOrderId } from "../../wire/index.ts";
import { bidMessage } from "../outbox/index.ts";
import { parseScales, scalePricing } from "../pricing/index.ts";

const WAIT = { timeout: 60_000, interval: 100 };

test("a lease that the daemon did not bid on has its reservation a block later, so that nothing is sold twice", async () => {
  const node = await testNode({ blockIntervalMs: 200 });
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const stateDir = mkdtempSync(join(tmpdir(), "svc-reservations-"));
  const dear = { cpu: "1000000", memory: "0", storage: "0", endpoint: "0", ip: "0" };
  const config = { ...quietConfig(stateDir), pricing: scalePricing(parseScales(dear)) };
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 40_000, last: 40_001 } });
  onTestFinished(() => daemon.stop());
  await daemon.start();
  const lease = await daemon.deploy(sampleDeployment());
  await expect.poll(() => daemon.logged("declined to bid"), WAIT).toBeDefined();
  // A bid with the same key from another program, such as an operator's command.
  const client = new ChainClient(node.url);
  onTestFinished(() => client.close());
  const terms = { provider: lease.provider, price: { denom: NATIVE_DENOM, amount: 10n ** 18n } };
  const bid = create(AnySchema, bidMessage(lease, { ...terms, deposit: { denom: NATIVE_DENOM, amount: 5_000_000n } }));
  expect(await sendTx(client, market.provider, [bid], { gas: 500_000n })).toMatchObject({ code: 0 });
  await daemon.lease(lease);
  const held = () => readFileSync(join(stateDir, "reservations.jsonl"), "utf8").split("\n").filter(Boolean).at(-1);
  await expect.poll(held, WAIT).toMatch(new RegExp(`"${formatOrderId(lease)}".*"state":"active"`));
});
