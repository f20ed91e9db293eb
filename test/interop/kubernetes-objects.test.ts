import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { gpuName } from "../../src/provider/cluster/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { INSTALL } from "../../src/provider/cluster/kubernetes/install/kinds.ts";
import {
  GPU_LABEL,
  ingressObjects,
  KIND,
  leaseObjects,
  namespaceObject,
  type ObjectSettings,
  routeObjects,
  type Wanted,
} from "../../src/provider/cluster/kubernetes/objects/index.ts";
import { nodeGpus } from "../../src/provider/cluster/kubernetes/view/nodes.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { TestKubernetes } from "../support/kubernetes.ts";
import { hostileNames, SETTINGS, shop } from "../support/kubernetes-leases.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The objects of leases against the validation and defaults of a real API server. */

const built = await buildPeer("kubernetes");
const peer = built instanceof Peer ? built : undefined;
const fixture = new Fixture();
const RUN = { restarts: {}, suspended: false };

let bed: TestKubernetes;
let api: KubernetesApi;

beforeAll(async () => {
  if (peer === undefined) return;
  bed = await TestKubernetes.start(fixture, peer.binary);
  api = new KubernetesApi(readKubeconfig(bed.config), { pauseMs: 50, maxPauseMs: 200 });
});

afterAll(async () => {
  api?.close();
  peer?.remove();
  await fixture.close();
});

async function apply(objects: readonly Wanted[]) {
  const versions: (string | undefined)[] = [];
  for (const { resource, object } of objects) {
    versions.push((await api.apply(resource, object)).metadata.resourceVersion);
  }
  return versions;
}

test.skipIf(peer === undefined && process.env.CI !== "true")("the server is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

test.skipIf(peer === undefined).for([
  ["everything that a manifest can ask for", shop],
  ["the longest and most alike names", hostileNames],
] as const)("a lease with %s is taken, and changes nothing the second time", async ([, make]) => {
  const spec = make();
  const objects = [namespaceObject(spec, SETTINGS), ...leaseObjects(spec, SETTINGS, RUN)];
  const first = await apply(objects);
  expect(await apply(objects)).toEqual(first);
});

describe.skipIf(peer === undefined)("the admission of pods", () => {
  const STANDARDS = ["restricted", "baseline"] as const;

  /** The pods of a shop that was made to one standard, in a namespace that enforces another. */
  async function admit(made: ObjectSettings["podSecurity"], enforced: ObjectSettings["podSecurity"]) {
    const spec = { ...shop(), id: { ...shop().id, dseq: BigInt(100 + STANDARDS.indexOf(enforced)) } };
    const space = namespaceObject(spec, { ...SETTINGS, podSecurity: enforced });
    await apply([space]);
    const namespace = space.object.metadata.name;
    const account = { type: "application/json", object: { metadata: { name: "default" } } };
    await bed.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, account);
    const workloads = leaseObjects(spec, { ...SETTINGS, podSecurity: made }, RUN).filter(
      ({ resource }) => resource === KIND.deployment || resource === KIND.statefulSet,
    ) as (Wanted & { readonly object: { readonly spec: { readonly template: { readonly spec: object } } } })[];
    const answers: string[] = [];
    for (const workload of workloads) {
      const { volumes: _, ...body } = workload.object.spec.template.spec as { readonly volumes?: unknown };
      const { containers } = body as { readonly containers: readonly object[] };
      const bare = containers.map((each) => ({ ...each, volumeMounts: [] }));
      const pod = { metadata: { name: workload.object.metadata.name }, spec: { ...body, containers: bare } };
      const call = { type: "application/json", object: pod };
      const { status, text } = await bed.call("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, call);
      answers.push(status === 201 ? "taken" : `${status} ${text}`);
    }
    return answers;
  }

  test.for(STANDARDS)("takes those that are made to the %s standard where it is enforced", async (standard) => {
    expect(await admit(standard, standard)).toEqual(["taken", "taken"]);
  });

  test("takes those of the stricter standard where the other one is enforced, and not the other way round", async () => {
    expect(await admit("restricted", "baseline")).toEqual(["taken", "taken"]);
    const refused = await admit("baseline", "restricted");
    expect(refused).toHaveLength(2);
    for (const answer of refused) expect(answer).toMatch(/403 .*violates PodSecurity.*runAsNonRoot/);
  });
});

test.skipIf(peer === undefined)("settings of operators are taken", async () => {
  const settings = {
    ...SETTINGS,
    runtime: "gvisor",
    userNamespaces: true,
    allowLocalImages: true,
    overcommit: { cpu: 50, memory: 25, storage: 12.5 },
  };
  await apply(leaseObjects(shop(), settings, { restarts: { web: 2, db: 1 }, suspended: true }));
  const place = { namespace: namespaceObject(shop(), SETTINGS).object.metadata.name, name: "web" };
  const found = await api.find(KIND.deployment, place);
  expect(found).toMatchObject({ spec: { replicas: 0, template: { spec: { runtimeClassName: "gvisor" } } } });
});

test.skipIf(peer === undefined)(
  "the graphics processors of nodes are counted as their kubelets report them",
  async () => {
    const A100 = { vendor: "nvidia", model: "a100", ram: "80Gi", interface: "sxm" };
    const T4 = { vendor: "nvidia", model: "t4" };
    await node("two-a100", A100, { "nvidia.com/gpu": "2" });
    await node("one-t4", T4, { "nvidia.com/gpu": "1" });
    // Neither a label without a processor nor a processor that no label names is offered.
    await node("none-left", T4, { "nvidia.com/gpu": "0" });
    await node("unnamed", {}, { "nvidia.com/gpu": "4" });
    const found = await nodeGpus(api);
    expect(new Set(found.map((gpu) => `${gpu.count} ${gpuName(gpu)}`))).toEqual(
      new Set(["2 nvidia/a100/80Gi/sxm", "1 nvidia/t4"]),
    );
  },
);

/** Puts a node on the server as its kubelet and a driver of its devices would. */
async function node(name: string, gpu: Partial<Record<keyof typeof GPU_LABEL, string>>, allocatable: object) {
  const keys = ["vendor", "model", "ram", "interface"] as const;
  const labels = Object.fromEntries(
    keys.flatMap((key) => (gpu[key] === undefined ? [] : [[GPU_LABEL[key], gpu[key]]])),
  );
  const object = { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
  const made = await bed.call("POST", "/api/v1/nodes", { type: "application/json", object });
  expect(made.status, made.text).toBe(201);
  const status = { capacity: allocatable, allocatable };
  const patch = { type: "application/merge-patch+json", object: { status } };
  const told = await bed.call("PATCH", `/api/v1/nodes/${name}/status`, patch);
  expect(told.status, told.text).toBe(200);
}

test.skipIf(peer === undefined)("host names become objects for the cluster's ingress", async () => {
  const target = {
    lease: shop().id,
    service: "web",
    port: 80,
    options: { maxBodySize: 1, readTimeout: 1, sendTimeout: 1, nextTries: 1, nextTimeout: 0 },
  };
  const longest = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`;
  const hosts = ["shop.example.com", longest];
  await apply(ingressObjects(shop().id, { target, hosts }, 80, { ...SETTINGS, ingressClass: "tenants" }));
});

test.skipIf(peer === undefined)(
  "host names become routes of the Gateway API, as its own definition has them",
  async () => {
    const definitions = await buildPeer("gateway-api");
    if (!(definitions instanceof Peer)) throw new Error(definitions.missing);
    definitions.remove();
    const text = readFileSync(join(definitions.binary, "gateway.networking.k8s.io_httproutes.yaml"), "utf8");
    const definition: ApiObject = parse(text);
    await api.apply(INSTALL.definition, definition);
    const options = { maxBodySize: 1, readTimeout: 1, sendTimeout: 1, nextTries: 1, nextTimeout: 0 };
    const target = { lease: shop().id, service: "web", port: 80, options };
    const gateway = { namespace: "gateways", name: "tenants" };
    const objects = routeObjects(shop().id, { target, hosts: ["shop.example.com"] }, 80, { ...SETTINGS, gateway });
    await apply([namespaceObject(shop(), SETTINGS)]);
    const versions = await waitFor(() => apply(objects), "the kind to be served");
    expect(await apply(objects)).toEqual(versions);
  },
);

test.skipIf(peer === undefined)(
  "a node port that somebody else has is refused as invalid, with its number",
  async () => {
    const spec = { ...shop(), id: { ...shop().id, dseq: 8n } };
    const objects = [namespaceObject(spec, SETTINGS), ...leaseObjects(spec, SETTINGS, RUN)];
    await expect(apply(objects)).rejects.toMatchObject({
      kind: "refused",
      status: 422,
      message: expect.stringMatching(/30000.*provided port is already allocated/),
    });
  },
);
