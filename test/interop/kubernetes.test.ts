import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi, type PodCommand } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject, Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import type { Change } from "../../src/provider/cluster/kubernetes/api/watch.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { TestKubernetes } from "../support/kubernetes.ts";
import { buildPeer, Peer } from "./peers.ts";

/** Our client against a real API server with real storage; commands and logs come from the code of a real node agent. */

const built = await buildPeer("kubernetes");
const peer = built instanceof Peer ? built : undefined;
const fixture = new Fixture();
const NAMESPACES: Resource = { apiVersion: "v1", kind: "Namespace", plural: "namespaces" };
const NODES: Resource = { apiVersion: "v1", kind: "Node", plural: "nodes" };
const ACCOUNTS: Resource = { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts" };
const PODS: Resource = { apiVersion: "v1", kind: "Pod", plural: "pods" };
const MAPS: Resource = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps" };
const DEFINITIONS: Resource = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
};
const WIDGETS: Resource = { apiVersion: "example.org/v1", kind: "Widget", plural: "widgets" };
const SPACE = "lease-a";
const SHELL = { namespace: SPACE, pod: "web", container: "main", tty: false, stdin: false } as const;
const CLIENTS: KubernetesApi[] = [];

interface ConfigMap extends ApiObject {
  readonly data?: Readonly<Record<string, string>>;
}

let bed: TestKubernetes;
let api: KubernetesApi;

function client(limits: ConstructorParameters<typeof KubernetesApi>[1] = {}): KubernetesApi {
  const made = new KubernetesApi(readKubeconfig(bed.config), { pauseMs: 50, maxPauseMs: 200, ...limits });
  CLIENTS.push(made);
  return made;
}

const map = (name: string, data: Record<string, string>, labels: Record<string, string> = {}): ConfigMap => ({
  metadata: { name, namespace: SPACE, labels },
  data,
});

beforeAll(async () => {
  if (peer === undefined) return;
  bed = await TestKubernetes.start(fixture, peer.binary);
  api = client();
  await api.apply(NAMESPACES, { metadata: { name: SPACE } });
  await api.apply(ACCOUNTS, { metadata: { name: "default", namespace: SPACE } });
});

afterAll(async () => {
  for (const each of CLIENTS) each.close();
  peer?.remove();
  await fixture.close();
});

test.skipIf(peer === undefined && process.env.CI !== "true")("the server is there", () => {
  expect(built).toBeInstanceOf(Peer);
});

test.skipIf(peer === undefined)("the version is read, and an unknown token is refused", async () => {
  expect(await api.version()).toBe("v1.34.4");
  const access = readKubeconfig(bed.config);
  const stranger = new KubernetesApi({
    ...access,
    credentials: { current: async () => ({ token: "nobody" }), renew: () => false },
  });
  CLIENTS.push(stranger);
  await expect(stranger.list(PODS)).rejects.toMatchObject({ kind: "refused", status: 401 });
});

test.skipIf(peer === undefined)("fields are applied, and removed when they are left out", async () => {
  const first = await api.apply(MAPS, map("fields", { a: "1", b: "2" }));
  expect(first.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  const again = await api.apply(MAPS, map("fields", { a: "1", b: "2" }));
  expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  await api.apply(MAPS, map("fields", { a: "3" }));
  expect(await api.find<ConfigMap>(MAPS, { namespace: SPACE, name: "fields" })).toMatchObject({ data: { a: "3" } });
  const found = await api.find<ConfigMap>(MAPS, { namespace: SPACE, name: "fields" });
  expect(found?.data).toEqual({ a: "3" });
});

test.skipIf(peer === undefined)("fields of another manager stay, or are a conflict", async () => {
  const path = `/api/v1/namespaces/${SPACE}/configmaps/shared?fieldManager=other`;
  const object = { apiVersion: "v1", kind: "ConfigMap", ...map("shared", { theirs: "1", both: "theirs" }) };
  expect(await bed.call("PATCH", path, { type: "application/apply-patch+yaml", object })).toMatchObject({
    status: 201,
  });
  await expect(api.apply(MAPS, map("shared", { both: "ours" }), { force: false })).rejects.toMatchObject({
    kind: "conflict",
    status: 409,
  });
  await api.apply(MAPS, map("shared", { both: "ours" }));
  const found = await api.find<ConfigMap>(MAPS, { namespace: SPACE, name: "shared" });
  expect(found?.data).toEqual({ theirs: "1", both: "ours" });
});

test.skipIf(peer === undefined)("only the object that is meant is deleted, and its absence is reported", async () => {
  const { metadata } = await api.apply(MAPS, map("going", { a: "1" }));
  const place = { namespace: SPACE, name: "going" };
  await expect(api.delete(MAPS, place, { uid: crypto.randomUUID() })).rejects.toMatchObject({ kind: "conflict" });
  expect(await api.find(MAPS, place)).toBeDefined();
  expect(await api.delete(MAPS, place, { uid: metadata.uid ?? "" })).toBe(true);
  expect(await api.find(MAPS, place)).toBeUndefined();
  expect(await api.delete(MAPS, place)).toBe(false);
});

test.skipIf(peer === undefined)("a list of several pages holds every object of the labels once", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `page-${String(index).padStart(2, "0")}`);
  for (const name of names) await api.apply(MAPS, map(name, {}, { set: "pages" }));
  const paged = client({ pageItems: 5 });
  const { objects, version } = await paged.list(MAPS, { namespace: SPACE, labels: "set=pages" });
  expect(objects.map(({ metadata }) => metadata.name)).toEqual(names);
  expect(version).toMatch(/^\d+$/);
  await expect(client({ listItems: 11 }).list(MAPS, { labels: "set=pages" })).rejects.toMatchObject({
    kind: "refused",
  });
});

test.skipIf(peer === undefined)("objects of an own kind are there once it is established, and checked", async () => {
  await expect(api.find(WIDGETS, { namespace: SPACE, name: "one" })).rejects.toMatchObject({ kind: "refused" });
  await api.apply(DEFINITIONS, {
    metadata: { name: "widgets.example.org" },
    spec: {
      group: "example.org",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets", singular: "widget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }],
    },
  } as ApiObject);
  const widget = (size: unknown): ApiObject =>
    ({ metadata: { name: "one", namespace: SPACE }, spec: { size } }) as never;
  await waitFor(() => api.apply(WIDGETS, widget(1)), "the kind to be established");
  await expect(api.apply(WIDGETS, widget(-1))).rejects.toMatchObject({ kind: "refused", status: 422 });
  expect(await api.find(WIDGETS, { namespace: SPACE, name: "one" })).toMatchObject({ spec: { size: 1 } });
});

const SCHEMA = {
  type: "object",
  properties: {
    spec: { type: "object", required: ["size"], properties: { size: { type: "integer", minimum: 0 } } },
  },
};

test.skipIf(peer === undefined)(
  "hostile names, quantities and sizes are refused with the server's sentence",
  async () => {
    for (const name of ["UPPER", "a_b", "a".repeat(254), "-a", "ü"]) {
      await expect(api.apply(MAPS, map(name, {}))).rejects.toMatchObject({ kind: "refused" });
    }
    for (const name of ["..", ".", ""]) await expect(api.apply(MAPS, map(name, {}))).rejects.toThrow("is not the name");
    const resources = { limits: { memory: "-1Gi" } };
    const refused = api.apply(PODS, pod("hostile", { resources }));
    await expect(refused).rejects.toMatchObject({ kind: "refused", status: 422 });
    const large = api.apply(MAPS, map("large", { text: "x".repeat(2 << 20) }));
    await expect(large).rejects.toMatchObject({ kind: "refused" });
  },
);

test.skipIf(peer === undefined)("a watch lists what exists, then reports every change", async () => {
  await api.apply(MAPS, map("seen-1", { a: "1" }, { set: "seen" }));
  const { told, stop } = followed(api);
  await waitFor(() => told.length > 0, "the first list");
  await api.apply(MAPS, map("seen-2", { a: "1" }, { set: "seen" }));
  await api.apply(MAPS, map("other", { a: "1" }, { set: "other" }));
  await api.apply(MAPS, map("seen-1", { a: "2" }, { set: "seen" }));
  await api.delete(MAPS, { namespace: SPACE, name: "seen-2" });
  await waitFor(() => told.length >= 4, "three changes");
  await stop();
  expect(told.map(summary)).toEqual(["all seen-1", "set seen-2", "set seen-1", "removed seen-2"]);
});

test.skipIf(peer === undefined)(
  "a server that crashes proves nothing about objects, and its watch comes back",
  async () => {
    await api.apply(MAPS, map("kept", { a: "1" }, { set: "seen" }));
    await api.delete(MAPS, { namespace: SPACE, name: "seen-1" });
    const { told, stop } = followed(api);
    await waitFor(() => told.length > 0, "the first list");
    await bed.killServer();
    await waitFor(() => told.some(({ type }) => type === "lost"), "the watch to tell that it is lost");
    await expect(api.find(MAPS, { namespace: SPACE, name: "kept" })).rejects.toMatchObject({ kind: "unreachable" });
    await expect(api.list(MAPS, { namespace: SPACE })).rejects.toMatchObject({ kind: "unreachable" });
    expect(told.some(({ type }) => type === "removed")).toBe(false);
    await bed.startServer();
    await waitFor(() => told.at(-1)?.type === "all", "a new list");
    await api.delete(MAPS, { namespace: SPACE, name: "kept" });
    await waitFor(() => told.at(-1)?.type === "removed", "the removal");
    await stop();
    for (const change of told) if (change.type === "all") expect(summary(change)).toBe("all kept");
  },
);

test.skipIf(peer === undefined)("logs and commands come from the node of the pod", async () => {
  await api.apply(NODES, {
    metadata: { name: "node-1" },
    status: {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: bed.nodePort } },
    },
  } as ApiObject);
  await api.apply(PODS, pod("web"));
  const place = { namespace: SPACE, pod: "web", container: "main" };
  bed.print(place, "2026-01-01T00:00:00Z one\n2026-01-01T00:00:01Z two\n2026-01-01T00:00:02Z three\n");
  const at = { namespace: SPACE, name: "web" };
  const log = await waitFor(() => api.podLog(at, { container: "main", follow: false, tail: 2 }), "the node to answer");
  expect(await textOf(log)).toBe("2026-01-01T00:00:01Z two\n2026-01-01T00:00:02Z three\n");
  const none = api.podLog(at, { container: "missing", follow: false, tail: -1 });
  await expect(none).rejects.toMatchObject({ kind: "refused", status: 400 });
});

test.skipIf(peer === undefined)("a log is followed until its reader goes", async () => {
  const place = { namespace: SPACE, pod: "web", container: "main" };
  const stop = new AbortController();
  const options = { container: "main", follow: true, tail: 0, signal: stop.signal };
  const log = await api.podLog({ namespace: SPACE, name: "web" }, options);
  let text = "";
  log.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  log.on("error", () => {});
  bed.print(place, "2026-01-01T00:00:03Z four\n");
  await waitFor(() => text === "2026-01-01T00:00:03Z four\n", "the line");
  stop.abort();
});

test.skipIf(peer === undefined)("a command has its output by streams, its input and its exit code", async () => {
  const both = await ran({ ...SHELL, command: ["sh", "-c", "echo out; echo err >&2; exit 7"] });
  expect(both).toEqual({ stdout: "out\n", stderr: "err\n", code: 7 });
  const echoed = await ran({ ...SHELL, command: ["cat"], stdin: true }, "x".repeat(300_000));
  expect(echoed).toEqual({ stdout: "x".repeat(300_000), stderr: "", code: 0 });
  const absent = await ran({ ...SHELL, command: ["/no/such/program"] });
  expect(absent).toMatchObject({ stdout: "", code: 127 });
  const nobody = api.exec({ ...SHELL, container: "missing", command: ["true"] });
  await expect(nobody).rejects.toMatchObject({ kind: "refused", status: 400 });
});

test.skipIf(peer === undefined)("a terminal has its size", async () => {
  const channels = await api.exec({ ...SHELL, command: ["echo", "done"], tty: true, stdin: true });
  channels.resize(120, 40);
  expect(await outputOf(channels)).toEqual({ stdout: "terminal 120x40\r\ndone\n", stderr: "" });
  expect(await channels.exitCode).toBe(0);
});

function pod(name: string, rest: object = {}): ApiObject {
  const container = { name: "main", image: "localhost/none:1", ...rest };
  return { metadata: { name, namespace: SPACE }, spec: { nodeName: "node-1", containers: [container] } } as never;
}

function followed(from: KubernetesApi) {
  const told: Change<ConfigMap>[] = [];
  const end = new AbortController();
  const over = (async () => {
    for await (const change of from.watch<ConfigMap>(MAPS, { namespace: SPACE, labels: "set=seen" }, end.signal)) {
      told.push(change);
    }
  })();
  const stop = (): Promise<void> => {
    end.abort();
    return over;
  };
  return { told, stop };
}

function summary(change: Change<ConfigMap>): string {
  if (change.type === "lost") return "lost";
  const objects = change.type === "all" ? change.objects : [change.object];
  return `${change.type} ${objects.map(({ metadata }) => metadata.name).join(" ")}`;
}

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const part of stream.setEncoding("utf8")) text += part;
  return text;
}

type Channels = Awaited<ReturnType<KubernetesApi["exec"]>>;

async function outputOf({ output }: Channels) {
  const text = { stdout: "", stderr: "" };
  for await (const { stream, data } of output) text[stream] += Buffer.from(data).toString("utf8");
  return text;
}

async function ran(command: PodCommand, input?: string) {
  const channels = await api.exec(command);
  if (input !== undefined) void channels.write(Buffer.from(input)).then(() => channels.endInput());
  const text = await outputOf(channels);
  return { ...text, code: await channels.exitCode };
}
