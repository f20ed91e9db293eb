import type { LeaseSpec } from "../../src/provider/cluster/contract/index.ts";
import type { ObjectSettings } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import type { ManifestService } from "../../src/sdl/index.ts";
import { sampleExpose, sampleService, sampleSpec } from "./conformance/index.ts";

export const SETTINGS: ObjectSettings = {
  provider: "svc1provider",
  publicHostname: "cluster.example.com",
  stopGraceMs: 30_000,
  lingerMs: 0,
  runtime: undefined,
  allowLocalImages: false,
  userNamespaces: false,
  podSecurity: "restricted",
  overcommit: { cpu: 0, memory: 0, storage: 0 },
  ingressClass: undefined,
  ingressTls: undefined,
  gateway: undefined,
};

const IMAGE = "registry.example.com/shop/web:1.2";
const ID = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const resources = sampleService(IMAGE).resources;

/** A shop with everything that a manifest can ask for. */
export function shop(): LeaseSpec {
  const web = sampleService(IMAGE, {
    name: "web",
    command: ["/bin/serve"],
    args: ["--price", "$(PRICE)", "$HOME"],
    env: ["PRICE=5$", "EMPTY", "PRICE=6$(A)", "SVC_OWNER=me"],
    count: 2,
    credentials: { host: "docker.io", email: "me@example.com", username: "me", password: "secret" },
    expose: [
      sampleExpose({ hosts: ["shop.example.com"] }),
      sampleExpose({ externalPort: 9000 }),
      sampleExpose({ port: 53, externalPort: 5353, proto: "UDP" }),
    ],
    resources: {
      ...resources,
      storage: [
        { name: "default", size: { val: String(512 << 20) } },
        { name: "cache", size: { val: String(64 << 20) } },
        { name: "Ram_1", size: { val: String(32 << 20) }, attributes: [{ key: "class", value: "ram" }] },
      ],
    },
    params: {
      storage: [
        { name: "cache", mount: "/cache", readOnly: true },
        { name: "Ram_1", mount: "/dev/shm", readOnly: false },
      ],
    },
  });
  const attributes = [
    { key: "class", value: "beta2" },
    { key: "persistent", value: "true" },
  ];
  const db = sampleService(IMAGE, {
    name: "db",
    expose: [sampleExpose({ port: 5432, externalPort: 5432, global: false, service: "web" })],
    resources: {
      ...resources,
      gpu: { units: { val: "2" }, attributes: [{ key: "vendor/nvidia/model/a100/ram/80Gi", value: "true" }] },
      storage: [{ name: "data", size: { val: String(1 << 30) }, attributes }],
    },
    params: { storage: [{ name: "data", mount: "/data", readOnly: false }] },
  });
  const ports = [
    { service: "web", port: 80, externalPort: 9000, proto: "TCP", hostPort: 30_000 },
    { service: "web", port: 53, externalPort: 5353, proto: "UDP", hostPort: 30_001 },
  ] as const;
  return sampleSpec([db, web], { id: ID, ports, hosts: new Map([["web", ["shop.example.com"]]]) });
}

/** Names as long and as alike as tenants may write them. */
export function hostileNames(): LeaseSpec {
  const long = "a".repeat(62);
  const volumes = ["V.1", "v-1", "v_1", "x".repeat(63), `${"x".repeat(62)}y`];
  const storage = volumes.map((name) => ({
    name,
    size: { val: String(2 << 20) },
    attributes: [{ key: "persistent", value: "true" }],
  }));
  const service = (name: string, over: Partial<ManifestService> = {}) =>
    sampleService(IMAGE, {
      name,
      expose: [sampleExpose({ externalPort: 9000 }), sampleExpose({ externalPort: 9000, global: false })],
      ...over,
    });
  const params = { storage: volumes.map((name, at) => ({ name, mount: `/v${at}`, readOnly: false })) };
  const services = [
    service(`${long}a`, { resources: { ...resources, storage }, params }),
    service(`${long}b`, { env: ["-._odd.NAME=1", `LONG=${"x".repeat(100_000)}`] }),
    service("lease"),
    service("web", { args: ["$(", "$$", "\u0001\u{1f600}", ""] }),
    service("web-ports"),
  ];
  const ports = services.map(({ name }, at) => ({
    service: name,
    port: 80,
    externalPort: 9000,
    proto: "TCP" as const,
    hostPort: 30_100 + at,
  }));
  const id = { ...ID, dseq: 18_446_744_073_709_551_615n, gseq: 4_294_967_295, owner: `svc1${"q".repeat(80)}` };
  return sampleSpec(services, { id, ports });
}
