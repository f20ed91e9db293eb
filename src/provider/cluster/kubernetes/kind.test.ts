import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { sampleService, sampleSpec, untilOk } from "../contract/conformance/index.ts";
import { kubernetesCluster } from "./index.ts";

let cluster: KubernetesDouble;
let folder: string;
let config: string;

beforeEach(async () => {
  cluster = await KubernetesDouble.start();
  folder = mkdtempSync(join(tmpdir(), "svc-kubernetes-"));
  config = join(folder, "config");
  const text = `apiVersion: v1
current-context: one
contexts: [{ name: one, context: { cluster: one } }]
clusters: [{ name: one, cluster: { server: "${cluster.server.address}" } }]
`;
  writeFileSync(config, text);
});

afterEach(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a cluster is found by its configuration file, and by the variable that names one", async () => {
  const found = { address: config, kind: "kubernetes", version: "v1.34.0-double" };
  expect(await kubernetesCluster.find(config)).toEqual(found);
  const before = process.env.KUBECONFIG;
  try {
    process.env.KUBECONFIG = config;
    expect(await kubernetesCluster.find()).toEqual(found);
    process.env.KUBECONFIG = join(folder, "none");
    await expect(kubernetesCluster.find()).rejects.toThrow(/no cluster configuration at .*none/);
  } finally {
    if (before === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = before;
  }
});

test("a cluster that does not answer is not found", async () => {
  cluster.server.intercept = (request) => {
    request.socket.destroy();
    return true;
  };
  await expect(kubernetesCluster.find(config)).rejects.toThrow(/does not answer/);
  await expect(kubernetesCluster.find("in-cluster")).rejects.toThrow(/no service account/);
});

test("leases are the provider's, also for commands that do not know its key", async () => {
  const open = (provider?: string) =>
    kubernetesCluster.open({ address: config, stateDir: folder, ...(provider === undefined ? {} : { provider }) });
  await expect(open()).rejects.toThrow(/no provider has run on a cluster/);
  const first = await open("svc1provider");
  const spec = sampleSpec([sampleService("docker.io/library/web:1")]);
  await first.deploy(spec);
  await untilOk(first, spec.id);
  expect(first.routing.ingress === "cluster" && first.routing.url("a.example.com")).toBe("http://a.example.com/");
  await first.close();
  const purging = await open();
  expect(await purging.adopt()).toHaveLength(1);
  await purging.purge();
  await purging.close();
  expect(cluster.server.objects("/api/v1/pods")).toEqual([]);
});

test("host names are served by the ingress that the operator chose", async () => {
  const driver = await kubernetesCluster.open({
    address: config,
    stateDir: folder,
    provider: "svc1provider",
    ingress: { by: "provider" },
  });
  expect(driver.routing.ingress).toBe("provider");
  await driver.close();
});
