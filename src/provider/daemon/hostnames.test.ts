import { mkdtempSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../../test/support/ports.ts";
import { quietConfig, TestDaemon, testMarketplace } from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { TestNameServer } from "../../../test/support/provider/dns.ts";
import { type TestNode, testNode } from "../../testing/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { accountHost, type HostnameConfig } from "../hostnames/index.ts";

const HOST = "shop.example.org";
const PATIENCE = { timeout: 30_000, interval: 20 };

interface Started {
  readonly daemon: TestDaemon;
  readonly node: TestNode;
  /** Where the ingress listens. */
  readonly port: number;
}

async function start(hostnames: Partial<HostnameConfig> = {}): Promise<Started> {
  const node = await testNode({ blockIntervalMs: 100 });
  const config = quietConfig(mkdtempSync(join(tmpdir(), "svc-hosts-")));
  const port = await freePort();
  const ingress = {
    ...config.ingress,
    domain: "apps.example.com",
    port,
    hostnames: { ...config.ingress.hostnames, ...hostnames },
  };
  const daemon = new TestDaemon(await testMarketplace(node), {
    config: { ...config, ingress },
    nodePorts: { first: 40_000, last: 40_001 },
  });
  onTestFinished(async () => {
    await daemon.stop();
    await node.stop();
  });
  await daemon.start();
  return { daemon, node, port };
}

/** Status and page at the host name. */
async function visit(port: number, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port, headers: { host: HOST }, ...(agent === undefined ? {} : { agent }) },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        response.once("end", () => resolve(`${response.statusCode} ${text.trim()}`));
      },
    );
    asked.once("error", reject).end();
  });
}

async function lease(daemon: TestDaemon, loaded = sampleDeployment({ hosts: [HOST] })): Promise<LeaseKey> {
  const id = await daemon.deploy(loaded);
  await vi.waitUntil(
    () => daemon.logs.some(({ message, fields }) => message === "bid complete" && isOf(fields, id)),
    PATIENCE,
  );
  await daemon.lease(id);
  return id;
}

function isOf(fields: object, { dseq }: LeaseKey): boolean {
  return JSON.stringify(fields).includes(`/${dseq}/`);
}

async function ready(daemon: TestDaemon, id: LeaseKey): Promise<void> {
  await vi.waitUntil(async () => ((await daemon.gateway().leaseStatus(id)).services.web?.available ?? 0) > 0, PATIENCE);
}

async function sent(
  daemon: TestDaemon,
  { dseq }: LeaseKey,
  loaded = sampleDeployment({ hosts: [HOST] }),
): Promise<void> {
  await vi.waitFor(() => daemon.gateway().sendManifest(dseq, loaded.manifest), PATIENCE);
}

test("host names move between deployments, and every request meanwhile is answered", async () => {
  const { daemon, port } = await start();
  const first = await lease(daemon);
  await sent(daemon, first);
  await ready(daemon, first);
  const two = sampleDeployment({ hosts: [HOST], count: 2 });
  const second = await lease(daemon, two);
  await sent(daemon, second, two);
  await ready(daemon, second);
  expect((await daemon.gateway().leaseStatus(second)).withheld_hosts).toEqual([HOST]);

  let going = true;
  const answers = new Map<string, number>();
  onTestFinished(() => {
    going = false;
  });
  const agent = new Agent({ keepAlive: true });
  const clients = Array.from({ length: 3 }, async (_, at) => {
    while (going) {
      const answer = await visit(port, at === 0 ? undefined : agent);
      await new Promise((resolve) => setTimeout(resolve, 5));
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  });
  for (const to of [second, first, second, first, second]) {
    const other = to === first ? second : first;
    expect(await daemon.gateway().migrateHosts(to, [HOST])).toEqual([HOST]);
    expect((await daemon.gateway().leaseStatus(to)).withheld_hosts).toEqual([]);
    expect((await daemon.gateway().leaseStatus(other)).withheld_hosts).toEqual([HOST]);
  }
  const failed = () => [...answers.keys()].filter((answer) => !answer.startsWith("200 "));
  expect(failed()).toEqual([]);
  expect(answers.size, "pages of all replicas were seen").toBe(2);
  // The deployment that has it ends: the other, which waits for it, has it from then on.
  await daemon.close(second);
  await vi.waitUntil(async () => (await daemon.gateway().leaseStatus(first)).withheld_hosts.length === 0, PATIENCE);
  await vi.waitUntil(() => daemon.logged("teardown complete") !== undefined, PATIENCE);
  going = false;
  await Promise.all(clients);
  agent.destroy();
  // Requests in progress at the stopped replica break off; every other request is served.
  expect(failed().filter((answer) => !answer.startsWith("502 "))).toEqual([]);
});

test("a host name is served once the DNS says that it is the tenant's", async () => {
  const dns = await TestNameServer.start();
  onTestFinished(() => dns.close());
  const { daemon, node, port } = await start({ isProven: true, resolvers: [dns.address] });
  const tenant = node.key("bob").address;
  const id = await lease(daemon);
  const gateway = daemon.gateway();
  const { manifest } = sampleDeployment({ hosts: [HOST] });
  const unproven = { status: 422, reason: "hostname_unproven", hint: expect.stringContaining(`TXT "${tenant}"`) };
  await vi.waitFor(() => expect(gateway.sendManifest(id.dseq, manifest)).rejects.toMatchObject(unproven), PATIENCE);
  dns.records.set(`TXT _svc-challenge.${HOST}`, ["svc1somebodyelse"]);
  await expect(gateway.sendManifest(id.dseq, manifest)).rejects.toMatchObject(unproven);
  dns.records.clear();
  dns.records.set(`CNAME ${HOST}`, [accountHost(tenant, "apps.example.com")]);
  await gateway.sendManifest(id.dseq, manifest);
  await ready(daemon, id);
  expect(await visit(port)).toMatch(/^200 /);
  // A proven name is not proven again.
  dns.records.clear();
  await daemon.halt();
  await daemon.start();
  await vi.waitFor(async () => expect(await visit(port)).toMatch(/^200 /), PATIENCE);
  await daemon.gateway().sendManifest(id.dseq, manifest);
});

test("a name is not given away while no DNS server answers", async () => {
  const { daemon } = await start({ isProven: true, resolvers: [`127.0.0.1:${await freePort()}`] });
  const id = await lease(daemon);
  const { manifest } = sampleDeployment({ hosts: [HOST] });
  const away = { status: 503, reason: "dns_unreachable" };
  await vi.waitFor(
    () => expect(daemon.gateway().sendManifest(id.dseq, manifest)).rejects.toMatchObject(away),
    PATIENCE,
  );
});
