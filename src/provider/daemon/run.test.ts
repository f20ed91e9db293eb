import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleService, sampleSpec } from "../../../test/support/conformance/index.ts";
import { MemoryCluster } from "../../../test/support/memory-cluster/index.ts";
import { freePort } from "../../../test/support/ports.ts";
import { quietConfig } from "../../../test/support/provider/daemon.ts";
import { publication, testCertificate } from "../../../test/support/provider/identities.ts";
import { ChainClient, clientErrors, sendTx } from "../../client/index.ts";
import { type TestNode, testNode } from "../../testing/index.ts";
import { type Logger, silentLogger } from "../../util/index.ts";
import { MsgRevokeCertificateSchema } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { MsgCreateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { formatLeaseId, packAny } from "../../wire/index.ts";
import { setDraining } from "../control/index.ts";
import { parseScales, scalePricing } from "../pricing/index.ts";
import { HOST_REASONS } from "../reasons.ts";
import type { ProviderConfig } from "./config.ts";
import { type RunningProvider, runProvider } from "./run.ts";

async function startedNode(): Promise<TestNode> {
  const node = await testNode();
  onTestFinished(() => node.stop());
  return node;
}

function configOf(change: Partial<ProviderConfig>): ProviderConfig {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-provider-run-"));
  const cluster = new MemoryCluster();
  onTestFinished(async () => {
    await cluster.destroy();
    rmSync(stateDir, { recursive: true });
  });
  return {
    ...quietConfig(stateDir),
    driver: cluster.open(),
    pricing: scalePricing(parseScales({ cpu: "1", memory: "0", storage: "0", endpoint: "0", ip: "0" })),
    bidTimeoutMs: 60_000,
    manifestTimeoutMs: 60_000,
    withdrawalPeriodMs: 60_000,
    nodePortQuantity: 0,
    monitor: { retries: 1, retryMs: 1000, retryJitterMs: 0, periodMs: 1000, periodJitterMs: 0 },
    inventoryPollMs: 60_000,
    ...change,
  };
}

interface Wish {
  readonly config?: Partial<ProviderConfig>;
  /** Given instead of the node's. */
  readonly chainId?: string;
  readonly change?: (client: ChainClient) => void;
  /** Receives the provider's warnings and errors. */
  readonly heard?: string[];
  /** State of the certificate on the chain; it is published by default. */
  readonly certificate?: "published" | "missing" | "revoked" | "expired" | "sent";
}

/** Certificates that are not on the chain when the provider is registered. */
const NOT_YET = new Set(["missing", "expired", "sent"]);

function loggerInto(heard: string[]): Logger {
  const note: Logger["warn"] = (message, fields = {}) =>
    void heard.push([message, ...Object.values(fields).map(String)].join(" | "));
  const log: Logger = { ...silentLogger, warn: note, error: note, child: () => log };
  return log;
}

/** Starts a provider that is registered on the node's chain. */
async function run(node: TestNode, wish: Wish): Promise<RunningProvider> {
  const { config = {}, chainId, change, certificate = "published", heard = [] } = wish;
  const { address, publicKey, ...key } = node.key("alice");
  const signer = { address, publicKey, sign: async (bytes: Uint8Array) => key.sign(bytes) };
  const own = new ChainClient(node.url);
  onTestFinished(() => own.close());
  const message = packAny(MsgCreateProviderSchema, { owner: address, hostUri: "https://localhost:8443" });
  const ends = certificate === "expired" ? { notBefore: Date.now() - 120_000, notAfter: Date.now() - 60_000 } : {};
  const identity = await testCertificate({ address, ...ends });
  const messages = [message, ...(NOT_YET.has(certificate) ? [] : [publication(address, identity)])];
  expect(await sendTx(own, signer, messages, { gas: 500_000n })).toMatchObject({ code: 0 });
  if (certificate === "revoked") {
    const revocation = packAny(MsgRevokeCertificateSchema, { id: { owner: address, serial: identity.serial } });
    expect(await sendTx(own, signer, [revocation])).toMatchObject({ code: 0 });
  }
  if (certificate === "sent") await sendTx(own, signer, [publication(address, identity)], { mode: "sync" });
  const client = new ChainClient(node.url, chainId === undefined ? {} : { chainId });
  onTestFinished(() => client.close());
  change?.(client);
  const parts = { client, signer, identity, version: "v0.0.0", log: loggerInto(heard) };
  return runProvider({ config: configOf(config), ...parts });
}

test("a node of another chain is refused", async () => {
  const node = await startedNode();
  await expect(run(node, { chainId: "other" })).rejects.toThrow("the node serves test-1, not other: wrong chain");
});

test.each([
  [
    { denom: "utoken", amount: 1n },
    "1utoken, the chain takes 5000000utoken and more: the deposit of bids is too small",
  ],
  [{ denom: "TOKEN", amount: 5n }, "5TOKEN, the chain takes 5000000utoken and more"],
])("a deposit of %o for bids is refused", async (bidDeposit, text) => {
  await expect(run(await startedNode(), { config: { bidDeposit } })).rejects.toThrow(text);
});

test.each([
  ["missing", /^certificate \d+ is not on the chain: tenants would not trust the server certificate$/],
  ["expired", /^certificate \d+ ended on 20[\d-]+T.*Z: tenants would not trust/],
  ["revoked", /^certificate \d+ is revoked: tenants would not trust/],
] as const)("a server certificate that is %s is refused", async (certificate, text) => {
  await expect(run(await startedNode(), { certificate })).rejects.toThrow(text);
});

test("a certificate that was sent just before is waited for", async () => {
  const provider = await run(await startedNode(), { certificate: "sent" });
  await provider.stop();
});

test.each([
  ["provider", true],
  ["cluster", false],
] as const)("where host names come through the ingress of the %s, one of ours is open: %s", async (ingress, open) => {
  const cluster = new MemoryCluster({ ingress });
  onTestFinished(() => cluster.destroy());
  const port = await freePort();
  const config = { driver: cluster.open(), ingress: { ...configOf({}).ingress, port } };
  const provider = await run(await startedNode(), { config });
  onTestFinished(() => provider.stop());
  const answer = fetch(`http://127.0.0.1:${port}/`).then(
    ({ status }) => status === 404,
    () => false,
  );
  expect(await answer).toBe(open);
});

/** Each new block ends a pause before the next attempt. */
async function nodeWithQuickBlocks(): Promise<TestNode> {
  const node = await testNode({ blockIntervalMs: 100 });
  onTestFinished(() => node.stop());
  return node;
}

test.each([
  ["lacks a block", clientErrors.pruned("the node's first block is 100, not 7")],
  ["serves another chain", clientErrors.wrongChain("the node serves other-1, not test-1")],
])("a node that says once, and untruly, that it %s does not end the provider", async (_, lie) => {
  const lies = [lie];
  const read: bigint[] = [];
  const heard: string[] = [];
  const provider = await run(await nodeWithQuickBlocks(), {
    heard,
    change: (client) => {
      const block = client.node.block.bind(client.node);
      client.node.block = async (height) => {
        const next = lies.pop();
        if (next !== undefined) throw next;
        const found = await block(height);
        read.push(found.height);
        return found;
      };
    },
  });
  onTestFinished(() => provider.stop());
  await expect.poll(() => read.length).toBeGreaterThan(2);
  expect(heard).toContain(`node does not answer | ${lie.message}`);
});

test("a provider that cannot follow the blocks reports that it ends", async () => {
  const provider = await run(await nodeWithQuickBlocks(), {
    change: (client) => {
      client.node.block = async () => {
        throw clientErrors.pruned("the node's first block is 100, not 7");
      };
    },
  });
  onTestFinished(() => provider.stop());
  expect(await provider.failed).toMatchObject({
    codespace: "daemon",
    message: expect.stringContaining("the node's first block is 100"),
  });
});

test("a gateway on another port than tenants are sent to is reported at start", async () => {
  const heard: string[] = [];
  const gateway = { host: "127.0.0.1", port: await freePort() };
  const provider = await run(await startedNode(), { heard, config: { gateway } });
  onTestFinished(() => provider.stop());
  expect(heard).toEqual([
    [
      "tenants are sent to a port that is not the gateway's",
      "https://localhost:8443",
      `127.0.0.1:${gateway.port}`,
      `forward that port to ${gateway.port}, start with --gateway-listen-address 127.0.0.1:8443, or change host_uri with: svc tx provider update`,
    ].join(" | "),
  ]);
});

test("a provider whose cluster can run nothing says so before it bids", async () => {
  const heard: string[] = [];
  const cluster = new MemoryCluster();
  cluster.obstacle = "network rules cannot be set";
  onTestFinished(() => cluster.destroy());
  const provider = await run(await startedNode(), { heard, config: { driver: cluster.open() } });
  onTestFinished(() => provider.stop());
  expect(heard).toEqual(["this provider does not bid | network rules cannot be set"]);
});

test("a provider that its operator drains says so without an alarm", async () => {
  const heard: string[] = [];
  const stateDir = mkdtempSync(join(tmpdir(), "svc-provider-drain-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  setDraining(stateDir, true);
  const provider = await run(await startedNode(), { heard, config: { stateDir } });
  onTestFinished(() => provider.stop());
  expect(heard).toEqual([]);
});

test("a chain that began again is refused while workloads of the old one run, and taken when none is left", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-provider-chain-"));
  const cluster = new MemoryCluster();
  onTestFinished(async () => {
    await cluster.destroy();
    rmSync(stateDir, { recursive: true });
  });
  const start = async (node: TestNode, heard: string[] = []) =>
    (await run(node, { heard, config: { stateDir, driver: cluster.open() } })).stop();
  const old = await startedNode();
  await start(old);
  const workload = sampleSpec([sampleService("registry.example.com/web:1")]);
  const driver = cluster.open();
  await driver.deploy(workload);
  await expect(start(await startedNode())).rejects.toThrow(
    `test-1 was restarted from genesis; still running here: ${formatLeaseId(workload.id)}: the chain is not the one`,
  );
  await driver.teardown(workload.id);
  const heard: string[] = [];
  await start(await startedNode(), heard);
  expect(heard).toEqual([
    "the chain has changed; no workloads of the former one are left | test-1 was restarted from genesis",
  ]);
  // The damaged note cannot be compared, and is written again.
  writeFileSync(join(stateDir, "chain.json"), "{");
  await start(await startedNode());
  expect(readFileSync(join(stateDir, "chain.json"), "utf8")).toContain('"chainId":"test-1"');
});

test("a provider whose cluster stops answering says that it bids no more, until it answers again", async () => {
  const heard: string[] = [];
  const cluster = new MemoryCluster();
  onTestFinished(() => cluster.destroy());
  const provider = await run(await startedNode(), { heard, config: { driver: cluster.open(), inventoryPollMs: 10 } });
  onTestFinished(() => provider.stop());
  cluster.reachable = false;
  await expect.poll(() => heard.join("\n")).toContain("this provider does not bid | ");
  await expect.poll(() => heard.filter((text) => text.startsWith("inventory not refreshed")).length).toBeGreaterThan(0);
  const said = heard.filter((text) => text.startsWith("this provider does not bid")).length;
  expect(heard.join("\n")).toContain(HOST_REASONS.engineAway.operator);
  cluster.reachable = true;
  expect(said).toBe(1);
});
