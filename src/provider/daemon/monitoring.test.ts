import { mkdtempSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clone, create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { testNode } from "../../testing/index.ts";
import { DecCoinSchema } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { PlacementRequirementsSchema } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema, type Resource } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { printJson, toJson } from "../../wire/index.ts";
import { askProvider, DRAINING, setDraining } from "../control/index.ts";
import { COUNTERS, DURATIONS, GAUGES } from "../metrics/table.ts";
import { BLOCKS_MISSED_MS, whyNotReady } from "./monitoring.ts";

test("a provider shows the life of an order in its metrics, without naming the tenant", async () => {
  const node = await testNode();
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const quiet = quietConfig(mkdtempSync(join(tmpdir(), "svc-metrics-")));
  const config = { ...quiet, metrics: { host: "127.0.0.1", port: 0 } };
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 41_000, last: 41_001 } });
  onTestFinished(() => daemon.stop());
  await daemon.start();
  const port = Number(daemon.logged("metrics listens")?.port);
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lease = await daemon.deploy(sampleDeployment());
  await expect.poll(metrics, { timeout: 30_000 }).toContain('provider_order_manager{phase="open"} 1');
  await daemon.lease(lease);
  await expect.poll(metrics, { timeout: 30_000 }).toContain('provider_order_complete_total{result="lease-won"} 1');
  const text = await metrics();
  expect(text).toContain('provider_bid_total{action="create",result="success"} 1');
  expect(text).toContain('provider_should_bid_total{result="pass"} 1');
  expect(text).toContain('provider_reservation_total{result="success"} 1');
  expect(text).toContain('provider_inventory_reservations{classification="active",quantity="none"} 1');
  expect(text).toContain("provider_bid_pricing_duration_count 1");
  expect(text).toMatch(/^provider_balance [1-9]/m);
  expect(text).toMatch(/^provider_last_bid_timestamp_seconds [1-9]/m);
  // A running provider serves the metrics of dashboard and alerts, not only the table.
  const served = new Set([...text.matchAll(/^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{| )/gm)].map(([, name]) => name));
  // A newer version is known where a network was named.
  const { newerVersion, ...gauges } = GAUGES;
  expect(served.has(newerVersion.name)).toBe(false);
  const rows = Object.values({ ...COUNTERS, ...DURATIONS, ...gauges });
  expect(rows.map(({ name }) => name).filter((name) => !served.has(name))).toEqual([]);
  for (const secret of [lease.owner, lease.provider, "BEGIN"]) expect(text).not.toContain(secret);
  expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text()).toBe("ready\n");
});

test("a provider screens groups as it would look at their orders, and takes no nonsense from strangers", async () => {
  const node = await testNode();
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const config = quietConfig(mkdtempSync(join(tmpdir(), "svc-screen-")));
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 41_000, last: 41_001 } });
  onTestFinished(() => daemon.stop());
  await daemon.start();
  const [group] = sampleDeployment().groups;
  if (group === undefined) throw new Error("no group");
  const screen = async (change: (group: GroupSpec) => void) => {
    const copy = clone(GroupSpecSchema, group);
    change(copy);
    return screenAt(Number(daemon.logged("provider started")?.gateway), printJson(toJson(GroupSpecSchema, copy)));
  };
  const row = (copy: GroupSpec) => copy.resources[0] as Resource;
  expect(await screen(() => {})).toEqual({ bid: true, price: { denom: "utoken", amount: "1.000000000000000000" } });
  expect(
    await screen((copy) => {
      row(copy).count = 4_000_000_000;
    }),
  ).toMatchObject({ bid: false, reason: expect.stringContaining("count") });
  expect(
    await screen((copy) => {
      row(copy).price = create(DecCoinSchema, { denom: "utoken", amount: "100000000000000000" });
    }),
  ).toMatchObject({ bid: false, reason: expect.stringContaining("is above the order's") });
  expect(
    await screen((copy) => {
      copy.requirements = create(PlacementRequirementsSchema, { attributes: [{ key: "region", value: "x" }] });
    }),
  ).toEqual({ bid: false, reason: "the order requires attribute region=x, this provider does not have it" });
  expect((await askProvider(config.stateDir))?.orders).toEqual([]);
  expect(await daemon.deposits()).toBe(0n);
});

/** A gateway's public answer. */
function screenAt(port: number, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      path: "/screen",
      method: "POST",
      rejectUnauthorized: false,
      agent: false,
    };
    const asked = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.once("end", () => resolve(JSON.parse(text)));
    });
    asked.once("error", reject).end(body);
  });
}

test("a drained provider takes its bid back, takes no other order, and keeps its lease", async () => {
  const node = await testNode();
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const config = quietConfig(mkdtempSync(join(tmpdir(), "svc-drain-")));
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 41_000, last: 41_001 } });
  onTestFinished(() => daemon.stop());
  await daemon.start();
  const state = async () => await askProvider(config.stateDir);
  const phases = async () => (await state())?.orders.map(({ phase }) => phase);
  const first = await daemon.deploy(sampleDeployment());
  await expect.poll(phases, { timeout: 30_000 }).toEqual(["open"]);
  await daemon.lease(first);
  await expect.poll(phases, { timeout: 30_000 }).toEqual(["won"]);
  await daemon.deploy(sampleDeployment());
  await expect.poll(phases, { timeout: 30_000 }).toEqual(["won", "open"]);
  setDraining(config.stateDir, true);
  await expect.poll(phases, { timeout: 30_000 }).toEqual(["won", "refused"]);
  expect((await state())?.orders[1]?.reason).toBe("it withdrew its last bid");
  expect(await daemon.deposits()).toBe(0n);
  await daemon.deploy(sampleDeployment());
  await expect.poll(phases, { timeout: 30_000 }).toEqual(["won", "refused", "refused"]);
  expect(await state()).toMatchObject({ draining: true, leases: 1, obstacles: [DRAINING] });
  await daemon.halt();
  await daemon.start();
  expect(await state()).toMatchObject({ draining: true, leases: 1 });
  setDraining(config.stateDir, false);
  await expect.poll(async () => (await state())?.draining, { timeout: 30_000 }).toBe(false);
});

test("a provider is ready once it has started, nothing is in the way and blocks come", () => {
  const good = {
    isStarted: true,
    isDraining: false,
    obstacle: undefined,
    probe: "passed" as const,
    balance: 1n,
    lastBlock: { height: 1n, at: 0 },
    now: 0,
  };
  expect(whyNotReady({ ...good, now: BLOCKS_MISSED_MS })).toEqual([]);
  expect(whyNotReady({ ...good, now: BLOCKS_MISSED_MS + 1 })).toEqual(["no block has come for 60 s: look at the node"]);
  expect(whyNotReady({ ...good, lastBlock: undefined })).toHaveLength(1);
  const obstacle = { reason: "setup" as const, text: "no engine" };
  expect(whyNotReady({ ...good, obstacle })).toEqual(["no engine"]);
  expect(whyNotReady({ ...good, probe: "probing" })).toEqual([expect.stringContaining("a container is being tried")]);
  expect(whyNotReady({ ...good, isStarted: false, obstacle })).toEqual(["the provider is starting"]);
});
