import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { freePort } from "../../../../test/support/ports.ts";
import { ManualClock } from "../../../../test/support/provider/clock.ts";
import {
  type DaemonOptions,
  TestDaemon,
  type TestMarketplace,
  testMarketplace,
} from "../../../../test/support/provider/daemon.ts";
import { type SampleOptions, sampleDeployment } from "../../../../test/support/provider/deployment.ts";
import { type TestNode, testNode } from "../../../testing/index.ts";
import { parseDec, toHex } from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import { resolveFlags } from "../../command/flags.ts";
import { readClusterSettings, readSettings } from "./config.ts";
import { PROVIDER_RUN_FLAGS } from "./spec.ts";

/** Each flag of `svc provider run` with its own value, and what the daemon that is made from it does then. */

type Given = Record<string, string | boolean>;

/** Ports that nobody else has, and an inventory that is not checked again. */
const OWN_PORTS: Given = { "ingress-listen-address": "127.0.0.1:0", "gateway-listen-address": "127.0.0.1:0" };
/** Host names of tenants without a DNS to prove them. */
const UNPROVEN: Given = { "deployment-hostname-proof": "first-come" };
const LOOK = { timeout: 30_000, interval: 25 };
const DEPOSIT = 5_000_000n;

let node: TestNode;
let market: TestMarketplace;
beforeAll(async () => {
  node = await testNode();
  market = await testMarketplace(node);
});
afterAll(() => node.stop());

async function started(given: Given, time: Pick<DaemonOptions, "clock" | "random"> = {}): Promise<TestDaemon> {
  const home = mkdtempSync(join(tmpdir(), "svc-provider-flags-"));
  const flags = resolveFlags(PROVIDER_RUN_FLAGS, new Map(Object.entries({ ...OWN_PORTS, ...given })), {
    SVC_HOME: home,
  });
  const config = readSettings(flags);
  const { nodePorts } = readClusterSettings(flags);
  const daemon = new TestDaemon(market, { config, nodePorts, ...time });
  onTestFinished(() => daemon.stop());
  await daemon.start();
  return daemon;
}

/** A deployment that ends with its test. */
async function ordered(daemon: TestDaemon, options: SampleOptions = {}): Promise<LeaseKey> {
  const id = await daemon.deploy(sampleDeployment(options));
  onTestFinished(() => daemon.close(id));
  return id;
}

async function bidOn(daemon: TestDaemon, options: SampleOptions = {}) {
  const id = await ordered(daemon, options);
  const bid = await vi.waitUntil(() => daemon.chain.bid(id), LOOK);
  return { id, bid };
}

/** Why the provider does not bid. */
async function declined(daemon: TestDaemon, options: SampleOptions = {}): Promise<unknown> {
  await ordered(daemon, options);
  return (await vi.waitUntil(() => daemon.logged("declined to bid"), LOOK)).reason;
}

async function leased(daemon: TestDaemon, options: SampleOptions = {}): Promise<LeaseKey> {
  const { id } = await bidOn(daemon, options);
  await daemon.lease(id);
  return id;
}

/** A lease whose manifest has been sent. */
async function served(daemon: TestDaemon, options: SampleOptions = {}): Promise<LeaseKey> {
  const id = await leased(daemon, options);
  await daemon.gateway().sendManifest(id.dseq, sampleDeployment(options).manifest);
  return id;
}

describe("bids", () => {
  test("--fees is what a transaction pays, --bid-deposit what is locked", async () => {
    const daemon = await started({ fees: "2000utoken", "gas-prices": "0utoken", "bid-deposit": "6000000utoken" });
    const before = await daemon.balance();
    await bidOn(daemon);
    expect(before - (await daemon.balance())).toBe(6_000_000n + 2000n);
  });

  test("--gas-prices pays for more gas than the fee does", async () => {
    const daemon = await started({ "gas-prices": "1utoken" });
    const before = await daemon.balance();
    await bidOn(daemon);
    // A batch has a limit of 100000 gas at least.
    expect(before - (await daemon.balance())).toBeGreaterThanOrEqual(DEPOSIT + 100_000n);
  });

  test("the price is that of the strategy", async () => {
    const daemon = await started({
      "bid-price-cpu-scale": "0.5",
      "bid-price-memory-scale": "0.25",
      "bid-price-storage-scale": "0.125",
      "bid-price-endpoint-scale": "3",
    });
    // A tenth of a core, 32 MiB, 64 MiB and one endpoint.
    expect((await bidOn(daemon)).bid.price.amount).toBe(parseDec("69"));
  });

  test("--bid-timeout takes a bid back that nobody wants, and the order gets another one after a pause", async () => {
    const daemon = await started({ "bid-timeout": "300ms" });
    const { id, bid } = await bidOn(daemon);
    await vi.waitUntil(async () => ((await daemon.chain.bid(id))?.createdAt ?? 0n) > bid.createdAt, LOOK);
  });

  test("--provider-config names attributes that an order has to ask for", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "svc-provider-config-")), "provider-config.yaml");
    writeFileSync(path, "attributes: [{key: tier, value: gold}]\n");
    const daemon = await started({ "provider-config": path });
    expect(await declined(daemon)).toBe("this provider serves only orders that ask for tier=gold");
  });

  test("--cluster-node-port-quantity is the most that leases may take", async () => {
    const daemon = await started({ "cluster-node-port-quantity": "1" });
    expect(await declined(daemon, { nodePorts: [7001, 7002] })).toContain("2 node ports wanted, 1 of 1 left");
  });
});

describe("the inventory", () => {
  // The cluster has 8 cores, 16 GiB of memory and 100 GiB of storage.
  test.each([
    ["cpu", { "available-cpu": 12_000n, "available-memory": 16n << 30n, "available-storage": 100n << 30n }],
    ["mem", { "available-cpu": 8_000n, "available-memory": 24n << 30n, "available-storage": 100n << 30n }],
    ["storage", { "available-cpu": 8_000n, "available-memory": 16n << 30n, "available-storage": 150n << 30n }],
  ])("--overcommit-pct-%s promises more of it alone", async (resource, left) => {
    const daemon = await started({ [`overcommit-pct-${resource}`]: "50" });
    expect(daemon.logged("node resources")).toMatchObject(left);
  });

  test("--inventory-resource-poll-period is the time between two looks", async () => {
    const daemon = await started({ "inventory-resource-poll-period": "20ms" });
    const nodes = vi.spyOn(daemon.driver, "capacity");
    await vi.waitUntil(() => nodes.mock.calls.length > 2, LOOK);
  });
});

describe("a lease", () => {
  test("--manifest-timeout gives it up when no manifest comes", async () => {
    const daemon = await started({ "manifest-timeout": "300ms" });
    const id = await leased(daemon);
    const end = await vi.waitUntil(async () => {
      const lease = await daemon.chain.lease(id);
      return lease?.state === "closed" ? lease : undefined;
    }, LOOK);
    expect(end.closeReason).toBe("manifest_timeout");
  });

  test("--withdrawal-period is the time between two withdrawals", async () => {
    const daemon = await started({ "withdrawal-period": "100ms" });
    const id = await leased(daemon);
    await vi.waitUntil(async () => ((await daemon.chain.payment(id))?.withdrawn ?? 0n) > 0n, LOOK);
  });

  test("--cluster-public-hostname and --cluster-node-port-range are what a tenant is told of a port", async () => {
    const port = await freePort();
    const daemon = await started({
      "cluster-public-hostname": "cluster.example",
      "cluster-node-port-range": `${port}-${port}`,
    });
    const { forwarded_ports: ports } = await daemon.gateway().leaseStatus(await served(daemon, { nodePorts: [7001] }));
    expect(ports).toMatchObject({ web: [{ host: "cluster.example", externalPort: port }] });
  });

  test("--deployment-ingress-domain ends the names that are made", async () => {
    const daemon = await started({ "deployment-ingress-domain": "apps.example" });
    expect(await uris(daemon)).toEqual([expect.stringMatching(/^[a-z0-9]+\.apps\.example$/)]);
  });

  test("--deployment-ingress-static-hosts=false makes no names", async () => {
    const daemon = await started({ "deployment-ingress-static-hosts": false, ...UNPROVEN });
    expect(await uris(daemon, { hosts: ["shop.example"] })).toEqual(["shop.example"]);
  });

  test("--deployment-blocked-hostnames keeps names from tenants", async () => {
    const daemon = await started({ "deployment-blocked-hostnames": "other.example,.bank.example" });
    await expect(served(daemon, { hosts: ["www.bank.example"] })).rejects.toThrow(/www\.bank\.example/);
  });

  test("--ingress-loopback-ports gives each service an address without a host name", async () => {
    const daemon = await started({ "ingress-loopback-ports": true });
    const { services } = await daemon.gateway().leaseStatus(await served(daemon));
    expect(services.web?.urls[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  });

  async function uris(daemon: TestDaemon, options: SampleOptions = {}) {
    const { services } = await daemon.gateway().leaseStatus(await served(daemon, options));
    return services.web?.uris;
  }
});

describe("the monitor", () => {
  const CALM: Given = {
    "monitor-retry-period": "1m",
    "monitor-retry-period-jitter": "0s",
    "monitor-healthcheck-period": "1m",
    "monitor-healthcheck-period-jitter": "0s",
  };

  /** Half of every jitter. */
  const random = () => 0.5;

  /** A lease of a daemon whose clock stands still, with the times at which its health was checked. */
  async function watched(given: Given, health: "ok" | "bad") {
    const clock = new ManualClock();
    const daemon = await started({ ...CALM, ...given }, { clock, random });
    const id = await served(daemon);
    const looks: number[] = [];
    daemon.driver.status = async () => {
      looks.push(clock.now());
      return { health, services: [] };
    };
    await clock.advance(120_000);
    const gaps = () => looks.slice(1).map((at, i) => at - (looks[i] ?? 0));
    return { daemon, id, clock, gaps };
  }

  test.each([
    ["monitor-healthcheck-period", "20s", "ok", 20_000],
    ["monitor-healthcheck-period-jitter", "30s", "ok", 75_000],
    ["monitor-retry-period", "7s", "bad", 7000],
    ["monitor-retry-period-jitter", "40s", "bad", 80_000],
  ] as const)("--%s %s", async (flag, value, health, gap) => {
    const { clock, gaps } = await watched({ [flag]: value }, health);
    await clock.advance(600_000);
    expect(gaps().at(-1)).toBe(gap);
  });

  test("--monitor-max-retries is how many looks in a row have to fail, beside the two hours", async () => {
    const { daemon, id, clock, gaps } = await watched({ "monitor-max-retries": "150" }, "bad");
    await clock.advance((148 - gaps().length) * 60_000);
    expect(daemon.logged("deployment failed.  closing lease.")).toBeUndefined();
    await clock.advance(180_000);
    expect(daemon.logged("deployment failed.  closing lease.")).toBeDefined();
    await vi.waitUntil(async () => (await daemon.chain.lease(id))?.closeReason === "unstable", LOOK);
  });
});

test("svc provider run asks the engine of --cluster-engine, after the key and the certificate were found", async () => {
  const home = mkdtempSync(join(tmpdir(), "svc-provider-run-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_NODE: node.url };
  const provider = (...flags: string[]) => runCli(["provider", "run", "--from", "alice", ...flags], { env });
  await runCli(["keys", "import-hex", "alice"], { env, input: `${toHex(node.key("alice").privateKey)}\n` });
  expect((await provider()).err).toContain("there is no server certificate");
  await runCli(["tx", "cert", "create", "server", "localhost", "--from", "alice", "-y", "-b", "block"], { env });
  const ran = await provider("--cluster-engine", "tcp://127.0.0.1:1");
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("127.0.0.1:1") });
});

describe("addresses", () => {
  test("--gateway-listen-address is where the gateway listens", async () => {
    const port = await freePort();
    const daemon = await started({ "gateway-listen-address": `127.0.0.1:${port}` });
    expect(await daemon.gateway(port).version()).toMatchObject({ svc: { version: "v0.0.0" } });
  });

  test("--ingress-listen-address is where the ingress listens, and in the addresses of services", async () => {
    const port = await freePort();
    const daemon = await started({ "ingress-listen-address": `127.0.0.1:${port}`, ...UNPROVEN });
    const { services } = await daemon.gateway().leaseStatus(await served(daemon, { hosts: ["shop.example"] }));
    expect(services.web?.urls).toContain(`http://shop.example:${port}/`);
    expect((await get(port, "nobody.example")).statusCode).toBe(404);
  });

  test("--ingress-tls-listen-address, --ingress-tls-authority: host names answer over TLS", async () => {
    const [port, tlsPort] = [await freePort(), await freePort()];
    const authority = mkdtempSync(join(tmpdir(), "svc-authority-"));
    onTestFinished(() => rmSync(authority, { recursive: true }));
    const daemon = await started({
      "ingress-listen-address": `127.0.0.1:${port}`,
      "ingress-tls-listen-address": `127.0.0.1:${tlsPort}`,
      "ingress-tls-authority": authority,
      "ingress-tls-redirect": true,
      ...UNPROVEN,
    });
    const { services } = await daemon.gateway().leaseStatus(await served(daemon, { hosts: ["shop.example"] }));
    expect(services.web?.urls).toContain(`https://shop.example:${tlsPort}/`);
    const ca = readFileSync(join(authority, "ca.crt"));
    const name = { servername: "shop.example", headers: { host: "shop.example" } };
    const asked = httpsRequest({ host: "127.0.0.1", port: tlsPort, ca, agent: false, ...name }).end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    expect(answer.resume().statusCode).toBe(200);
    expect((await get(port, "shop.example")).statusCode).toBe(308);
  });

  test("--ingress-connections-per-address holds for addresses that --ingress-trusted-proxies does not name", async () => {
    const port = await freePort();
    await started({
      "ingress-listen-address": `127.0.0.1:${port}`,
      "ingress-connections-per-address": "1",
      "ingress-trusted-proxies": "10.0.0.0/8",
    });
    const first = connect(port, "127.0.0.1");
    onTestFinished(() => void first.destroy());
    await once(first, "connect");
    expect((await get(port, "nobody.example")).statusCode).toBe(429);
  });

  test("--ingress-trusted-proxies names those that may have more", async () => {
    const port = await freePort();
    const given = { "ingress-listen-address": `127.0.0.1:${port}`, "ingress-connections-per-address": "1" };
    await started({ ...given, "ingress-trusted-proxies": "127.0.0.8/29" });
    const [named, other] = ["127.0.0.9", "127.0.0.1"] as const;
    for (const localAddress of [named, other]) {
      const first = connect({ port, host: "127.0.0.1", localAddress });
      onTestFinished(() => void first.destroy());
      await once(first, "connect");
    }
    expect((await get(port, "nobody.example", named)).statusCode).toBe(404);
    expect((await get(port, "nobody.example", other)).statusCode).toBe(429);
  });

  async function get(port: number, host: string, localAddress = "127.0.0.1"): Promise<IncomingMessage> {
    const request = httpRequest({ host: "127.0.0.1", port, localAddress, headers: { host }, agent: false }).end();
    const [response] = await once(request, "response");
    response.resume();
    return response;
  }
});
