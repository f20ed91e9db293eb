import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sampleExpose, sampleService, sampleSpec, untilOk } from "../../../../test/support/conformance/index.ts";
import { waitFor } from "../../../../test/support/index.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { notedSettings, settingReader } from "../../../util/index.ts";
import type { ApiObject } from "./api/objects.ts";
import { kubernetesCluster } from "./index.ts";
import { CLUSTER_RULES, DEFINED, LEASES_RULES } from "./install/index.ts";

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

/** A cluster whose settings are these, by their flags. */
const configured = (texts: Readonly<Record<string, string>> = {}) =>
  kubernetesCluster.configure(settingReader(notedSettings({ clusterconfig: config, ...texts })));
const unnamed = () => kubernetesCluster.configure(settingReader(notedSettings({})));
const installationAt = () => {
  const installation = kubernetesCluster.installation?.configure(
    settingReader(notedSettings({ clusterconfig: config })),
  );
  if (installation === undefined) throw new Error("clusters of this kind are prepared");
  return installation;
};

test("a cluster is found by its configuration file, and by the variable that names one", async () => {
  const found = { address: config, kind: "kubernetes", version: "v1.34.0-double" };
  expect(await configured().find()).toEqual(found);
  const before = process.env.KUBECONFIG;
  try {
    process.env.KUBECONFIG = config;
    expect(await unnamed().find()).toEqual(found);
    process.env.KUBECONFIG = join(folder, "none");
    await expect(unnamed().find()).rejects.toThrow(/no cluster configuration at .*none/);
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
  await expect(configured().find()).rejects.toThrow(/does not answer/);
  const opening = configured().open({ address: "in-cluster", stateDir: folder, provider: "svc1provider" });
  await expect(opening).rejects.toThrow(/no service account/);
});

test("a cluster is prepared first, once, and a provider says what is missing", async () => {
  const installation = installationAt();
  const open = () => configured().open({ address: config, stateDir: folder, provider: "svc1provider" });
  const first = installation.install();
  await establish();
  const made = (await first).map(({ kind, name, result }) => `${result} ${kind} ${name}`);
  expect(made).toContain("created CustomResourceDefinition manifests.svc.network");
  expect(made).toContain("created ClusterRole svc-provider");
  expect(await installation.lacks()).toBeUndefined();

  // Each thing that is missing is named, and no provider starts.
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const definition = cluster.server.find(`${definitions}/providerhosts.svc.network`) as ApiObject;
  const lacking = async (sentence: RegExp) => {
    expect(await installation.lacks()).toMatch(sentence);
    const hint = expect.stringContaining("svc provider cluster install");
    await expect(open()).rejects.toMatchObject({ message: expect.stringMatching(sentence), hint });
  };
  cluster.server.put(definitions, { ...definition, metadata: { ...definition.metadata, annotations: {} } });
  await lacking(/providerhosts.svc.network was installed by another release/);
  cluster.server.remove(definitions, "providerhosts.svc.network");
  await lacking(/does not know providerhosts.svc.network/);
  cluster.server.put(definitions, definition);
  cluster.server.remove("/api/v1/namespaces", "lease");
  await lacking(/no namespace "lease"/);
  cluster.server.put("/api/v1/namespaces", { metadata: { name: "lease" } });
  cluster.server.rules = CLUSTER_RULES.filter(({ resources }) => !resources.includes("ingresses"));
  await lacking(/may not list networkpolicies.networking.k8s.io, create networkpolicies.* and 19 more/);
  cluster.server.rules = [...CLUSTER_RULES, ...LEASES_RULES];
  expect(await installation.lacks()).toBeUndefined();
  await (await open()).close();
});

/** Servers serve new definitions after a moment. */
async function establish(): Promise<void> {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const status = { conditions: [{ type: "Established", status: "True" }] };
  for (const name of DEFINED) {
    await waitFor(() => cluster.server.find(`${definitions}/${name}`) !== undefined, "the definition");
    const object = cluster.server.find(`${definitions}/${name}`) as ApiObject;
    cluster.server.put(definitions, { ...object, status } as ApiObject);
  }
}

async function install(): Promise<void> {
  const done = installationAt().install();
  await establish();
  await done;
}

test("leases are the provider's, also for commands that do not know its key", async () => {
  const open = (provider?: string) =>
    configured().open({ address: config, stateDir: folder, ...(provider === undefined ? {} : { provider }) });
  await expect(open()).rejects.toThrow(/no provider has run on a cluster/);
  await install();
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

test("host names have the scheme with which the operator says that they are reached", async () => {
  await install();
  const settings = { address: config, stateDir: folder, provider: "svc1provider" };
  const driver = await configured({ "cluster-ingress-scheme": "https" }).open(settings);
  const { routing } = driver;
  if (routing.ingress !== "cluster") throw new Error("the ingress is not the cluster's");
  expect(routing.url("a.example.com")).toBe("https://a.example.com/");
  const spec = sampleSpec([sampleService("docker.io/library/web:1")]);
  await driver.deploy(spec);
  const target = { lease: spec.id, service: "web", port: 80, options: sampleExpose().httpOptions };
  await routing.route(spec.id, [{ target, hosts: ["a.example.com"] }]);
  const path = cluster.server.paths().find((each) => each.endsWith("/ingresses/a.example.com"));
  expect(cluster.server.find(path ?? "")).toMatchObject({ spec: { tls: [{ hosts: ["a.example.com"] }] } });
  await driver.close();
});

test("host names are served by the ingress that the operator chose", async () => {
  await install();
  const settings = { address: config, stateDir: folder, provider: "svc1provider" };
  const driver = await configured({ "cluster-ingress": "provider" }).open(settings);
  expect(driver.routing.ingress).toBe("provider");
  await driver.close();
});

test("replicas go on for a while where the cluster's ingress leads to them, on releases that can do that", async () => {
  await install();
  const lifecycleOn = async (version: string, by: "cluster" | "provider") => {
    cluster.server.intercept = (_, response, url) => {
      if (url.pathname !== "/version") return false;
      response.end(JSON.stringify({ gitVersion: version }));
      return true;
    };
    const settings = { address: config, stateDir: folder, provider: "svc1provider" };
    const driver = await configured({ "cluster-ingress": by }).open(settings);
    const spec = sampleSpec([sampleService("docker.io/library/web:1")]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    const [pod] = cluster.server.objects("/api/v1/pods").map((each) => Object(each).spec.containers[0].lifecycle);
    await driver.purge();
    await driver.close();
    return pod;
  };
  const linger = { preStop: { sleep: { seconds: 5 } } };
  for (const version of ["v1.30.0", "v1.34.4+k3s1", "1.100.0"])
    expect(await lifecycleOn(version, "cluster")).toEqual(linger);
  for (const version of ["v1.29.9", "v1.3.0", "other"]) expect(await lifecycleOn(version, "cluster")).toBeUndefined();
  expect(await lifecycleOn("v1.34.4", "provider")).toBeUndefined();
});

test("no deployment is taken while the cluster lacks the ingress class that the settings name", async () => {
  await install();
  const settings = { address: config, stateDir: folder, provider: "svc1provider" };
  const driver = await configured({ "cluster-ingress-class": "tenants" }).open(settings);
  expect((await driver.obstacle())?.text).toContain('no IngressClass "tenants"');
  expect((await driver.obstacle())?.text).toContain("or change --cluster-ingress-class");
  cluster.server.put("/apis/networking.k8s.io/v1/ingressclasses", { metadata: { name: "tenants" } });
  expect(await driver.obstacle()).toBeUndefined();
  await driver.close();
});
