import { afterAll, beforeAll, expect, it } from "vitest";
import { moduleAddress } from "../../src/crypto/index.ts";
import { Account_State, Query as EscrowQuery } from "../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { Bid_State } from "../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import { type DeploymentKey, encodeAddress, type LeaseKey } from "../../src/wire/index.ts";
import { describeWithEngine, type Ordered, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { balanceOf, pause, type Rng, seedFrom, waitFor, webFile } from "../support/index.ts";
import { sized } from "../support/runs.ts";

const KILLS = Number(process.env.SVC_TEST_PROVIDER_KILLS ?? sized(1, 3));
const TIMEOUT_MS = 120_000 + KILLS * 40_000;
const SCALE = 10n ** 18n;

/** Points of a deployment's life at which the provider is killed; each with the time in which the kill comes. */
const POINTS = [
  { name: "order seen", withinMs: 120 },
  { name: "bid sent", withinMs: 120 },
  { name: "lease won", withinMs: 150 },
  { name: "manifest received", withinMs: 30 },
  { name: "deploying", withinMs: 900 },
  { name: "running", withinMs: 1500 },
  { name: "closing", withinMs: 600 },
] as const;

type Point = (typeof POINTS)[number]["name"];

describeWithEngine(`a provider killed ${KILLS} times at random points of deployments`, { timeout: TIMEOUT_MS }, () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;
  let rng: Rng;
  const leases: LeaseKey[] = [];

  beforeAll(async () => {
    rng = seedFrom("SVC_TEST_SEED");
    localnet = await TestLocalnet.start();
    provider = await localnet.provider({ name: "provider", cpuScale: "1", flags: QUICK_LOOKS });
  });
  afterAll(() => localnet?.close());

  it("adopts what runs, bids once, loses nothing and leaves nothing", async () => {
    const kept = await Promise.all([deployKept("first", 2), deployKept("second", 1)]);
    const running = await provider.containers();
    expect(running.size).toBe(3);
    const first = rng.below(POINTS.length);
    for (let kill = 0; kill < KILLS; kill++) {
      const point = POINTS[(first + kill) % POINTS.length] ?? POINTS[0];
      const killed = await liveThrough(point.name, rng.between(0, point.withinMs));
      expect(killed, `kills at ${point.name}`).toBe(1);
      expect(await provider.containers(), `containers after a kill at "${point.name}"`).toEqual(running);
    }
    for (const { url, page } of kept) await expectPage(url, page);
    for (const { id } of kept) await localnet.tenant.close(id);
    await waitFor(async () => (await provider.leftovers()).length === 0, "everything to be gone");
    await expectBalanced();
  });

  /** A deployment that must outlive every kill. */
  async function deployKept(page: string, count: number): Promise<{ id: DeploymentKey; url: string; page: string }> {
    const { tenant } = localnet;
    const ordered = await retryOrder(webFile({ page, count, service: page }));
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    leases.push(lease);
    await tenant.sendManifest(ordered, provider.address);
    return { id: ordered.id, url: await tenant.awaitReady(lease), page };
  }

  /** One deployment from order to close, with one kill on the way; how often the provider was killed. */
  async function liveThrough(point: Point, delayMs: number): Promise<number> {
    const { tenant } = localnet;
    let kills = 0;
    let restarted: Promise<void> | undefined;
    const reached = async (here: Point): Promise<void> => {
      if (here !== point) return;
      await pause(delayMs);
      await provider.process.kill();
      kills += 1;
      restarted = provider.start();
    };
    const ordered = await retryOrder(webFile({ page: point }));
    await reached("order seen");
    if (point === "bid sent") await provider.process.line(new RegExp(`submitting fulfillment.*/${ordered.id.dseq}/`));
    await reached("bid sent");
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    leases.push(lease);
    await reached("lease won");
    await tenant.sendManifest(ordered, provider.address);
    await reached("manifest received");
    await reached("deploying");
    const url = await tenant.awaitReady(lease);
    const before = await containersOf(ordered);
    await reached("running");
    await restarted;
    expect(await tenant.awaitReady(lease)).toBe(url);
    await expectPage(url, point);
    expect(await containersOf(ordered), "containers were adopted, none made twice").toEqual(before);
    expect(before).toHaveLength(1);
    expect(await tenant.bids(ordered.id)).toHaveLength(1);
    await tenant.close(ordered.id);
    await reached("closing");
    await restarted;
    await waitFor(async () => (await containersOf(ordered)).length === 0, `deployment ${ordered.id.dseq} to be gone`);
    return kills;
  }

  /** Two orders in one block would have the same number. */
  function retryOrder(file: string): Promise<Ordered> {
    return waitFor(() => localnet.tenant.order(file), "an order to be placed");
  }

  async function containersOf({ id }: Ordered): Promise<string[]> {
    const all = await provider.containers();
    return [...all].filter(([name]) => name.startsWith(`${id.dseq}/`)).map(([, container]) => container);
  }

  /** Every deposit is back, every payment is as calculated, nothing is left in escrow. */
  async function expectBalanced(): Promise<void> {
    const { tenant } = localnet;
    const { client } = tenant;
    for (const lease of leases) {
      const { escrowPayment } = await tenant.leaseOf(lease);
      const { startedAt = 0n, closedAt = 0n, rate, withdrawn } = escrowPayment ?? {};
      expect(closedAt).toBeGreaterThan(0n);
      expect(BigInt(withdrawn?.amount ?? "-1")).toBe((BigInt(rate?.amount ?? "0") * (closedAt - startedAt)) / SCALE);
      const [bid] = await tenant.bids(lease);
      expect(bid?.bid?.state).not.toBe(Bid_State.open);
      expect(bid?.escrowAccount).toMatchObject({ state: Account_State.closed, balance: { amount: "0" } });
    }
    const { accounts } = await client.query.call(EscrowQuery.method.accounts, {});
    expect(accounts.filter(({ state }) => state !== Account_State.closed)).toEqual([]);
    expect(await balanceOf(client, encodeAddress(moduleAddress("escrow")))).toBe(0n);
  }
});

/** A provider that has just started again needs a moment until it knows its containers. */
async function expectPage(url: string, page: string): Promise<void> {
  const question = async (): Promise<boolean> => (await (await fetch(url)).text()) === `${page}\n`;
  await waitFor(question, `the page "${page}" at ${url}`, { pollMs: 100 });
}

/** A lease is looked at often, so that the test does not wait for the monitor. */
const QUICK_LOOKS = [
  ...["--monitor-retry-period", "500ms", "--monitor-retry-period-jitter", "100ms"],
  ...["--monitor-healthcheck-period", "1s", "--monitor-healthcheck-period-jitter", "100ms"],
];
