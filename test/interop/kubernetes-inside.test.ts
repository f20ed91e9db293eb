import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject, Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import type { DeployResult } from "../../src/tenant/result.ts";
import { testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import {
  Fixture,
  mustSend,
  pause,
  ROOT,
  startNode,
  svcOk,
  type TestNode,
  transfer,
  waitFor,
  webFile,
} from "../support/index.ts";
import { INGRESS_CLASS, startController } from "../support/kubernetes-controller.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { PROVIDER_SPACE, TestRelease } from "../support/kubernetes-release.ts";
import { TestVolumes } from "../support/kubernetes-volumes.ts";
import { writeProviderImage } from "../support/provider-image.ts";
import { relayTo } from "../support/relay.ts";
import { Visitor } from "../support/visitor.ts";
import { nodePrograms } from "./node-programs.ts";
import { buildPeer, Peer } from "./peers.ts";

/** A provider that runs on the cluster whose capacity it offers, from the chart and an image of the package. */

const programs = await nodePrograms();
const peers = await Promise.all([buildPeer("traefik"), buildPeer("gateway-api"), buildPeer("helm")]);
const lacking = peers.flatMap((peer) => (peer instanceof Peer ? [] : [peer.missing]));
const missing = "missing" in programs ? programs.missing : lacking.length > 0 ? lacking.join("; ") : undefined;
const fixture = new Fixture();

const CLAIM: Resource = { apiVersion: "v1", kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims" };
const DOMAIN = "secure.example.com";
const GATEWAY = { host: `provider.${DOMAIN}`, port: 30_443 } as const;
const IMAGE = "localhost/svc";
const PASSPHRASE = "correct horse battery";
const ATTRIBUTES = [
  { key: "capabilities/storage/1/class", value: "default" },
  { key: "capabilities/storage/1/persistent", value: "true" },
];
/** The gap of a visitor: three visitors still ask every few milliseconds. */
const BETWEEN_VISITS_MS = 50;
const BLOCK = ["--fees", "5000utoken", "-b", "block", "-y"];

let bed: TestKubernetesNode;
let api: KubernetesApi;
let volumes: TestVolumes;
let release: TestRelease;
let visitor: Visitor;
let chain: TestNode;
/** Flags and variables of the tenant's commands. */
let tenant: readonly string[];
let env: Readonly<Record<string, string>>;
let page: DeployResult;
let notes: DeployResult;

const faucet = testKey("faucet");

beforeAll(async () => {
  const [controller, definitions, helm] = peers;
  if ("missing" in programs || missing !== undefined || !(helm instanceof Peer)) return;
  const accounts = [{ address: faucet.address, coins: [{ denom: NATIVE_DENOM, amount: 10n ** 15n }] }];
  [chain, bed] = await Promise.all([
    startNode(fixture, { blockIntervalMs: 1_000, accounts }),
    TestKubernetesNode.start(fixture, programs),
  ]);
  api = new KubernetesApi(readKubeconfig(bed.config));
  release = new TestRelease(bed, (words, variables) => helm.ok(words, { env: variables }));
  if (!(controller instanceof Peer && definitions instanceof Peer)) return;
  const authority = await startController(fixture, bed, {
    controller: controller.binary,
    definitions: definitions.binary,
  });
  visitor = new Visitor(bed.address, authority);
  env = visitorsEnv(authority);
  volumes = await TestVolumes.start(fixture, bed, { name: "beta2", bytes: 1n << 40n, offered: "1Gi" });
  await loadProviderImage();
  await svcOk(["provider", "cluster", "install", "--clusterconfig", bed.config]);
  await makePassphrase();
});

afterAll(async () => {
  release?.close();
  api?.close();
  for (const peer of peers) if (peer instanceof Peer) peer.remove();
  await fixture.close();
});

/** One image under two tags: today's, and an upgrade's. */
async function loadProviderImage(): Promise<void> {
  const path = join(fixture.folder, "provider.tar");
  await writeProviderImage(path, `${IMAGE}:first`, fixture.tempHome("image"));
  await bed.loadImage(path);
  await bed.engineTool("images", "tag", `${IMAGE}:first`, `${IMAGE}:second`);
}

async function makePassphrase(): Promise<void> {
  const metadata = { namespace: PROVIDER_SPACE, name: "svc-provider" };
  const secret = { metadata, stringData: { passphrase: `${PASSPHRASE}\n` } };
  await api.apply(KIND.secret, secret);
}

/** Variables of a program that finds all names below the domain at the cluster, as if a name server said so. */
function visitorsEnv(authority: string): Readonly<Record<string, string>> {
  const script = join(fixture.folder, "names.cjs");
  writeFileSync(
    script,
    `const dns = require("node:dns");
const { lookup } = dns;
dns.lookup = (host, ...more) => lookup(host.endsWith(".${DOMAIN}") ? "${bed.address}" : host, ...more);
`,
  );
  const trusted = join(fixture.folder, "trusted.crt");
  writeFileSync(trusted, authority);
  return { NODE_OPTIONS: `--require=${script}`, NODE_EXTRA_CA_CERTS: trusted };
}

async function pay(address: string, amount: bigint): Promise<void> {
  const client = chain.client();
  await mustSend(client, faucet, transfer(faucet.address, address, amount)).finally(() => client.close());
}

const deploy = async (file: string): Promise<DeployResult> =>
  JSON.parse(await svcOk(["deploy", file, "-y", "-o", "json", ...tenant], { env }));
const hostOf = ({ uris }: DeployResult): string => new URL(uris[0] ?? "").hostname;

/** Everything that visitors of a host name see, from now until the function that is returned is called. */
function seenAt(host: string): () => Promise<{ readonly pages: readonly string[]; readonly count: number }> {
  const pages = new Set<string>();
  let [isOver, count] = [false, 0];
  const visit = async (): Promise<void> => {
    while (!isOver) {
      pages.add(await visitor.page(host).catch(String));
      count++;
      await pause(BETWEEN_VISITS_MS);
    }
  };
  const visits = [visit(), visit(), visit()];
  return async () => {
    isOver = true;
    await Promise.all(visits);
    return { pages: [...pages], count };
  };
}

interface Pod extends ApiObject {
  readonly status?: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
}

/** Ids of the tenants' pods, each with how often it was started again. */
async function leasePods(): Promise<string[]> {
  const { objects } = await api.list<Pod>(KIND.pod, { labels: "svc.lease" });
  return objects.map(({ metadata, status }) => `${metadata.uid} ${status?.containerStatuses?.[0]?.restartCount}`);
}

/** The gateway tells the tenant of the lease. */
async function isServed(): Promise<boolean> {
  const text = await svcOk(["deploy", "ps", "-o", "json", ...tenant], { env });
  const { deployments }: { deployments: { dseq: string; uris: string[] }[] } = JSON.parse(text);
  return deployments.some(({ dseq, uris }) => dseq === page.dseq && uris.includes(page.uris[0] ?? ""));
}

const LONG = { timeoutMs: 120_000, pollMs: 500 };
const untilPage = (of: DeployResult, text: string) =>
  waitFor(async () => (await visitor.page(hostOf(of))) === text, `the page ${text}`, LONG);
const untilServed = () => waitFor(isServed, "the gateway to tell of the lease", { ...LONG, pollMs: 2_000 });

test.skipIf(missing !== undefined && process.env.CI !== "true")("the programs are there", () => {
  expect(missing).toBeUndefined();
});

describe.skipIf(missing !== undefined)("a provider inside the cluster", () => {
  test("is set up in a pod that waits, and then runs", async () => {
    const port = await relayTo(fixture, Number(new URL(chain.address).port), bed.room.outside);
    await release.set({
      ...{ "image.repository": IMAGE, "image.tag": "first", setup: "true" },
      ...{ "gateway.type": "NodePort", "gateway.nodePort": String(GATEWAY.port), "home.size": "64Mi" },
      "settings.node": `http://${bed.room.outside}:${port}`,
      "settings.chain-id": chain.chainId,
      "settings.deployment-ingress-domain": DOMAIN,
      "settings.cluster-ingress-class": INGRESS_CLASS,
      "settings.cluster-public-hostname": bed.address,
      // The test's image is the node's own, and runs as root.
      ...{ "settings.cluster-local-images": "true", "settings.cluster-pod-security": "baseline" },
      "settings.cluster-stop-grace": "1s",
      ...{ "settings.cluster-node-port-range": "30100-30199", "settings.bid-price-cpu-scale": "0.01" },
    });
    await release.exec(["svc", "keys", "add", "provider"]);
    await pay((await release.exec(["svc", "keys", "show", "provider", "-a"])).trim(), 10n ** 9n);
    // JSON is YAML too.
    const file = JSON.stringify({ host: `https://${GATEWAY.host}:${GATEWAY.port}`, attributes: ATTRIBUTES });
    await release.exec(["sh", "-c", 'printf %s "$1" > provider.yaml', "sh", file]);
    await release.exec(["svc", "tx", "provider", "create", "provider.yaml", ...BLOCK]);
    await release.exec(["svc", "tx", "cert", "create", "server", GATEWAY.host, ...BLOCK]);
    await release.set({ setup: "false" });
    await waitFor(async () => (await release.log()).includes("provider started"), "the provider to start");
  });

  test("has no more on its node than it needs", async () => {
    const look = async (script: string) => (await release.exec(["sh", "-c", script])).trim();
    expect(await look("tr '\\0' ' ' < /proc/1/cmdline")).toMatch(/svc(\.cjs)? provider run ?$/);
    expect(await look("tr '\\0' '\\n' < /proc/1/environ")).not.toContain(PASSPHRASE);
    expect(await look("id -u; grep -E '^(CapBnd|NoNewPrivs|Seccomp:)' /proc/1/status | tr -s '\\t ' ' '")).toBe(
      "1000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2",
    );
    expect(await look("touch /usr/x 2>&1 || true")).toContain("Read-only file system");
  });

  test("serves a tenant, whose program answers through the cluster's ingress", async () => {
    const keyring = ["--home", fixture.tempHome("tenant"), "--keyring-backend", "test"];
    await svcOk(["keys", "add", "tenant", ...keyring]);
    await pay((await svcOk(["keys", "show", "tenant", "-a", ...keyring])).trim(), 10n ** 9n);
    tenant = [...keyring, "--node", chain.address, "--chain-id", chain.chainId];
    page = await deploy(pageFile("inside"));
    expect(await visitor.page(hostOf(page))).toBe("200 inside");
  });

  test("is upgraded while visitors come: none of them waits in vain, and the lease goes on", async () => {
    const [before, { metadata }] = [await leasePods(), await release.pod()];
    const seen = seenAt(hostOf(page));
    await release.set({ "image.tag": "second", "settings.bid-price-cpu-scale": "0.02" });
    const pod = await release.pod();
    await untilServed();
    const { pages, count } = await seen();
    console.info(`an upgrade: ${count} requests through the cluster's ingress`);
    expect(pages).toEqual(["200 inside"]);
    expect(pod.metadata.uid).not.toBe(metadata.uid);
    expect(pod.spec?.containers[0]?.image).toBe(`${IMAGE}:second`);
    expect(await leasePods()).toEqual(before);
  });

  test("goes on by itself when it is killed, and no visitor sees it", async () => {
    notes = await deploy(diaryFile());
    const before = await leasePods();
    const seen = seenAt(hostOf(page));
    await release.kill();
    await release.pod(({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
    await untilServed();
    expect((await seen()).pages).toEqual(["200 inside"]);
    expect(await leasePods()).toEqual(before);
  });

  test("runs on while its node's agent is killed, and so do its leases", async () => {
    const before = await leasePods();
    await bed.restartAgent();
    await untilServed();
    // Until the new agent has told of every pod, the cluster sends it no requests.
    await untilPage(notes, "200 started with: one");
    await untilPage(page, "200 inside");
    expect(await leasePods()).toEqual(before);
    expect((await release.pod()).status?.containerStatuses?.[0]?.restartCount).toBe(1);
  });

  test("is back after its node was without power, and so are its leases with what they keep", async () => {
    await bed.reboot();
    await untilServed();
    await untilPage(notes, "200 started with: one\nstarted with: one");
    await untilPage(page, "200 inside");
  });

  test("leaves nothing of a lease that ends, and keeps its keys when it is uninstalled", async () => {
    for (const { dseq } of [page, notes]) await svcOk(["deploy", "close", "--dseq", dseq, "-y", ...tenant], { env });
    await waitFor(
      async () => (await api.list(KIND.namespace, { labels: "svc.lease" })).objects.length === 0,
      "it",
      LONG,
    );
    await release.remove();
    expect((await api.list(CLAIM, { namespace: PROVIDER_SPACE })).objects).toHaveLength(1);
    expect(readdirSync(volumes.folder)).toHaveLength(1);
  });
});

function pageFile(text: string): string {
  const path = join(fixture.folder, `${text}.yaml`);
  writeFileSync(path, webFile({ page: text }).replace("localhost/svc-sample:latest", TestKubernetesNode.image));
  return path;
}

/** The example of a volume: a note for each start of its program. */
function diaryFile(): string {
  const path = join(fixture.folder, "diary.yaml");
  const text = readFileSync(join(ROOT, "examples", "persistent.yaml"), "utf8")
    .replace("localhost/svc-sample:latest", TestKubernetesNode.image)
    .replace("MESSAGE=first version", "MESSAGE=one");
  writeFileSync(path, text);
  return path;
}
