import { mkdtempSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../test/support/ports.ts";
import {
  quietConfig,
  TestDaemon,
  type TestMarketplace,
  testMarketplace,
} from "../../../test/support/provider/daemon.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { type ChainClient, clientErrors } from "../../client/index.ts";
import { testNode } from "../../testing/index.ts";
import type { ProviderConfig } from "./config.ts";

/** A provider that starts before its node answers. */

const HOST = "shop.example.org";
const PATIENCE = { timeout: 60_000, interval: 20 };
/** A call of the start that identifies the chain. */
const GENESIS = "genesis_chunked";

async function market(): Promise<TestMarketplace> {
  const node = await testNode({ blockIntervalMs: 100 });
  onTestFinished(() => node.stop());
  return testMarketplace(node);
}

const newConfig = () => quietConfig(mkdtempSync(join(tmpdir(), "svc-late-")));

/** Calls of the provider's clients that reach no node; none at first. */
class Outage {
  isAway: (method: string) => boolean = () => false;

  readonly change = (client: ChainClient): void => {
    const call = client.rpc.call.bind(client.rpc);
    client.rpc.call = async (...request) => {
      if (this.isAway(request[0])) throw clientErrors.unreachable("no node is there");
      return call(...request);
    };
  };
}

function daemonOf(on: TestMarketplace, config: Omit<ProviderConfig, "driver">, outage: Outage): TestDaemon {
  const nodePorts = { first: 40_000, last: 40_001 };
  const daemon = new TestDaemon(on, { config, nodePorts, change: (client) => outage.change(client) });
  onTestFinished(() => daemon.stop());
  return daemon;
}

async function wonLease(daemon: TestDaemon) {
  const id = await daemon.deploy(sampleDeployment({ hosts: [HOST] }));
  await expect.poll(() => daemon.logged("bid complete"), PATIENCE).toBeDefined();
  await daemon.lease(id);
  await expect.poll(() => daemon.logged("lease won"), PATIENCE).toBeDefined();
  return id;
}

test("serves what runs while it waits, and goes on when the node is there; a node of another chain ends it", async () => {
  const outage = new Outage();
  const port = await freePort();
  const config = newConfig();
  const on = await market();
  const daemon = daemonOf(on, { ...config, ingress: { ...config.ingress, port } }, outage);
  await daemon.start();
  const id = await wonLease(daemon);
  const { manifest } = sampleDeployment({ hosts: [HOST] });
  await expect
    .poll(() => daemon.gateway().sendManifest(id.dseq, manifest).then(String, String), PATIENCE)
    .toBe("undefined");
  const visit = () => status(port);
  await expect.poll(visit, PATIENCE).toBe(200);

  await daemon.halt();
  expect(await visit()).toBeUndefined();
  outage.isAway = () => true;
  const starting = daemon.start();
  await expect.poll(visit, PATIENCE).toBe(200);
  expect(daemon.logged("waiting for the node")).toEqual({
    node: new URL(on.node.url).origin,
    err: expect.stringContaining("no node is there"),
    remedy: expect.stringContaining("Ctrl-C"),
  });
  outage.isAway = () => false;
  await starting;
  expect((await daemon.gateway().leaseStatus(id)).services.web?.available).toBe(1);

  await daemon.halt();
  let calls = 0;
  outage.isAway = () => ++calls === 1;
  const { change } = outage;
  Object.assign(outage, {
    change: (client: ChainClient) => {
      change(client);
      client.chainId = async () => "mine";
    },
  });
  await expect(daemon.start()).rejects.toThrow("the node serves test-1, not mine: wrong chain");
  expect(await visit()).toBeUndefined();
  expect((await daemon.driver.adopt()).map((each) => each.id)).toEqual([id]);
});

test("closes no bid on a chain that it has not compared yet", async () => {
  const outage = new Outage();
  const config = newConfig();
  const on = await market();
  const first = daemonOf(on, config, outage);
  await first.start();
  const id = await wonLease(first);
  await first.halt();
  outage.isAway = (method) => method === GENESIS;
  const second = daemonOf(on, { ...config, manifestTimeoutMs: 1 }, outage);
  const starting = second.start();
  await expect
    .poll(() => second.logged("bid could not be closed, trying again"), PATIENCE)
    .toMatchObject({
      err: expect.stringContaining("the node has not been compared yet"),
    });
  expect(await second.chain.lease(id)).toMatchObject({ state: "active" });
  outage.isAway = () => false;
  await starting;
});

test("waits for a node that goes away at any moment of its start", async () => {
  const on = await market();
  const calls: string[] = [];
  const whole = new Outage();
  whole.isAway = (method) => calls.push(method) < 0;
  await daemonOf(on, newConfig(), whole).start();
  const count = calls.length;
  expect(new Set(calls)).toEqual(new Set(["status", GENESIS, "abci_query"]));
  const started = Array.from({ length: count }, async (_, at) => {
    const outage = new Outage();
    let left = at;
    outage.isAway = () => left-- === 0;
    await daemonOf(on, newConfig(), outage).start();
    return at;
  });
  expect(await Promise.all(started)).toHaveLength(count);
});

/** Status of the page at the host name; undefined without a listener. */
async function status(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    request({ host: "127.0.0.1", port, headers: { host: HOST } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once("error", () => resolve(undefined))
      .end();
  });
}
