import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import type { ApiObject } from "../../../provider/cluster/kubernetes/api/objects.ts";
import { storageCheck } from "../../../provider/cluster/kubernetes/checks.ts";
import { examine, type Finding } from "./finding.ts";

const CLASSES = "/apis/networking.k8s.io/v1/ingressclasses";
const GATEWAYS = "/apis/gateway.networking.k8s.io/v1/namespaces/gateways/gateways";
const DEFAULT = { "ingressclass.kubernetes.io/is-default-class": "true" };

let cluster: KubernetesDouble;
let home: string;

beforeEach(async () => {
  cluster = await KubernetesDouble.start();
  home = mkdtempSync(join(tmpdir(), "svc-parts-"));
  const text = `current-context: one
contexts: [{ name: one, context: { cluster: one } }]
clusters: [{ name: one, cluster: { server: "${cluster.server.address}" } }]
`;
  writeFileSync(join(home, "config"), `apiVersion: v1\n${text}`);
});

afterEach(async () => {
  await cluster.close();
  rmSync(home, { recursive: true, force: true });
});

/** Findings by the name of the check; no node answers. */
async function check(...words: string[]): Promise<Readonly<Record<string, Finding>>> {
  const place = ["--node", "http://127.0.0.1:1", "--home", home, "--clusterconfig", join(home, "config")];
  const { out } = await runCli(["provider", "check", "--from", PROVIDER, "-o", "json", ...place, ...words]);
  const { checks }: { checks: Finding[] } = JSON.parse(out);
  return Object.fromEntries(checks.map((finding) => [finding.check, finding]));
}

function putClass(name: string, annotations: Readonly<Record<string, string>> = {}): void {
  cluster.server.put(CLASSES, { metadata: { name, annotations } });
}

function putGateway(rest: object): void {
  cluster.server.put(GATEWAYS, { metadata: { name: "tenants", namespace: "gateways" }, ...rest } as ApiObject);
}

describe("what serves host names on a cluster", () => {
  it("is its own ingress, so that no port of this machine is looked at", async () => {
    const names = ["ingress port", "ingress TLS port", "host certificates"];
    const tls = ["--ingress-tls-listen-address", "127.0.0.1:0"];
    const shown = Object.keys(await check(...tls));
    expect(names.filter((name) => shown.includes(name))).toEqual([]);
    const own = await check("--cluster-ingress", "provider", "--ingress-listen-address", "127.0.0.1:0", ...tls);
    expect(Object.keys(own)).toEqual(expect.arrayContaining(names));
    expect(Object.keys(own)).not.toContain("ingress class");
  });

  it("is the class that the settings name", async () => {
    putClass("public");
    const words = ["--cluster-ingress-class", "tenants"];
    expect((await check(...words))["ingress class"]).toMatchObject({
      state: "failed",
      detail: expect.stringContaining('no IngressClass "tenants"'),
      fix: "create it (the cluster has public), or change --cluster-ingress-class",
    });
    putClass("tenants");
    expect((await check(...words))["ingress class"]).toMatchObject({ state: "ok", detail: "tenants" });
  });

  it("is the cluster's default class if they name none", async () => {
    expect((await check())["ingress class"]).toMatchObject({
      state: "failed",
      fix: "name one with --cluster-ingress-class (the cluster has none), or mark one as the default",
    });
    putClass("public", DEFAULT);
    expect((await check())["ingress class"]).toMatchObject({ state: "ok", detail: "public, the cluster's default" });
  });

  it("is the gateway that they name, if it takes requests and the routes of leases", async () => {
    const finding = async () => (await check("--cluster-gateway", "gateways/tenants"))["cluster gateway"];
    expect(await finding()).toMatchObject({
      state: "failed",
      detail: expect.stringContaining('no Gateway "gateways/tenants"'),
      fix: "create it, or change --cluster-gateway",
    });
    const spec = { listeners: [{ name: "web" }] };
    putGateway({ spec });
    expect(await finding()).toMatchObject({ detail: expect.stringContaining("no controller has accepted it") });
    const refused = { type: "Programmed", status: "False", message: "the port is taken" };
    putGateway({ spec, status: { conditions: [refused] } });
    expect(await finding()).toMatchObject({ detail: expect.stringContaining("the port is taken") });
    const status = { conditions: [{ type: "Programmed", status: "True" }] };
    putGateway({ spec, status });
    expect(await finding()).toMatchObject({ state: "failed", fix: expect.stringContaining("allowedRoutes") });
    const allowedRoutes = { namespaces: { from: "Selector" } };
    putGateway({ spec: { listeners: [{ name: "web", allowedRoutes }] }, status });
    expect(await finding()).toMatchObject({ state: "ok", detail: "gateways/tenants" });
    expect(Object.keys(await check("--cluster-gateway", "gateways/tenants"))).not.toContain("ingress class");
  });

  it("is unknown while the cluster does not answer", async () => {
    cluster.server.intercept = (request) => {
      request.socket.destroy();
      return true;
    };
    expect((await check())["ingress class"]).toMatchObject({ state: "unknown" });
  });
});

it("looks for the runtime class that the settings name", async () => {
  const finding = async () => (await check("--cluster-runtime-class", "gvisor"))["runtime class"];
  expect(await finding()).toMatchObject({ state: "failed", fix: "create it, or change --cluster-runtime-class" });
  cluster.server.put("/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: "gvisor" } });
  expect(await finding()).toMatchObject({ state: "ok", detail: "gvisor" });
  expect(Object.keys(await check())).not.toContain("runtime class");
});

describe("storage classes", () => {
  const classes = ["beta2", "default"];
  const storage = async () => [{ classes, bytes: 1n }];
  const offer = (number: number, name: string, persistent = "true") => [
    { key: `capabilities/storage/${number}/class`, value: name },
    { key: `capabilities/storage/${number}/persistent`, value: persistent },
  ];
  const look = (attributes: ReturnType<typeof offer>, pools: Parameters<typeof storageCheck>[0] = storage) =>
    examine([storageCheck(pools, { record: async () => ({ attributes }) })]);

  it("are those that the provider offers", async () => {
    expect(await look([...offer(1, "beta2"), ...offer(2, "ram", "false")])).toEqual([
      { check: "storage classes", state: "ok", detail: "beta2, default; offered: beta2" },
    ]);
    expect(await look([...offer(1, "beta2"), ...offer(7, "beta3")])).toMatchObject([
      {
        state: "failed",
        detail: "offered, but missing on the cluster or without svc.capacity: beta3",
        fix: expect.stringContaining("kubectl annotate"),
      },
    ]);
  });

  it("are unknown if the cluster does not list them", async () => {
    const away = () => Promise.reject(new Error("away"));
    expect(await look([], away)).toMatchObject([{ state: "unknown" }]);
  });
});

it("shows who has the addresses of the pool that the settings name", async () => {
  const finding = async (pool: string) => (await check("--cluster-leased-ips", pool))["leased addresses"];
  const service = (name: string, ip: string, labels: Readonly<Record<string, string>> = {}) =>
    cluster.server.put("/api/v1/namespaces/web/services", {
      ...{ metadata: { name, namespace: "web", labels }, spec: { type: "LoadBalancer" } },
      status: { loadBalancer: { ingress: [{ ip }] } },
    } as ApiObject);
  cluster.server.put("/apis/svc.network/v1beta1/namespaces/lease/providerleasedips", {
    metadata: { name: "192.0.2.1", namespace: "lease" },
  });
  service("lease", "192.0.2.1", { "svc.provider": "svc1other" });
  // Another owner's Service that waits for the same address takes nothing away a second time.
  service("late", "192.0.2.1");
  service("shop", "192.0.2.2");
  expect(await finding("192.0.2.1-192.0.2.4")).toMatchObject({
    state: "ok",
    detail: "4 in the pool: 1 leased, 1 of other Services, 2 left",
  });
  expect(await finding("192.0.2.2")).toMatchObject({
    state: "failed",
    detail: "other Services of the cluster have all 1 of the pool",
    fix: expect.stringContaining("--cluster-leased-ips"),
  });
  expect(Object.keys(await check())).not.toContain("leased addresses");
});
