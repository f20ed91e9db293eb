import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { WebSocket } from "ws";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { type BackoffPolicy, LineQueue, LocalCarrier } from "../../src/provider/cluster/shared/index.ts";
import { sampleExpose, sampleService } from "./conformance/index.ts";
import { send, sendStatus, TestApiServer } from "./kubernetes/api-server.ts";
import { MemoryReplica } from "./memory-cluster/replica.ts";
import { runProgram } from "./memory-cluster/shell.ts";

const QUICK: BackoffPolicy = { first: 10, initial: 100, max: 1_000, resetAfter: 60_000 };
const NAMESPACES = "/api/v1/namespaces";
const WORKLOADS = ["/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets"];
/** Labels that only the controllers of the double read. */
const OWNER = "double/owner";
const TEMPLATE = "double/template";

/** Fields that controllers read of objects of any kind. */
interface Spec {
  readonly replicas: number;
  readonly template: Body;
  readonly type: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly NodePort[];
  readonly rules: readonly [
    {
      readonly host: string;
      readonly http: { readonly paths: readonly [{ readonly backend: { readonly service: Target } }] };
    },
  ];
  readonly containers: readonly [Program];
}

interface Target {
  readonly name: string;
  readonly port: { readonly number: number };
}

interface Program {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly readinessProbe?: { readonly tcpSocket: { readonly port: number } };
}

interface Body extends ApiObject {
  readonly spec?: Spec;
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly loadBalancer?: { readonly ingress: readonly [{ readonly ip: string }] };
  };
}

interface NodePort {
  readonly port: number;
  readonly targetPort: number;
  readonly nodePort: number;
  readonly protocol: "TCP" | "UDP";
}

interface Line {
  readonly run: number;
  readonly text: string;
}

interface Container {
  readonly replica: MemoryReplica;
  readonly lines: Line[];
  readonly readers: Set<() => void>;
}

export interface DoubleOptions {
  readonly hasImage?: (image: string) => boolean;
  readonly backoff?: BackoffPolicy;
  /** Where node ports answer; on this machine by default. */
  readonly nodeAddress?: string;
}

/**
 * An API server in this process with controllers and a node beside it: workloads get pods, pods get programs of the little
 * shell or pages, node ports and host names lead to them. It is a cluster as far as a driver can see.
 */
export class KubernetesDouble {
  readonly server: TestApiServer;
  readonly #options: DoubleOptions;
  readonly #containers = new Map<string, Container>();
  readonly #carrier = new LocalCarrier();
  readonly #proxy: Server;
  readonly #sessions = new Set<{ readonly words: readonly string[]; readonly stop: AbortController }>();
  /** Whether services get the addresses that they ask for. */
  balances = true;
  /** Addresses that services of two deployments asked for at once. */
  readonly contested = new Set<string>();
  #count = 0;
  #again = false;
  #running = false;
  #closed = false;

  private constructor(server: TestApiServer, options: DoubleOptions) {
    this.server = server;
    this.#options = options;
    this.#proxy = createServer((incoming, outgoing) => this.#forward(incoming, outgoing));
    server.changed = () => this.#poke();
    server.deleter = (path, object) => this.#delete(path, object);
    server.intercept = (_, response, url) => this.#version(response, url) || this.#log(response, url);
    server.command = (socket, url) =>
      void (url.pathname.endsWith("/portforward") ? this.#connect(socket, url) : this.#exec(socket, url));
  }

  static async start(options: DoubleOptions = {}): Promise<KubernetesDouble> {
    const double = new KubernetesDouble(await TestApiServer.start(), options);
    await once(double.#proxy.listen(0, "127.0.0.1"), "listening");
    double.addNode("node-1");
    return double;
  }

  /** Port of the cluster's own ingress. */
  get ingressPort(): number {
    return (this.#proxy.address() as AddressInfo).port;
  }

  addNode(name: string, labels: Record<string, string> = {}, more: Record<string, string> = {}): void {
    const allocatable = { cpu: "8", memory: "16Gi", "ephemeral-storage": "100Gi", pods: "110", ...more };
    const status = { allocatable, conditions: [{ type: "Ready", status: "True" }] };
    this.server.put("/api/v1/nodes", { metadata: { name, labels }, status } as ApiObject);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { replica } of this.#containers.values()) replica.remove();
    this.#carrier.close();
    this.#proxy.closeAllConnections();
    await new Promise((resolve) => this.#proxy.close(resolve));
    await this.server.close();
  }

  /** Ends a pod's program. */
  crash(namespace: string, pod: string, exitCode: number): void {
    this.#containers.get(`${namespace}/${pod}`)?.replica.crash(exitCode);
  }

  /** Ends a pod for good, as its node does: workloads put another in its place, and it stays unless that needs its name. */
  evict(namespace: string, name: string, message: string): void {
    const known = this.server.find(`${NAMESPACES}/${namespace}/pods/${name}`);
    if (known === undefined) throw new Error(`no pod ${name}`);
    this.#stop(`${namespace}/${name}`);
    const { containerStatuses } = statusOf({ terminated: { exitCode: 137, reason: "Error" } }, false, {});
    this.server.put(`${NAMESPACES}/${namespace}/pods`, {
      ...known,
      status: { phase: "Failed", reason: "Evicted", message, containerStatuses },
    } as ApiObject);
  }

  #poke(): void {
    this.#again = true;
    if (this.#running || this.#closed) return;
    this.#running = true;
    while (this.#again) {
      this.#again = false;
      this.#pass();
    }
    this.#running = false;
  }

  #pass(): void {
    for (const { metadata } of this.server.objects(NAMESPACES)) {
      if (metadata.deletionTimestamp !== undefined) this.#empty(metadata.name);
    }
    const owners = new Set<string>();
    for (const collection of WORKLOADS) {
      for (const workload of this.server.objects(collection)) {
        owners.add(`${workload.metadata.namespace}/${workload.metadata.name}`);
        this.#workload(workload, collection.endsWith("statefulsets"));
      }
    }
    for (const { metadata } of this.server.objects("/api/v1/pods")) {
      const owner = metadata.labels?.[OWNER];
      if (owner !== undefined && !owners.has(`${metadata.namespace}/${owner}`)) this.#end(metadata);
    }
    this.#balance();
    this.#carry();
  }

  /** Assigns requested addresses to services, like MetalLB: services with one key share it, on separate ports. */
  #balance(): void {
    const all = (this.server.objects("/api/v1/services") as Body[]).filter(({ spec }) => spec?.type === "LoadBalancer");
    const wish = ({ metadata }: Body) => metadata.annotations?.["metallb.io/loadBalancerIPs"] ?? "";
    const given = (service: Body) => service.status?.loadBalancer?.ingress[0].ip;
    for (const service of all) {
      const { namespace = "" } = service.metadata;
      const address = wish(service);
      if (address === "") continue;
      const rivals = all.filter((other) => wish(other) === address);
      const deployment = this.#deploymentOf(namespace);
      if (rivals.some(({ metadata }) => this.#deploymentOf(metadata.namespace ?? "") !== deployment))
        this.contested.add(address);
      const others = all.filter((other) => given(other) === address);
      if (!this.balances || others.includes(service) || others.some((other) => !canShare(service, other))) continue;
      const told: Body = { ...service, status: { loadBalancer: { ingress: [{ ip: address }] } } };
      this.server.put(`${NAMESPACES}/${namespace}/services`, told);
      return;
    }
  }

  /** Leases of one deployment may share an address. */
  #deploymentOf(namespace: string): string {
    const labels = this.server.find(`${NAMESPACES}/${namespace}`)?.metadata.labels ?? {};
    return `${labels["svc.lease.owner"]}/${labels["svc.lease.dseq"]}`;
  }

  /** Everything of a namespace goes, then it itself. */
  #empty(namespace: string): void {
    for (const { metadata } of this.server.objects(`${NAMESPACES}/${namespace}/pods`)) this.#end(metadata);
    const folder = new RegExp(`^(/[^/]+){2,3}/namespaces/${namespace}/[a-z]+$`);
    for (const path of this.server.paths()) {
      const collection = path.slice(0, path.lastIndexOf("/"));
      if (folder.test(collection)) this.server.remove(collection, path.slice(collection.length + 1));
    }
    this.server.remove(NAMESPACES, namespace);
    void this.#carrier.carry(namespace, []);
  }

  #workload({ metadata, spec }: Body, isStateful: boolean): void {
    if (spec === undefined) return;
    const { namespace = "", name } = metadata;
    const template = createHash("sha256").update(JSON.stringify(spec.template)).digest("hex").slice(0, 10);
    const owned = this.server
      .objects(`${NAMESPACES}/${namespace}/pods`)
      .filter((pod) => pod.metadata.labels?.[OWNER] === name);
    // A failed pod keeps its name only if the other pods have names of their own.
    if (isStateful) for (const pod of owned.filter(hasFailed)) this.#end(pod.metadata);
    const all = owned.filter((pod) => !hasFailed(pod));
    const isCurrent = (pod: ApiObject) => pod.metadata.labels?.[TEMPLATE] === template;
    const [current, old] = [all.filter(isCurrent), all.filter((pod) => !isCurrent(pod))];
    const make = (pod: string, labels: Record<string, string>) =>
      this.#create(namespace, pod, spec.template, { [OWNER]: name, [TEMPLATE]: template, ...labels });
    if (isStateful) {
      for (const pod of [...old, ...current.slice(spec.replicas)]) this.#end(pod.metadata);
      for (let at = all.length === old.length ? 0 : current.length; at < spec.replicas; at++)
        make(`${name}-${at}`, { "apps.kubernetes.io/pod-index": `${at}` });
      return;
    }
    const room = all.length === 0 ? spec.replicas : spec.replicas + 1 - all.length;
    const missing = Math.min(spec.replicas - current.length, room);
    for (let made = 0; made < missing; made++) make(`${name}-${template}-${++this.#count}`, {});
    for (const pod of current.slice(spec.replicas)) this.#end(pod.metadata);
    const ready = all.filter(isReady).length;
    const idle =
      old.find((pod) => !isReady(pod)) ?? (ready > spec.replicas || spec.replicas === 0 ? old[0] : undefined);
    if (idle !== undefined && missing <= 0) this.#end(idle.metadata);
  }

  #create(namespace: string, name: string, template: Body, labels: Record<string, string>): void {
    const metadata = { ...template.metadata, name, namespace, labels: { ...template.metadata.labels, ...labels } };
    if (template.spec === undefined) return;
    const spec = { ...template.spec, nodeName: "node-1" };
    const state = { waiting: { reason: "ContainerCreating" } };
    const pod = this.#put(namespace, { metadata, spec, status: statusOf(state, false, {}) } as Body);
    const event = (type: string, reason: string, note: string) => this.#event(pod, type, reason, note);
    event("Normal", "Scheduled", `assigned ${namespace}/${name} to node-1`);
    const [{ image }] = spec.containers;
    if (this.#options.hasImage?.(image) === false) {
      const message = `Failed to pull image "${image}": not found`;
      event("Normal", "Pulling", `Pulling image "${image}"`);
      event("Warning", "Failed", message);
      this.#put(namespace, {
        metadata,
        spec,
        status: statusOf({ waiting: { reason: "ErrImagePull", message } }, false, {}),
      } as Body);
      return;
    }
    event("Normal", "Pulled", `Container image "${image}" already present on machine`);
    this.#run(pod, event);
  }

  #run({ metadata, spec }: Body, event: (type: string, reason: string, note: string) => void): void {
    if (spec === undefined) return;
    const { namespace = "", name, uid } = metadata;
    const key = `${namespace}/${name}`;
    const [{ command, args, image, env, readinessProbe }] = spec.containers;
    const port = readinessProbe?.tcpSocket.port;
    const service = sampleService(image, {
      name: "pod",
      command: command?.map(unescaped) ?? null,
      args: args?.map(unescaped) ?? null,
      env: env.map(({ name: variable, value }) => `${variable}=${unescaped(value ?? "")}`),
      expose: port === undefined ? [] : [sampleExpose({ port })],
    });
    const update = (): void => {
      const known = this.server.find(`${NAMESPACES}/${namespace}/pods/${name}`) as Body | undefined;
      if (known === undefined || known.metadata.uid !== uid || this.#closed) return;
      if (hasFailed(known)) return;
      const code = /exit code (\d+)/.exec(replica.error ?? "")?.[1];
      const ended = code === undefined ? {} : { terminated: { exitCode: Number(code), reason: "Error" } };
      const waiting = { waiting: { reason: "CrashLoopBackOff", message: "back-off restarting failed container" } };
      const state = replica.ready
        ? { running: {} }
        : replica.runs === 0
          ? { waiting: { reason: "ContainerCreating" } }
          : waiting;
      const more = { restartCount: replica.restarts, containerID: `double://${key}/${replica.runs}`, lastState: ended };
      this.#put(namespace, { ...known, status: statusOf(state, replica.ready, more) });
      for (const reader of container.readers) reader();
    };
    const callbacks = {
      event,
      log: (_: string, text: string) => {
        container.lines.push({ run: replica.runs, text: `${new Date().toISOString()} ${text}\n` });
        for (const reader of container.readers) reader();
      },
      moved: () => queueMicrotask(update),
    };
    const replica: MemoryReplica = new MemoryReplica(service, 0, {
      config: "",
      policy: this.#options.backoff ?? QUICK,
      callbacks,
    });
    const container: Container = { replica, lines: [], readers: new Set() };
    this.#containers.set(key, container);
    void replica.start().then(update);
  }

  #put(namespace: string, pod: Body): Body {
    return this.server.put(`${NAMESPACES}/${namespace}/pods`, pod);
  }

  #end({ namespace = "", name }: ApiObject["metadata"]): void {
    this.#stop(`${namespace}/${name}`);
    this.server.remove(`${NAMESPACES}/${namespace}/pods`, name);
  }

  /** Ends the program of a pod. */
  #stop(key: string): void {
    const container = this.#containers.get(key);
    container?.replica.remove();
    this.#containers.delete(key);
    for (const reader of container?.readers ?? []) reader();
  }

  #delete(path: string, object: ApiObject): boolean {
    if (!path.startsWith(`${NAMESPACES}/`) || path.split("/").length !== 5) return false;
    const metadata = { ...object.metadata, deletionTimestamp: new Date().toISOString() };
    queueMicrotask(() => this.server.put(NAMESPACES, { ...object, metadata }));
    return true;
  }

  #event({ metadata: { namespace = "", name, uid } }: ApiObject, type: string, reason: string, message: string): void {
    const metadata = { name: `${name}.${++this.#count}`, namespace };
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const involvedObject = { kind: "Pod", namespace, name, uid };
    const event = { metadata, type, reason, message, count: 1, lastTimestamp: now, involvedObject };
    this.server.put(`${NAMESPACES}/${namespace}/events`, event as ApiObject);
  }

  /** Addresses of the ready pods that a service selects. */
  #backends(service: Body, port: number): string[] {
    const target = service.spec?.ports.find((each) => each.port === port)?.targetPort ?? 0;
    const pods = this.server
      .objects(`${NAMESPACES}/${service.metadata.namespace}/pods`)
      .filter(({ metadata }) =>
        Object.entries(service.spec?.selector ?? {}).every(([key, value]) => metadata.labels?.[key] === value),
      );
    return pods.flatMap(
      ({ metadata }) => this.#containers.get(`${metadata.namespace}/${metadata.name}`)?.replica.address(target) ?? [],
    );
  }

  #carry(): void {
    const leases = new Map<string, { hostPort: number; proto: "TCP" | "UDP"; host: string; backends: string[] }[]>();
    for (const service of this.server.objects("/api/v1/services") as Body[]) {
      if (service.spec?.type !== "NodePort") continue;
      const { namespace = "" } = service.metadata;
      const ports = service.spec.ports.map(({ port, nodePort, protocol }) => ({
        hostPort: nodePort,
        proto: protocol,
        host: this.#options.nodeAddress ?? "127.0.0.1",
        backends: this.#backends(service, port),
      }));
      leases.set(namespace, [...(leases.get(namespace) ?? []), ...ports]);
    }
    for (const [lease, ports] of leases) void this.#carrier.carry(lease, ports);
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const host = incoming.headers.host?.replace(/:\d+$/, "");
    const rules = (this.server.objects("/apis/networking.k8s.io/v1/ingresses") as Body[]).filter(
      ({ spec }) => spec?.rules[0].host === host,
    );
    const [rule] = rules;
    const target = rule?.spec?.rules[0].http.paths[0].backend.service;
    const service = this.server.find(`${NAMESPACES}/${rule?.metadata.namespace}/services/${target?.name}`);
    const [address] = service === undefined || target === undefined ? [] : this.#backends(service, target.port.number);
    if (address === undefined) return void outgoing.writeHead(404).end();
    const forwarded = request(`http://${address}${incoming.url}`, (answer) => {
      answer.pipe(outgoing.writeHead(answer.statusCode ?? 502));
    });
    forwarded.on("error", () => outgoing.writeHead(502).end()).end();
  }

  #version(response: ServerResponse, url: URL): boolean {
    if (url.pathname === "/version") send(response, 200, { gitVersion: "v1.34.0-double" });
    return url.pathname === "/version";
  }

  #log(response: ServerResponse, url: URL): boolean {
    const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log$/.exec(url.pathname) ?? [];
    if (name === undefined) return false;
    const container = this.#containers.get(`${namespace}/${name}`);
    if (container === undefined) {
      sendStatus(response, 404, "NotFound");
      return true;
    }
    const { searchParams: query } = url;
    const run = container.replica.runs - (query.get("previous") === "true" ? 1 : 0);
    const since = query.get("sinceTime") ?? "";
    const mine = () => container.lines.filter((line) => line.run === run && line.text >= since);
    const tail = query.get("tailLines");
    let shown = tail === null ? 0 : Math.max(0, mine().length - Number(tail));
    response.writeHead(200);
    response.flushHeaders();
    const write = (): void => {
      const lines = mine();
      for (; shown < lines.length; shown++) response.write(lines[shown]?.text);
      const isOver =
        !this.#containers.has(`${namespace}/${name}`) || container.replica.runs !== run || !container.replica.ready;
      if (query.get("follow") !== "true" || isOver) response.end();
    };
    container.readers.add(write);
    response.once("close", () => container.readers.delete(write));
    write();
    return true;
  }

  /** Each channel begins with the number of the port. */
  #connect(socket: WebSocket, url: URL): void {
    const [, namespace, name] = /\/namespaces\/([^/]+)\/pods\/([^/]+)\//.exec(url.pathname) ?? [];
    const port = Number(url.searchParams.get("ports"));
    for (const channel of [0, 1]) socket.send(Uint8Array.of(channel, port & 0xff, port >> 8));
    const [address] = this.#containers.get(`${namespace}/${name}`)?.replica.address(port) ?? [];
    const refuse = (why: string): void => {
      socket.send(Buffer.from(`\u0001${why}`));
      socket.close();
    };
    if (address === undefined) {
      refuse(`nothing listens at ${port}`);
      return;
    }
    const pod = connect(Number(address.split(":")[1]), "127.0.0.1");
    pod.on("data", (data) => socket.send(Buffer.concat([Uint8Array.of(0), data])));
    pod.on("error", ({ message }) => refuse(message)).once("end", () => socket.close());
    socket.on("message", (message: Buffer) => pod.write(message.subarray(1)));
    socket.once("close", () => pod.destroy());
  }

  async #exec(socket: WebSocket, url: URL): Promise<void> {
    const words = url.searchParams.getAll("command");
    const stop = new AbortController();
    const input = new LineQueue<Uint8Array>();
    if (url.searchParams.get("stdin") !== "true") input.end();
    socket.on("message", (message: Buffer) => {
      if (message[0] === 255) input.end();
      else if (message[0] === 0) void input.push(message.subarray(1));
    });
    const isKiller = words[2]?.startsWith("want=") === true;
    if (isKiller) {
      const victim = [...this.#sessions].find((each) => each.words.join(" ") === words.slice(4).join(" "));
      victim?.stop.abort();
    }
    const session = { words, stop };
    this.#sessions.add(session);
    const write = (stream: string, text: string) =>
      socket.send(Buffer.from(`${stream === "stdout" ? "\u0001" : "\u0002"}${text}`));
    const io = { write, input, env: new Map<string, string>(), signal: stop.signal };
    const code = isKiller ? 0 : await runProgram(words, io);
    this.#sessions.delete(session);
    const causes = [{ reason: "ExitCode", message: `${code}` }];
    const failed = { status: "Failure", reason: "NonZeroExitCode", details: { causes } };
    socket.send(Buffer.from(`\u0003${JSON.stringify(code === 0 ? { status: "Success" } : failed)}`));
    socket.close();
  }
}

function statusOf(state: object, ready: boolean, more: object) {
  return {
    phase: ready ? "Running" : "Pending",
    podIP: "127.0.0.1",
    conditions: [
      { type: "PodScheduled", status: "True" },
      { type: "Ready", status: ready ? "True" : "False" },
    ],
    containerStatuses: [{ name: "main", restartCount: 0, state, ...more }],
  };
}

function isReady({ status }: Body): boolean {
  return status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") === true;
}

/** Whether it has ended for good. */
function hasFailed({ status }: Body): boolean {
  return status?.phase === "Failed";
}

/** Whether two services can have one address. */
function canShare(one: Body, other: Body): boolean {
  const key = ({ metadata }: Body) => metadata.annotations?.["metallb.io/allow-shared-ip"];
  const ports = ({ spec }: Body) => (spec?.ports ?? []).map(({ port, protocol }) => `${port}/${protocol}`);
  return key(one) !== undefined && key(one) === key(other) && !ports(one).some((port) => ports(other).includes(port));
}

/** Clusters take a double sign for a plain one. */
function unescaped(text: string): string {
  return text.replaceAll("$$", () => "$");
}
