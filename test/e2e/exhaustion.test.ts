import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDec } from "../../src/util/index.ts";
import { Deployment_State } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Account_State } from "../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { Lease_State } from "../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { balanceOf, waitFor, webFile } from "../support/index.ts";

const DEPOSIT = 10_000_000n;
const SCALE = 10n ** 18n;
/** The deployment is ready long before the last of its blocks. */
const BLOCK_MS = 400;

describeWithEngine("a lease whose money ends", () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;

  beforeAll(async () => {
    localnet = await TestLocalnet.start(BLOCK_MS);
    // A tenth of a core for some 80000 utoken a block: the deposit lasts for about 125 blocks.
    provider = await localnet.provider({ name: "provider", cpuScale: "800" });
  });
  afterAll(() => localnet?.close());

  it("closes by itself in the block computed beforehand, and its containers go", async () => {
    const { tenant } = localnet;
    const before = await balanceOf(tenant.client, tenant.key.address);
    const ordered = await tenant.order(webFile({ maxPrice: 95_000 }), DEPOSIT);
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    const { escrowPayment, lease: record } = await tenant.leaseOf(lease);
    const rate = BigInt(record?.price?.amount ?? "0");
    const startedAt = escrowPayment?.startedAt ?? 0n;
    const endsAt = startedAt + (DEPOSIT * SCALE) / rate;
    expect(rate).toBeGreaterThanOrEqual(parseDec("80000"));
    expect((await tenant.deployment(ordered.id)).escrowAccount?.exhaustsAt).toBe(endsAt);

    const providerBefore = await balanceOf(tenant.client, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    const url = await tenant.awaitReady(lease);
    expect(await (await fetch(url)).text()).toBe("hello\n");
    expect(await provider.containers()).toHaveLength(1);

    await waitFor(async () => (await tenant.client.node.status()).latestHeight >= endsAt, `block ${endsAt}`);
    const ended = await tenant.leaseOf(lease);
    expect(ended.lease).toMatchObject({ state: Lease_State.insufficient_funds, closedOn: endsAt });
    const earned = (rate * (endsAt - startedAt)) / SCALE;
    expect(ended.escrowPayment).toMatchObject({ closedAt: endsAt, withdrawn: { amount: earned.toString() } });
    expect(await balanceOf(tenant.client, provider.address)).toBe(providerBefore + earned);

    await waitFor(async () => (await provider.leftovers()).length === 0, "containers and networks to go");
    await expect(fetch(url)).rejects.toThrow();

    // Deployment and escrow stay for a top-up; the rest is refunded when they are closed.
    const { deployment, escrowAccount } = await tenant.deployment(ordered.id);
    expect(deployment?.state).toBe(Deployment_State.active);
    expect(escrowAccount?.state).not.toBe(Account_State.closed);
    await tenant.close(ordered.id);
    expect(await balanceOf(tenant.client, tenant.key.address)).toBe(before - earned);
  });
});
