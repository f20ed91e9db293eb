import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { stringify } from "yaml";
import { sampleExpose, sampleService, sampleSpec } from "../../../../../test/support/conformance/index.ts";
import { hostileNames, SETTINGS, shop } from "../../../../../test/support/kubernetes-leases.ts";
import type { ManifestService } from "../../../../sdl/index.ts";
import type { Holding } from "../../shared/index.ts";
import {
  addressName,
  ingressObjects,
  leasedIpName,
  leasedIpObject,
  leaseObjects,
  namespaceObject,
  nodePortsName,
  routeObjects,
  volumeName,
  workloadName,
} from "./index.ts";
import type { Wanted } from "./kinds.ts";
import { labelValue } from "./names.ts";
import { podConfig } from "./pod/pod.ts";
import { requestsOf } from "./pod/resources.ts";

const RUN = { restarts: {}, suspended: false };
const IMAGE = "docker.io/library/nginx:1.27";
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

function yamlOf(objects: readonly Wanted[]): string {
  return objects
    .map(({ resource: { apiVersion, kind }, object }) => stringify({ apiVersion, kind, ...object }, { lineWidth: 0 }))
    .join("---\n");
}

describe("the objects of a lease", () => {
  it("are those of the golden file", async () => {
    const spec = shop();
    const objects = [namespaceObject(spec, SETTINGS), ...leaseObjects(spec, SETTINGS, RUN)];
    await expect(yamlOf(objects)).toMatchFileSnapshot(
      join(import.meta.dirname, "../../../../../test/vectors/kubernetes-shop.yaml"),
    );
  });

  it("reach several HTTP ports of a service, which host names tell apart, each under a number of its own", () => {
    const expose = [3000, 4000].map((port) => sampleExpose({ port, externalPort: 80, hosts: [`a${port}.example`] }));
    const { group, ...rest } = sampleSpec([sampleService(IMAGE, { expose })], { id: shop().id });
    const service = leaseObjects({ group, ...rest }, SETTINGS, RUN).find(({ resource }) => resource.kind === "Service");
    const port = (number: number, targetPort: number) => ({
      name: `tcp-${number}`,
      port: number,
      targetPort,
      protocol: "TCP",
    });
    expect(service?.object).toMatchObject({ spec: { ports: [port(80, 3000), port(4000, 4000)] } });
  });

  it("are made anew as they were", () => {
    expect(leaseObjects(shop(), SETTINGS, RUN)).toEqual(leaseObjects(shop(), SETTINGS, RUN));
  });

  it("have names and labels that clusters take, however long and alike those of the tenant are", () => {
    const objects = leaseObjects(hostileNames(), SETTINGS, RUN);
    const names = objects.map(({ resource: { kind }, object: { metadata } }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { resource, object } of objects) {
      const { name, labels } = object.metadata;
      expect(name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
      if (["Deployment", "StatefulSet"].includes(resource.kind)) expect(name.length).toBeLessThanOrEqual(52);
      for (const value of Object.values(labels ?? {})) expect(value).toMatch(LABEL_VALUE);
    }
    const { labels } = namespaceObject(hostileNames(), SETTINGS).object.metadata;
    for (const value of Object.values(labels ?? {})) expect(value).toMatch(LABEL_VALUE);
  });

  it("have volumes under names of their own", () => {
    const names = ["V.1", "v-1", "v_1", "v.1", "x".repeat(40), "x".repeat(41), `${"x".repeat(40)}y`].map(volumeName);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  });

  it.each([50, 51, 63])("have workloads of a service with a name of %i characters", (length) => {
    const name = "a".repeat(length);
    expect(workloadName(name) === name).toBe(length <= 50);
    expect(workloadName(name).length).toBeLessThanOrEqual(50);
    expect(nodePortsName(name).length).toBeLessThanOrEqual(63);
    expect(nodePortsName(name)).not.toBe(nodePortsName(`${name.slice(1)}b`));
  });

  it.each([63, 64])("have labels for an address of %i characters", (length) => {
    const text = "a".repeat(length);
    expect(labelValue(text) === text).toBe(length <= 63);
    expect(labelValue(text)).toMatch(LABEL_VALUE);
    expect(labelValue("svc 1")).toMatch(LABEL_VALUE);
  });
});

describe("leased addresses", () => {
  const sister = { ...shop().id, gseq: 2 };
  const held = (address: string): Holding[] => [{ endpoint: "my_game", address, leases: [shop().id, sister] }];
  const expose = [
    sampleExpose({ ip: "my_game", endpointSequenceNumber: 1 }),
    sampleExpose({ ip: "my_game", endpointSequenceNumber: 1, port: 5000, externalPort: 53, proto: "UDP" as const }),
    sampleExpose({ ip: "other", endpointSequenceNumber: 2 }),
  ];
  const spec = sampleSpec([sampleService(IMAGE, { expose })], { id: shop().id });
  const services = (address: string) =>
    leaseObjects(spec, SETTINGS, { ...RUN, held: held(address) }).filter(
      ({ object }) => Object(object).spec?.type === "LoadBalancer",
    );

  it("are asked for by name, shared by the lease's services alone, and open no port of a node", () => {
    const [service, ...more] = services("203.0.113.7");
    expect(more).toEqual([]);
    expect(service?.object).toMatchObject({
      metadata: {
        name: leasedIpName("web", "my_game"),
        labels: { "svc.address": "203.0.113.7", "svc.service": "web" },
        annotations: {
          "metallb.io/loadBalancerIPs": "203.0.113.7",
          "metallb.io/allow-shared-ip": `${spec.id.owner}-ip-my_game`,
        },
      },
      spec: {
        allocateLoadBalancerNodePorts: false,
        ipFamilies: ["IPv4"],
        ports: [
          { name: "tcp-80", port: 80, targetPort: 80, protocol: "TCP" },
          { name: "udp-53", port: 53, targetPort: 5000, protocol: "UDP" },
        ],
      },
    });
  });

  it("of the sixth version have names of objects and labels, too", () => {
    const [service] = services("2001:db8::");
    expect(service?.object).toMatchObject({ spec: { ipFamilies: ["IPv6"] } });
    for (const address of ["2001:db8::", "::1", "2001:db8::1:0", "203.0.113.7"]) {
      expect(addressName(address)).toMatch(LABEL_VALUE);
      expect(addressName(address)).toMatch(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/);
    }
    expect(new Set(["2001:db8::", "2001:db8::0:1", "::1", "1::"].map(addressName)).size).toBe(4);
  });

  it("are within the quota of the lease, and their ports are open to everybody", () => {
    const objects = leaseObjects(spec, SETTINGS, RUN);
    expect(bodyOf(objects, "ResourceQuota").spec.hard).toMatchObject({ "services.loadbalancers": "2" });
    const open = objects.find(({ object }) => object.metadata.name === nodePortsName("web"));
    expect(Object(open?.object).spec.ingress).toEqual([
      {
        ports: [
          { protocol: "TCP", port: 80 },
          { protocol: "UDP", port: 5000 },
        ],
      },
    ]);
  });

  it("have records whose name is the address", () => {
    const [holding] = held("203.0.113.7");
    if (holding === undefined) throw new Error("an address expected");
    expect(leasedIpObject(holding, "2026-01-01T00:00:00Z", SETTINGS).object).toMatchObject({
      metadata: { name: "203.0.113.7", namespace: "lease", finalizers: ["svc.network/address"] },
      spec: {
        address: "203.0.113.7",
        endpoint: "my_game",
        owner: spec.id.owner,
        gseq: 1,
        groups: [
          { gseq: 1, oseq: 1 },
          { gseq: 2, oseq: 1 },
        ],
        since: "2026-01-01T00:00:00Z",
      },
    });
  });
});

describe("what a pod is made from", () => {
  const spec = (over: Partial<ManifestService> = {}) => sampleSpec([sampleService(IMAGE, over)], { id: shop().id });
  const config = (over: Partial<ManifestService>, settings = SETTINGS) => {
    const { group, ...rest } = spec(over);
    return podConfig({ group, ...rest }, group.services[0] as ManifestService, settings);
  };

  it("is the same for another version of the manifest, number of replicas and number of restarts", () => {
    expect(config({})).toBe(config({ count: 7 }));
    const template = (restarts: number) =>
      bodyOf(leaseObjects(spec(), SETTINGS, { restarts: { web: restarts }, suspended: false }), "Deployment").spec
        .template;
    expect(template(0).metadata.labels).toEqual(template(2).metadata.labels);
    expect(template(2).metadata.annotations).toEqual({ "svc.restarts": "2" });
  });

  it.each<readonly [string, Partial<ManifestService>]>([
    ["image", { image: "docker.io/library/nginx:1.28" }],
    ["args", { args: ["-v"] }],
    ["env", { env: ["A=1"] }],
    ["memory", { resources: { ...sampleService(IMAGE).resources, memory: { size: { val: "99999999" } } } }],
  ])("is another with another %s", (_what, over) => {
    expect(config(over)).not.toBe(config({}));
  });

  it("has images of the nodes only where the operator allows them", () => {
    const policy = (image: string, allowLocalImages: boolean) =>
      containerOf(leaseObjects(spec({ image }), { ...SETTINGS, allowLocalImages }, RUN)).imagePullPolicy;
    expect(policy("localhost/x:1", true)).toBe("Never");
    expect(policy("localhost/x:1", false)).toBe("Always");
    expect(policy("x:1", true)).toBe("Always");
  });

  it("has no probe where a program has no port or several", () => {
    const probe = (...ports: number[]) =>
      containerOf(leaseObjects(spec({ expose: ports.map((port) => sampleExpose({ port })) }), SETTINGS, RUN))
        .readinessProbe;
    expect(probe()).toBeUndefined();
    expect(probe(80)).toMatchObject({ tcpSocket: { port: 80 } });
    expect(probe(80, 81)).toBeUndefined();
  });

  it("keeps less for it than it may have where the operator overcommits, rounded up", () => {
    const service = sampleService(IMAGE);
    expect(requestsOf(service, { cpu: 50, memory: 100, storage: 12.5 })).toEqual({
      cpu: "67m",
      memory: String(32 << 20),
      "ephemeral-storage": String(Math.ceil(((64 << 20) * 1000) / 1125)),
    });
  });

  it("goes on for a while when it is to end, where the cluster's ingress may still send requests to it", () => {
    const settings = { ...SETTINGS, stopGraceMs: 30_000, lingerMs: 4_500 };
    const podOf = (over: Partial<ManifestService>, kind = "Deployment") =>
      bodyOf(leaseObjects(spec(over), settings, RUN), kind).spec.template.spec;
    const web = podOf({ expose: [sampleExpose()] });
    expect(web.containers[0].lifecycle).toEqual({ preStop: { sleep: { seconds: 5 } } });
    expect(web.terminationGracePeriodSeconds).toBe(35);
    const db = podOf({ expose: [sampleExpose({ externalPort: 5432 })] });
    expect(db.containers[0].lifecycle).toBeUndefined();
    expect(db.terminationGracePeriodSeconds).toBe(30);
    const attributes = [{ key: "persistent", value: "true" }];
    const storage = [{ name: "data", size: { val: String(1 << 30) }, attributes }];
    const params = { storage: [{ name: "data", mount: "/data", readOnly: false }] };
    const resources = { ...sampleService(IMAGE).resources, storage };
    const kept = podOf({ expose: [sampleExpose()], resources, params }, "StatefulSet");
    expect(kept.containers[0].lifecycle).toBeUndefined();
  });

  it("takes any graphics processor of the vendor, or only those of some models", () => {
    const gpu = (...keys: string[]) => ({
      resources: {
        ...sampleService(IMAGE).resources,
        gpu: { units: { val: "1" }, attributes: keys.map((key) => ({ key, value: "true" })) },
      },
    });
    const podOf = (over: Partial<ManifestService>) =>
      bodyOf(leaseObjects(spec(over), SETTINGS, RUN), "Deployment").spec.template.spec;
    const any = podOf(gpu("vendor/nvidia/model/*"));
    expect(any.containers[0].resources.limits["nvidia.com/gpu"]).toBe("1");
    expect(any.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms).toEqual([
      { matchExpressions: [{ key: "svc.gpu/vendor", operator: "In", values: ["nvidia"] }] },
    ]);
    const some = podOf(gpu("vendor/nvidia/model/a100/interface/sxm", "vendor/nvidia/model/t4"));
    expect(some.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms).toHaveLength(2);
  });
});

describe("where requests go", () => {
  it("has one object for each host name, with the wishes of the tenant in whole seconds", () => {
    const target = {
      lease: shop().id,
      service: "web",
      port: 80,
      options: {
        maxBodySize: 5,
        readTimeout: 1_001,
        sendTimeout: 1_000,
        nextTries: 2,
        nextTimeout: 0,
        nextCases: ["error", "502", "off"],
      },
    };
    const route = { target, hosts: ["a.example.com", "b.example.com"] };
    const objects = ingressObjects(shop().id, route, 80, { ...SETTINGS, ingressClass: "tenants" });
    expect(objects.map(({ object }) => object.metadata.name)).toEqual(["a.example.com", "b.example.com"]);
    expect(objects[0]?.object.metadata.annotations).toEqual({
      "nginx.ingress.kubernetes.io/proxy-request-buffering": "on",
      "nginx.ingress.kubernetes.io/proxy-body-size": "5",
      "nginx.ingress.kubernetes.io/proxy-read-timeout": "2",
      "nginx.ingress.kubernetes.io/proxy-send-timeout": "1",
      "nginx.ingress.kubernetes.io/proxy-next-upstream-tries": "2",
      "nginx.ingress.kubernetes.io/proxy-next-upstream-timeout": "0",
      "nginx.ingress.kubernetes.io/proxy-next-upstream": "error http_502 off",
    });
    expect(objects[0]?.object).toMatchObject({ spec: { ingressClassName: "tenants" } });
  });
});

describe("over TLS", () => {
  const target = { lease: shop().id, service: "web", port: 80, options: sampleExpose().httpOptions };
  const tlsOf = (ingressTls: typeof SETTINGS.ingressTls, ...hosts: string[]) =>
    ingressObjects(shop().id, { target, hosts }, 80, { ...SETTINGS, ingressTls }).map(({ object }) => ({
      tls: Object(object).spec.tls,
      issuer: object.metadata.annotations?.["cert-manager.io/cluster-issuer"],
    }));

  it("a host name has the controller's own certificate, or one of its own", () => {
    expect(tlsOf(undefined, "a.example.com")).toEqual([{}]);
    expect(tlsOf({ issuer: undefined }, "a.example.com")).toEqual([{ tls: [{ hosts: ["a.example.com"] }] }]);
    expect(tlsOf({ issuer: "public" }, "a.example.com")).toEqual([
      {
        tls: [{ hosts: ["a.example.com"], secretName: expect.stringMatching(/^a-example-com-.*-tls$/) }],
        issuer: "public",
      },
    ]);
  });

  it("no two host names have one secret, however long and alike they are", () => {
    const long = `${"a".repeat(63)}.${"b".repeat(63)}.example.`;
    const names = tlsOf({ issuer: "public" }, "a.b-c.com", "a-b.c.com", `${long}com`, `${long}org`).map(
      ({ tls }) => tls[0].secretName,
    );
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[a-z0-9][-a-z0-9]{0,61}[a-z0-9]$/);
  });
});

describe("on a cluster that routes by gateways", () => {
  it("has an HTTPRoute for each host name, with the wishes of the tenant", () => {
    const options = { maxBodySize: 5, readTimeout: 1_001, sendTimeout: 1_000, nextTries: 2, nextTimeout: 0 };
    const target = { lease: shop().id, service: "web", port: 80, options };
    const gateway = { namespace: "gateways", name: "tenants" };
    const route = { target, hosts: ["a.example.com", "b.example.com"] };
    const [first, second, ...more] = routeObjects(shop().id, route, 8080, { ...SETTINGS, gateway });
    expect(more).toEqual([]);
    expect(second?.object.metadata.name).toBe("b.example.com");
    expect(first).toMatchObject({
      resource: { kind: "HTTPRoute" },
      object: {
        metadata: { name: "a.example.com", annotations: { "http.svc.network/proxy-read-timeout": "2" } },
        spec: {
          parentRefs: [gateway],
          hostnames: ["a.example.com"],
          rules: [{ backendRefs: [{ name: "web", port: 8080 }] }],
        },
      },
    });
    expect(JSON.stringify(first)).not.toContain("timeouts");
  });

  it("turns limits on whole answers off where the gateway follows them, and sets none", () => {
    const options = { maxBodySize: 5, readTimeout: 1_001, sendTimeout: 1_000, nextTries: 2, nextTimeout: 0 };
    const target = { lease: shop().id, service: "web", port: 80, options };
    const settings = { ...SETTINGS, gateway: { namespace: "gateways", name: "tenants" }, endless: true };
    const [route] = routeObjects(shop().id, { target, hosts: ["a.example.com"] }, 8080, settings);
    expect(route?.object).toMatchObject({ spec: { rules: [{ timeouts: { request: "0s" } }] } });
    expect(Object(route?.object).spec.rules[0].timeouts).toEqual({ request: "0s" });
  });
});

test("a service whose replicas keep data has no second replica beside an old one", () => {
  const objects = leaseObjects(shop(), SETTINGS, { restarts: {}, suspended: true });
  expect(bodyOf(objects, "StatefulSet").spec).toMatchObject({ replicas: 0, podManagementPolicy: "Parallel" });
  expect(bodyOf(objects, "Deployment").spec).toMatchObject({
    replicas: 0,
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  });
});

test("claims, which a cluster does not change, follow from what was ordered and not from what an update mounts", () => {
  const kept = (name: string) => ({ name, size: { val: "1" }, attributes: [{ key: "persistent", value: "true" }] });
  const claims = (names: string[], mounted: string[]) => {
    const { resources } = sampleService(IMAGE);
    const over = {
      resources: { ...resources, storage: [...resources.storage, ...names.map(kept)] },
      params: { storage: mounted.map((name) => ({ name, mount: `/${name}`, readOnly: false })) },
    };
    const spec = sampleSpec([sampleService(IMAGE, over)], { id: shop().id });
    return bodyOf(leaseObjects(spec, SETTINGS, RUN), "StatefulSet").spec.volumeClaimTemplates;
  };
  expect(claims(["b", "a"], ["a"])).toEqual(claims(["a", "b"], ["b", "a"]));
  expect(claims(["a", "b"], [])).toHaveLength(2);
});

/** The object of the kind as the API has it. */
function bodyOf(objects: readonly Wanted[], kind: string) {
  const found = objects.find(({ resource }) => resource.kind === kind)?.object;
  return JSON.parse(JSON.stringify(found));
}

function containerOf(objects: readonly Wanted[]) {
  return bodyOf(objects, "Deployment").spec.template.spec.containers[0];
}
