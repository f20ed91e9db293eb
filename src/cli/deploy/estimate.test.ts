import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleFile } from "../../../test/support/provider/deployment.ts";
import { mustSend } from "../../../test/support/signer.ts";
import { ChainClient } from "../../client/index.ts";
import { testNode } from "../../testing/index.ts";
import { MsgUpdateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { packAny } from "../../wire/index.ts";

test("svc deploy --estimate shows each provider's price or refusal, without a key", async () => {
  const node = await testNode();
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const home = mkdtempSync(join(tmpdir(), "svc-estimate-"));
  const daemon = new TestDaemon(market, { config: quietConfig(home), nodePorts: { first: 42_000, last: 42_001 } });
  onTestFinished(() => daemon.stop());
  await daemon.start();
  const file = join(home, "web.yaml");
  const run = async (price: string, ...flags: readonly string[]) => {
    writeFileSync(file, sampleFile().replace('"amount": 1000', `"amount": ${price}`));
    const { code, out } = await runCli(["deploy", file, "--estimate", "--node", node.url, "--home", home, ...flags]);
    return { code, out };
  };
  // Nothing answers at the address on the chain yet.
  expect(await run("1000")).toEqual({
    code: 1,
    out: expect.stringMatching(/localhost:8443 .* its gateway does not say: /),
  });
  const client = new ChainClient(node.url);
  onTestFinished(() => client.close());
  const owner = market.provider.address;
  const hostUri = `https://127.0.0.1:${daemon.logged("provider started")?.gateway}`;
  await mustSend(client, node.key("alice"), packAny(MsgUpdateProviderSchema, { owner, hostUri }));
  const { code, out } = await run("1000");
  expect(code).toBe(0);
  expect(out).toMatch(/^GROUP +PROVIDER +HOST +PER BLOCK +PER HOUR +PER MONTH +NO BID BECAUSE\n/);
  expect(out).toMatch(new RegExp(`\nhere +${owner} +127\\.0\\.0\\.1:\\d+ +1 utoken +`));
  const refused = await run("0.5", "-o", "json");
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.out)).toEqual({
    estimates: [
      {
        group: "here",
        provider: owner,
        host_uri: hostUri,
        bid: false,
        reason: expect.stringContaining("is above the order's"),
      },
    ],
  });
});
