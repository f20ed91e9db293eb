import { afterEach, expect, it, vi } from "vitest";
import { GatewayHarness } from "../../../test/support/provider/gateway.ts";
import { PROVIDER } from "../../../test/support/provider/leases.ts";
import { GatewayClient } from "../../client/index.ts";

const HEADERS_MS = 50;

let harness: GatewayHarness | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await harness?.close();
  harness = undefined;
});

it("a client whose chain answers slowly is served although the gateway has ended its silent connection", async () => {
  harness = await GatewayHarness.open({ headersTimeout: HEADERS_MS });
  const { port, world } = harness;
  const client = new GatewayClient({
    provider: PROVIDER,
    hostUri: `https://127.0.0.1:${port}`,
    async certificateOf(owner, serial) {
      await new Promise((resolve) => setTimeout(resolve, 6 * HEADERS_MS));
      const late = performance.now() + 60_000;
      vi.spyOn(performance, "now").mockReturnValue(late);
      return world.chain.certificate(owner, serial);
    },
  });
  expect(await client.status()).toMatchObject({ address: PROVIDER });
});
