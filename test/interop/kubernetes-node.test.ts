import { existsSync, readdirSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi, type PodCommand, type PodLogQuery } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject, Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { processesOn } from "../support/abandoned.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { nodePrograms } from "./node-programs.ts";

/** Our client against a whole cluster: a real kubelet runs the pods. */

const programs = await nodePrograms();
const missing = "missing" in programs;
const fixture = new Fixture();
const SPACE = "lease-a";
const NAMESPACES: Resource = { apiVersion: "v1", kind: "Namespace", plural: "namespaces" };
const PODS: Resource = { apiVersion: "v1", kind: "Pod", plural: "pods" };
const SERVICES: Resource = { apiVersion: "v1", kind: "Service", plural: "services" };
const DEPLOYMENTS: Resource = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments" };

interface Pod extends ApiObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

let bed: TestKubernetesNode;
let api: KubernetesApi;

beforeAll(async () => {
  if ("missing" in programs) return;
  bed = await TestKubernetesNode.start(fixture, programs);
  api = new KubernetesApi(readKubeconfig(bed.config));
  await api.apply(NAMESPACES, { metadata: { name: SPACE } });
});

afterAll(async () => {
  api?.close();
  await fixture.close();
});

test("the programs are there", ({ skip }) => {
  if (!("missing" in programs)) return;
  if (process.env.CI !== "true") skip(programs.missing);
  expect(programs.missing).toBe("");
});

test.skipIf(missing)("pods of a deployment answer over a node port, as long as they are there", async () => {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: podSpec({}) };
  await api.apply(DEPLOYMENTS, {
    metadata: { name: "web", namespace: SPACE },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  } as ApiObject);
  const ports = [{ port: 80, nodePort: 30_080 }];
  await api.apply(SERVICES, {
    metadata: { name: "web", namespace: SPACE },
    spec: { type: "NodePort", selector: labels, ports },
  } as ApiObject);
  const answer = await waitFor(() => page(`http://${bed.address}:30080/`), "the page");
  expect(answer).toBe("It runs.\n");
  const pods = await waitFor(async () => {
    const { objects } = await api.list<Pod>(PODS, { namespace: SPACE, labels: "app=web" });
    return objects.filter(isReady).length === 2 && objects;
  }, "two ready pods");
  await api.delete(DEPLOYMENTS, { namespace: SPACE, name: "web" });
  for (const { metadata } of pods) {
    await waitFor(async () => (await find(metadata.name)) === undefined, `pod ${metadata.name} to be gone`);
  }
  await expect(page(`http://${bed.address}:30080/`)).rejects.toThrow();
});

test.skipIf(missing)("logs have their tail, their time, and the run before", async () => {
  // Each run says how many there were, waits for a file that a command makes, and fails.
  const script = 'date +%s%N > /tmp/run; for n in 1 2 3; do echo "line $n of $(cat /tmp/run)"; done; ';
  await start("log", { command: ["sh", "-c", `${script}until [ -e /tmp/end ]; do sleep 0.1; done; exit 3`] });
  const lines = await waitFor(async () => {
    const all = await log("log", { tail: -1 });
    return all.length === 3 && all;
  }, "three lines");
  expect(lines.map((line) => line.replace(/^\S+ | of .*/g, ""))).toEqual(["line 1", "line 2", "line 3"]);
  expect(await log("log", { tail: 2 })).toEqual(lines.slice(1));
  expect(await log("log", { tail: 0 })).toEqual([]);
  expect(await log("log", { tail: -1, since: "2100-01-01T00:00:00Z" })).toEqual([]);
  expect(await log("log", { tail: -1, since: "2000-01-01T00:00:00Z" })).toEqual(lines);
  await expect(log("log", { tail: -1, previous: true })).rejects.toMatchObject({ kind: "refused", status: 400 });
  await ran("log", ["touch", "/tmp/end"]);
  await waitFor(async () => restarts(await find("log")) === 1, "the restart");
  expect(await log("log", { tail: -1, previous: true })).toEqual(lines);
  const again = await waitFor(async () => {
    const all = await log("log", { tail: -1 });
    return all.length === 3 && all;
  }, "the lines of the second run");
  expect(again).not.toEqual(lines);
});

test.skipIf(missing)("a log is followed while the pod writes", async () => {
  await start("talk", { command: ["sh", "-c", "touch /tmp/said; exec tail -f /tmp/said"] });
  const stop = new AbortController();
  const stream = await api.podLog(place("talk"), { container: "main", follow: true, tail: 0, signal: stop.signal });
  let text = "";
  stream.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  stream.on("error", () => {});
  await ran("talk", ["sh", "-c", "echo hello >> /tmp/said"]);
  await waitFor(() => text.endsWith(" hello\n"), "the line");
  stop.abort();
});

test.skipIf(missing)("a command has its streams, its input and its exit code", async () => {
  await start("shell", {});
  expect(await ran("shell", ["sh", "-c", "echo out; echo err >&2; exit 7"])).toEqual({
    stdout: "out\n",
    stderr: "err\n",
    code: 7,
  });
  expect(await ran("shell", ["true"])).toEqual({ stdout: "", stderr: "", code: 0 });
  const input = "x".repeat(300_000);
  expect(await ran("shell", ["cat"], input)).toEqual({ stdout: input, stderr: "", code: 0 });
  const killed = await ran("shell", ["sh", "-c", "kill -9 $$"]);
  expect(killed.code).toBe(137);
  const absent = await ran("shell", ["/no/such/program"]);
  expect([126, 127]).toContain(absent.code);
});

test.skipIf(missing)("a terminal has its size", async () => {
  const channels = await api.exec({ ...shell("shell", ["sh"]), tty: true, stdin: true });
  channels.resize(120, 40);
  void channels.write(Buffer.from("until [ \"$(stty size)\" = '40 120' ]; do sleep 0.1; done; exit 5\n"));
  for await (const _ of channels.output);
  expect(await channels.exitCode).toBe(5);
});

test.skipIf(missing)("memory is limited, and a deleted pod is proven gone", async () => {
  const command = ["tail", "/dev/zero"];
  await api.apply(PODS, pod("greedy", { command, resources: { limits: { memory: "16Mi" } } }));
  await waitFor(async () => {
    const found = await find("greedy");
    return JSON.stringify(found?.status ?? {}).includes("OOMKilled");
  }, "the memory limit");
  const { uid = "" } = (await find("greedy"))?.metadata ?? {};
  expect(await api.delete(PODS, place("greedy"), { uid })).toBe(true);
  await waitFor(async () => (await find("greedy")) === undefined, "the pod to be gone");
  expect(await api.delete(PODS, place("greedy"))).toBe(false);
});

test.skipIf(missing)("nothing of it is left", async () => {
  const { folder } = fixture;
  expect(processesOn(folder)).not.toEqual([]);
  const cable = readdirSync("/sys/class/net").filter((name) => name.startsWith("svcroom"));
  expect(cable).not.toEqual([]);
  await fixture.close();
  expect(existsSync(folder)).toBe(false);
  expect(processesOn(folder)).toEqual([]);
  expect(readFileSync("/proc/mounts", "utf8")).not.toContain(folder);
  for (const name of readdirSync("/sys/fs/cgroup")) {
    expect(existsSync(`/sys/fs/cgroup/${name}/${basename(folder)}`)).toBe(false);
  }
});

function podSpec(container: object): object {
  const image = { image: TestKubernetesNode.image, imagePullPolicy: "Never" };
  const readinessProbe = { tcpSocket: { port: 80 }, periodSeconds: 1 };
  const main = { name: "main", ...image, ...("command" in container ? {} : { readinessProbe }), ...container };
  return { terminationGracePeriodSeconds: 1, containers: [main] };
}

function pod(name: string, container: object): ApiObject {
  return { metadata: { name, namespace: SPACE }, spec: podSpec(container) } as ApiObject;
}

async function start(name: string, container: object): Promise<void> {
  await api.apply(PODS, pod(name, container));
  await waitFor(async () => isReady(await find(name)), `pod ${name} to be ready`);
}

function place(name: string) {
  return { namespace: SPACE, name };
}

function find(name: string): Promise<Pod | undefined> {
  return api.find<Pod>(PODS, place(name));
}

function isReady(found: Pod | undefined): boolean {
  return found?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function restarts(found: Pod | undefined): number | undefined {
  return found?.status?.containerStatuses?.[0]?.restartCount;
}

async function log(name: string, query: Omit<PodLogQuery, "container" | "follow">): Promise<string[]> {
  const text = await textOf(await api.podLog(place(name), { container: "main", follow: false, ...query }));
  return text.split("\n").slice(0, -1);
}

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const part of stream.setEncoding("utf8")) text += part;
  return text;
}

function shell(name: string, command: readonly string[]): PodCommand {
  return { namespace: SPACE, pod: name, container: "main", command, tty: false, stdin: false };
}

async function ran(name: string, command: readonly string[], input?: string) {
  const channels = await api.exec({ ...shell(name, command), stdin: input !== undefined });
  if (input !== undefined) void channels.write(Buffer.from(input)).then(() => channels.endInput());
  const text = { stdout: "", stderr: "" };
  for await (const { stream, data } of channels.output) text[stream] += Buffer.from(data).toString("utf8");
  return { ...text, code: await channels.exitCode };
}

/** A new connection each time. */
function page(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent: false, timeout: 5_000 }, (answer) => textOf(answer).then(resolve, reject));
    sent.once("timeout", () => sent.destroy(new Error("no answer in time"))).once("error", reject);
  });
}
