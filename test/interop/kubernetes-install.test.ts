import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { CLUSTER_RULES, LEASES_RULES, type Rule } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { kubernetesCluster } from "../../src/provider/cluster/kubernetes/kind.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import { notedSettings, settingReader } from "../../src/util/index.ts";
import { runCli } from "../cli/run.ts";
import { Fixture } from "../support/index.ts";
import { TestKubernetes } from "../support/kubernetes.ts";
import { buildPeer, Peer } from "./peers.ts";

/** `svc provider cluster install` on a real API server, and the rights of its account there. */

const built = await buildPeer("kubernetes");
const peer = built instanceof Peer ? built : undefined;
const fixture = new Fixture();

let bed: TestKubernetes;
let account: KubernetesApi;
let accountConfig: string;

const install = (...more: string[]) =>
  runCli(["provider", "cluster", "install", "--clusterconfig", bed.config, ...more]);

beforeAll(async () => {
  if (peer === undefined) return;
  bed = await TestKubernetes.start(fixture, peer.binary);
});

afterAll(async () => {
  account?.close();
  peer?.remove();
  await fixture.close();
});

test.skipIf(peer === undefined && process.env.CI !== "true")("the server is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

/** Settings of the cluster whose configuration is this file. */
const at = (config: string) => settingReader(notedSettings({ clusterconfig: config }));
const lacks = async (config: string) => kubernetesCluster.installation?.configure(at(config)).lacks();

describe.skipIf(peer === undefined)("an installation", () => {
  test("is missing at first, which a provider says", async () => {
    expect(await lacks(bed.config)).toBe("the cluster does not know manifests.svc.network");
    const cluster = kubernetesCluster.configure(at(bed.config));
    const opening = cluster.open({ address: bed.config, stateDir: fixture.tempHome("p"), provider: "svc1a" });
    await expect(opening).rejects.toMatchObject({ hint: expect.stringContaining("svc provider cluster install") });
  });

  test("changes nothing when it is only printed, and the server takes what is printed", async () => {
    const printed = await runCli(["provider", "cluster", "install", "--dry-run", "-o", "json"]);
    expect(printed.code).toBe(0);
    const { items } = JSON.parse(printed.out);
    expect(items).toHaveLength(12);
    expect(await lacks(bed.config)).toMatch(/does not know/);
  });

  test("is made once, and is as it was the second time", async () => {
    const first = await install("-o", "json");
    expect([first.code, first.err]).toEqual([0, ""]);
    const { objects } = JSON.parse(first.out);
    expect(new Set(objects.map(({ result }: { result: string }) => result))).toEqual(new Set(["created"]));
    const second = await install();
    expect(second.out.trimEnd().split("\n")).toHaveLength(objects.length);
    expect(second.out.split("\n").filter((line) => line !== "" && !line.startsWith("unchanged"))).toEqual([]);
    expect(second.out).toContain("unchanged  Role lease/svc-provider\n");
  });

  test("brings back what somebody changed", async () => {
    const object = { rules: [] };
    const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/svc-provider";
    await bed.call("PATCH", path, { type: "application/merge-patch+json", object });
    expect((await install()).out).toContain("changed    ClusterRole svc-provider\n");
  });

  test("gives its account all that a provider needs, and the account can check it", async () => {
    accountConfig = await bed.configOf("svc-provider", "svc-provider");
    account = new KubernetesApi(readKubeconfig(accountConfig), { pauseMs: 50, maxPauseMs: 200 });
    expect(await lacks(accountConfig)).toBeUndefined();
  });

  test("names the right that is missing where a role was cut", async () => {
    const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/lease/roles/svc-provider";
    const object = { rules: LEASES_RULES.slice(0, 2) };
    await bed.call("PATCH", path, { type: "application/merge-patch+json", object });
    expect(await lacks(accountConfig)).toMatch(
      /^the account may not list providerhosts.svc.network, create providerhosts/,
    );
    await install();
    expect(await lacks(accountConfig)).toBeUndefined();
  });

  test("keeps the namespaces of the provider and of its descriptions free of programs with rights", async () => {
    const pod = (securityContext: object) => ({
      type: "application/json",
      object: {
        metadata: { name: "x" },
        spec: { serviceAccountName: "svc-provider", containers: [{ name: "x", image: "x", securityContext }] },
      },
    });
    const made = await bed.call("POST", "/api/v1/namespaces/svc-provider/pods", pod({}));
    expect([made.status, made.text]).toEqual([403, expect.stringContaining("violates PodSecurity")]);
    const { apiVersion, kind } = KIND.manifest;
    const manifest = { apiVersion, kind, metadata: { name: "x" }, spec: { lease: 1 } };
    const bad = await bed.call("POST", "/apis/svc.network/v1beta1/namespaces/lease/manifests", {
      type: "application/json",
      object: manifest,
    });
    expect([bad.status, bad.text]).toEqual([422, expect.stringContaining("spec.lease")]);
  });

  test.for([
    ["read a secret of others by its name", { apiVersion: "v1", kind: "Secret", plural: "secrets" }, "find"],
    ["read settings of others", { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps" }, "list"],
    ["see service accounts", { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts" }, "list"],
    ["delete a node", KIND.node, "delete"],
    ["delete a secret", KIND.secret, "delete"],
    ["make a pod", KIND.pod, "apply"],
    [
      "give itself rights",
      { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", plural: "clusterroles" },
      "apply",
    ],
    ["make a volume", { apiVersion: "v1", kind: "PersistentVolume", plural: "persistentvolumes" }, "apply"],
    [
      "change what kinds of objects there are",
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", plural: "customresourcedefinitions" },
      "apply",
    ],
    [
      "read definitions of others",
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", plural: "customresourcedefinitions" },
      "find",
    ],
  ] as const)("does not let its account %s", async ([, resource, call]) => {
    await expect(forbidden(resource, call)).rejects.toMatchObject({ status: 403 });
  });

  test("does not let its account write descriptions elsewhere", async () => {
    const object = { metadata: { name: "x", namespace: "default" } };
    await expect(account.apply(KIND.manifest, object)).rejects.toMatchObject({ status: 403 });
  });

  test("gives no right that is wider than its words: no wildcards, and names where names are known", () => {
    const all: readonly Rule[] = [...CLUSTER_RULES, ...LEASES_RULES];
    for (const { apiGroups, resources, verbs } of all) {
      expect([...apiGroups, ...resources, ...verbs]).not.toContain("*");
      expect(verbs).not.toContain("escalate");
    }
  });
});

function forbidden(resource: Resource, call: "find" | "list" | "delete" | "apply"): Promise<unknown> {
  const place = { name: "kubernetes", ...(isOfCluster(resource) ? {} : { namespace: "default" }) };
  if (call === "list") return account.list(resource, { namespace: "kube-system" });
  if (call === "find") return account.find(resource, place);
  if (call === "delete") return account.delete(resource, place);
  return account.apply(resource, { metadata: place });
}

function isOfCluster({ kind }: Resource): boolean {
  return ["Node", "ClusterRole", "PersistentVolume", "CustomResourceDefinition"].includes(kind);
}
