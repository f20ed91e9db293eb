import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject, Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import type { DeployResult } from "../../src/tenant/result.ts";
import { testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import {
  Fixture,
  fetchPage,
  mustSend,
  pause,
  ROOT,
  runSvc,
  startNode,
  svcOk,
  transfer,
  waitFor,
  webFile,
} from "../support/index.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { TestVolumes } from "../support/kubernetes-volumes.ts";
import { startProvider, type TestProvider } from "../support/provider.ts";
import { atNight } from "../support/runs.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The main job on a Kubernetes cluster with a real kubelet, by the commands of operator and tenant. */

const peers = await Promise.all([buildPeer("kubernetes"), buildPeer("kubernetes-node"), buildPeer("containerd")]);
const built = peers.filter((peer) => peer instanceof Peer);
const missing = built.length < peers.length || process.getuid?.() !== 0;
const fixture = new Fixture();
const SPACES: Resource = { apiVersion: "v1", kind: "Namespace", plural: "namespaces" };
const PODS: Resource = { apiVersion: "v1", kind: "Pod", plural: "pods" };
const LEASES = "svc.lease";

let bed: TestKubernetesNode;
let api: KubernetesApi;
let provider: TestProvider;
/** Flags of the tenant's commands. */
let tenant: readonly string[];
let deployed: DeployResult;
let volumes: TestVolumes;

beforeAll(async () => {
  if (missing) return;
  const [server, node, containers] = built.map(({ binary }) => binary) as [string, string, string];
  const faucet = testKey("faucet");
  const accounts = [{ address: faucet.address, coins: [{ denom: NATIVE_DENOM, amount: 10n ** 15n }] }];
  const [chain, cluster] = await Promise.all([
    startNode(fixture, { accounts }),
    TestKubernetesNode.start(fixture, { server, node, containers }),
  ]);
  bed = cluster;
  api = new KubernetesApi(readKubeconfig(bed.config));
  await svcOk(["provider", "cluster", "install", "--clusterconfig", bed.config]);
  // The provider has the rights of the installation, and no others.
  const account = await bed.control.configOf("svc-provider", "svc-provider");
  const flags = [
    // The image of the test runs as root.
    ...["--cluster-pod-security", "baseline"],
    ...["--cluster-orch", "--clusterconfig", account, "--cluster-ingress", "provider"],
    ...["--cluster-public-hostname", bed.address],
  ];
  volumes = await TestVolumes.start(fixture, bed, { name: "beta2", bytes: 1n << 30n, offered: "1Gi" });
  const attributes = {
    "capabilities/storage/1/class": "default",
    "capabilities/storage/1/persistent": "true",
  };
  provider = await startProvider(fixture, { name: "provider", node: chain, faucet, flags, attributes });
  const keyring = ["--home", fixture.tempHome("tenant"), "--keyring-backend", "test"];
  await svcOk(["keys", "add", "tenant", ...keyring]);
  const address = (await svcOk(["keys", "show", "tenant", "-a", ...keyring])).trim();
  tenant = [...keyring, "--node", chain.address, "--chain-id", chain.chainId];
  const client = chain.client();
  await mustSend(client, faucet, transfer(faucet.address, address, 10n ** 9n)).finally(() => client.close());
});

afterAll(async () => {
  api?.close();
  for (const peer of built) peer.remove();
  await fixture.close();
});

test.skipIf(missing && process.env.CI !== "true")("the programs are there", () => {
  expect(peers.map((peer) => (peer instanceof Peer ? "" : peer.missing))).toEqual(["", "", ""]);
});

test.skipIf(missing)("a tenant's file becomes a pod that answers", async () => {
  deployed = JSON.parse(await svcOk(["deploy", fileOf("first"), "-y", "-o", "json", ...tenant]));
  expect(deployed.leases.map((lease) => lease.provider)).toEqual([provider.address]);
  expect(deployed.services).toMatchObject([{ name: "web", available: 1, total: 1 }]);
  expect(await fetchPage(deployed.uris[0] ?? "")).toBe("200 first\n");
  const [port] = deployed.ports;
  expect(port?.host).toBe(bed.address);
  await waitFor(
    async () => (await fetchPage(`http://${port?.host}:${port?.port}/`)) === "200 first\n",
    "the node port",
  );
  expect(await pods()).toHaveLength(1);
});

test.skipIf(missing)("its log and a command inside", async () => {
  const here = ["--dseq", deployed.dseq, ...tenant];
  expect(await svcOk(["deploy", "logs", "web", ...here])).toContain("serving first");
  const inside = ["sh", "-c", "cat /tmp/www/index.html; cat; exit 7"];
  const ran = await runSvc(["deploy", "shell", "web", "--stdin", ...here, "--", ...inside], { input: "and more" });
  expect(ran).toMatchObject({ code: 7, stdout: "first\nand more" });
});

test.skipIf(missing)("goes on as it is when the provider is killed and started again", async () => {
  const before = await pods();
  await provider.process.kill();
  expect(await fetchPage(deployed.uris[0] ?? "")).toBe("200 first\n");
  await provider.start();
  const { deployments } = JSON.parse(await svcOk(["deploy", "ps", "-o", "json", ...tenant]));
  expect(deployments).toMatchObject([{ dseq: deployed.dseq, uris: expect.arrayContaining([...deployed.uris]) }]);
  expect(await pods()).toEqual(before);
});

test.skipIf(missing)("an update keeps the old version until the new one answers", async () => {
  const [uri = ""] = deployed.uris;
  const pages = new Set<string>();
  let isUpdated = false;
  const watching = (async () => {
    while (!isUpdated) {
      pages.add(await fetchPage(uri));
      await pause(20);
    }
  })();
  await svcOk(["deploy", "update", fileOf("second"), "-y", "-o", "json", ...tenant]).finally(() => (isUpdated = true));
  await watching;
  await waitFor(async () => (await fetchPage(uri)) === "200 second\n", "the second page");
  expect([...pages].filter((page) => page !== "200 first\n" && page !== "200 second\n")).toEqual([]);
});

test.skipIf(missing)("nothing of it is left on the cluster when it is closed", async () => {
  await svcOk(["deploy", "close", "--dseq", deployed.dseq, "-y", ...tenant]);
  await waitFor(
    async () => (await api.list(SPACES, { labels: LEASES })).objects.length === 0,
    "the namespace to be gone",
  );
});

atNight(() =>
  test.skipIf(missing)(
    "a volume outlives a killed provider and an update, does not grow, and goes with its lease",
    async () => {
      deployed = JSON.parse(await svcOk(["deploy", diary({ message: "one" }), "-y", "-o", "json", ...tenant]));
      const [uri = ""] = deployed.uris;
      const page = async (text: string) => (await fetchPage(uri)) === `200 ${text}`;
      expect(await page("started with: one\n")).toBe(true);
      await provider.process.kill();
      await provider.start();
      await svcOk(["deploy", "update", diary({ message: "two" }), "-y", "-o", "json", ...tenant]);
      const both = "started with: one\nstarted with: two\n";
      await waitFor(() => page(both), "what was there before the update");
      const grown = await runSvc(["deploy", "update", diary({ message: "three", size: "128Mi" }), "-y", ...tenant]);
      expect(grown.code).not.toBe(0);
      expect(grown.stderr).toMatch(
        /data was 64Mi .* and is 128Mi .*: groups cannot be changed\nHint: .* make a new deployment/,
      );
      expect(await page(both)).toBe(true);
      expect(readdirSync(volumes.folder)).toHaveLength(1);
      await svcOk(["deploy", "close", "--dseq", deployed.dseq, "-y", ...tenant]);
      await waitFor(() => readdirSync(volumes.folder).length === 0, "the data to be gone");
    },
  ),
);

test.skipIf(missing)("a volume larger than its class has is not bid on, and the tenant reads it", async () => {
  const large = diary({ message: "one", size: "2Gi" });
  const { code, stderr } = await runSvc(["deploy", large, "-y", "--timeout", "10s", ...tenant]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(
    /insufficient capacity: 2Gi of storage class default wanted per replica, at most \d+[MG]i left/,
  );
});

/** The example of a volume, with a message that it notes there at each start. */
function diary({ message, size = "64Mi" }: { readonly message: string; readonly size?: string }): string {
  const path = join(fixture.folder, "diary.yaml");
  const text = readFileSync(join(ROOT, "examples", "persistent.yaml"), "utf8")
    .replace("localhost/svc-sample:latest", TestKubernetesNode.image)
    .replace("exec httpd -f -p 80 -h /data", "httpd -p 80 -h /data && trap exit TERM && while :; do sleep 1; done")
    .replace("MESSAGE=first version", `MESSAGE=${message}`)
    .replace(/(name: data\n +size: )64Mi/, `$1${size}`);
  writeFileSync(path, text);
  return path;
}

/** A web service on a host name and on a node port. */
function fileOf(page: string): string {
  const path = join(fixture.folder, "app.yaml");
  const text = webFile({ page })
    .replace("localhost/svc-sample:latest", TestKubernetesNode.image)
    // It stops when it is asked to: the first process of a container ignores signals that it does not handle.
    .replace(/exec httpd -f(.*)/, `httpd$1 && echo serving ${page} && trap exit TERM && while :; do sleep 1; done`)
    .replace("expose:\n", "expose:\n      - port: 80\n        as: 8080\n        to:\n          - global: true\n");
  writeFileSync(path, text);
  return path;
}

/** Ids of the tenants' pods, each with how often it was restarted. */
async function pods(): Promise<string[]> {
  interface Pod extends ApiObject {
    readonly status?: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
  }
  const { objects } = await api.list<Pod>(PODS, { labels: LEASES });
  return objects.map(({ metadata, status }) => `${metadata.uid} ${status?.containerStatuses?.[0]?.restartCount}`);
}
