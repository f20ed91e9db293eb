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

/** Each flag of `svc provider run` with its own value, and its effect on the resulting daemon. */

type Given = Record<string, string | boolean>;

/** Unused ports, and an inventory that is not checked again. */
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

function daemonOf(given: Given, time: Pick<DaemonOptions, "clock" | "random"> = {}): TestDaemon {
  const home = mkdtempSync(join(tmpdir(), "svc-provider-flags-"));
  const flags = resolveFlags(PROVIDER_RUN_FLAGS, new Map(Object.entries({ ...OWN_PORTS, ...given })), {
    SVC_HOME: home,
  });
  const config = readSettings(flags);
  const { nodePorts } = readClusterSettings(flags);
  return new TestDaemon(market, { config, nodePorts, ...time });
}

async function started(given: Given): Promise<TestDaemon> {
  const daemon = daemonOf(given);
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

async function statusOf(daemon: TestDaemon, options: SampleOptions = {}) {
  return daemon.gateway().leaseStatus(await served(daemon, options));
}

async function get(port: number, host: string, localAddress = "127.0.0.1"): Promise<IncomingMessage> {
  const request = httpRequest({ host: "127.0.0.1", port, localAddress, headers: { host }, agent: false }).end();
  const [response] = await once(request, "response");
  response.resume();
  return response;
}

describe("bids", () => {
  test("--gas-prices pays for more gas than the fee does", async () => {
    const daemon = await started({ "gas-prices": "1utoken" });
    const before = await daemon.balance();
    await bidOn(daemon);
    // A batch has a limit of 100000 gas at least.
    expect(before - (await daemon.balance())).toBeGreaterThanOrEqual(DEPOSIT + 100_000n);
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
});

describe("a daemon with values of its own for bids, inventory and names", () => {
  let daemon: TestDaemon;
  let nodePort: number;
  let gatewayPort: number;
  let ingressPort: number;
  beforeAll(async () => {
    [nodePort, gatewayPort, ingressPort] = [await freePort(), await freePort(), await freePort()];
    daemon = daemonOf({
      ...{ fees: "2000utoken", "gas-prices": "0utoken", "bid-deposit": "6000000utoken" },
      ...{ "bid-price-cpu-scale": "0.5", "bid-price-memory-scale": "0.25", "bid-price-storage-scale": "0.125" },
      "bid-price-endpoint-scale": "3",
      ...{ "overcommit-pct-cpu": "50", "overcommit-pct-mem": "25", "overcommit-pct-storage": "10" },
      ...{ "cluster-node-port-quantity": "1", "cluster-node-port-range": `${nodePort}-${nodePort}` },
      "cluster-public-hostname": "cluster.example",
      "deployment-ingress-domain": "apps.example",
      "deployment-blocked-hostnames": "other.example,.bank.example",
      "gateway-listen-address": `127.0.0.1:${gatewayPort}`,
      "ingress-listen-address": `127.0.0.1:${ingressPort}`,
      ...UNPROVEN,
    });
    await daemon.start();
  });
  afterAll(() => daemon.stop());

  test("--fees is what a transaction pays, --bid-deposit what is locked; the price is that of the strategy", async () => {
    const before = await daemon.balance();
    const { bid } = await bidOn(daemon);
    expect(before - (await daemon.balance())).toBe(6_000_000n + 2000n);
    // A tenth of a core, 32 MiB, 64 MiB and one endpoint.
    expect(bid.price.amount).toBe(parseDec("69"));
  });

  test("--overcommit-pct-cpu, -mem and -storage promise more, each of its own", () => {
    // The cluster has 8 cores, 16 GiB of memory and 100 GiB of storage.
    expect(daemon.logged("node resources")).toMatchObject({
      ...{ "available-cpu": 12_000n, "available-memory": 20n << 30n, "available-storage": 110n << 30n },
    });
  });

  test("--cluster-node-port-quantity is the most that leases may take", async () => {
    expect(await declined(daemon, { nodePorts: [7001, 7002] })).toContain("2 node ports wanted, 1 of 1 left");
  });

  test("--cluster-public-hostname and --cluster-node-port-range are what a tenant is told of a port", async () => {
    const { forwarded_ports: ports } = await statusOf(daemon, { nodePorts: [7001] });
    expect(ports).toMatchObject({ web: [{ host: "cluster.example", externalPort: nodePort }] });
  });

  test("--deployment-ingress-domain ends the names that are made", async () => {
    const { services } = await statusOf(daemon);
    expect(services.web?.uris).toEqual([expect.stringMatching(/^[a-z0-9]+\.apps\.example$/)]);
  });

  test("--deployment-blocked-hostnames keeps names from tenants", async () => {
    await expect(served(daemon, { hosts: ["www.bank.example"] })).rejects.toThrow(/www\.bank\.example/);
  });

  test("--gateway-listen-address is where the gateway listens", async () => {
    expect(await daemon.gateway(gatewayPort).version()).toMatchObject({ svc: { version: "v0.0.0" } });
  });

  test("--ingress-listen-address is where the ingress listens, and in the addresses of services", async () => {
    const { services } = await statusOf(daemon, { hosts: ["shop.example"] });
    expect(services.web?.urls).toContain(`http://shop.example:${ingressPort}/`);
    expect((await get(ingressPort, "nobody.example")).statusCode).toBe(404);
  });
});

describe("a daemon whose times are short, and which makes no host names", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = daemonOf({
      ...{ "manifest-timeout": "3s", "withdrawal-period": "100ms", "inventory-resource-poll-period": "20ms" },
      ...{ "deployment-ingress-static-hosts": false, "ingress-loopback-ports": true, ...UNPROVEN },
    });
    await daemon.start();
  });
  afterAll(() => daemon.stop());

  test("--inventory-resource-poll-period is the time between two looks", async () => {
    const nodes = vi.spyOn(daemon.driver, "capacity");
    await vi.waitUntil(() => nodes.mock.calls.length > 2, LOOK);
  });

  test("--manifest-timeout gives a lease up when no manifest comes", async () => {
    const id = await leased(daemon);
    const end = await vi.waitUntil(async () => {
      const lease = await daemon.chain.lease(id);
      return lease?.state === "closed" ? lease : undefined;
    }, LOOK);
    expect(end.closeReason).toBe("manifest_timeout");
  });

  test("--withdrawal-period is the time between two withdrawals", async () => {
    const id = await served(daemon, { hosts: ["paid.example"] });
    await vi.waitUntil(async () => ((await daemon.chain.payment(id))?.withdrawn ?? 0n) > 0n, LOOK);
  });

  test("--deployment-ingress-static-hosts=false makes no names", async () => {
    const { services } = await statusOf(daemon, { hosts: ["shop.example"] });
    expect(services.web?.uris).toEqual(["shop.example"]);
  });

  test("--ingress-loopback-ports gives each service an address without a host name", async () => {
    const { services } = await statusOf(daemon, { hosts: ["local.example"] });
    expect(services.web?.urls).toContainEqual(expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/));
  });
});

describe("a daemon whose clock stands still", () => {
  const clock = new ManualClock();
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = daemonOf(
      {
        "monitor-max-retries": "300",
        ...{ "monitor-healthcheck-period": "20s", "monitor-healthcheck-period-jitter": "30s" },
        ...{ "monitor-retry-period": "7s", "monitor-retry-period-jitter": "40s" },
      },
      // Half of every jitter.
      { clock, random: () => 0.5 },
    );
    await daemon.start();
  });
  afterAll(() => daemon.stop());

  test("--monitor-* are the times between looks at a lease, and how many in a row may fail", async () => {
    const id = await served(daemon);
    const looks: number[] = [];
    let health: "ok" | "bad" = "ok";
    daemon.driver.status = async () => {
      looks.push(clock.now());
      return { health, services: [] };
    };
    const gap = () => (looks.at(-1) ?? 0) - (looks.at(-2) ?? 0);
    await clock.advance(200_000);
    expect(gap()).toBe(20_000 + 15_000);
    health = "bad";
    await clock.advance(200_000);
    expect(gap()).toBe(7_000 + 20_000);
    // It takes two hours too, which are over then.
    const begun = looks.length;
    await clock.advance((295 - begun) * 27_000);
    expect(daemon.logged("deployment failed.  closing lease.")).toBeUndefined();
    await clock.advance(20 * 27_000);
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
});
