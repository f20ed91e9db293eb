import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { ApiAccess, Credentials } from "../../../src/provider/cluster/kubernetes/access/access.ts";
import { fixedCredentials } from "../../../src/provider/cluster/kubernetes/access/credentials.ts";
import { KubernetesApi } from "../../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiLimits } from "../../../src/provider/cluster/kubernetes/api/limits.ts";
import type { ApiObject } from "../../../src/provider/cluster/kubernetes/api/objects.ts";

/** Answers a request itself where it returns true. */
type Interceptor = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

interface Watcher {
  readonly url: URL;
  readonly response: ServerResponse;
}

/** Decides over the deletion of an object where it returns true: the object stays until the test removes it. */
type Deleter = (path: string, object: ApiObject) => boolean;

/**
 * A small API server in this process: objects of any kind with versions, lists by pages, watches, apply and delete with
 * preconditions. Logs and commands are the test's to answer.
 */
export class TestApiServer {
  readonly #server: Server;
  readonly #scheme: string;
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false });
  readonly #connections = new Set<Duplex>();
  readonly #objects = new Map<string, ApiObject>();
  readonly #watchers = new Set<Watcher>();
  #version = 0;
  /** `METHOD path` of every request. */
  readonly requests: string[] = [];
  intercept: Interceptor = () => false;
  deleter: Deleter = () => false;
  /** Called after every change of an object. */
  changed: (path: string) => void = () => {};
  /** Behaviour of a command in a container, and of a connection to a port of a pod. */
  command: (socket: WebSocket, url: URL) => void = (socket) => socket.close();
  /** The whole raw answer to commands, instead of a connection. */
  refusal: string | undefined;
  /** Rights of accounts, in the server's form. */
  rules: readonly object[] = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  /** Versions below are forgotten. */
  oldest = 0;

  private constructor(tls?: ServerOptions) {
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    this.#scheme = tls === undefined ? "http" : "https";
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
    this.#server.on(tls === undefined ? "connection" : "secureConnection", (socket: Duplex) => {
      this.#connections.add(socket);
      socket.on("error", () => {}).once("close", () => this.#connections.delete(socket));
    });
    this.#server.on("upgrade", (request, socket, head) => {
      const url = new URL(request.url ?? "/", "http://server");
      this.requests.push(`EXEC ${url.pathname}`);
      if (this.refusal !== undefined) return socket.end(this.refusal);
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.command(opened, url));
    });
  }

  static async start(tls?: ServerOptions): Promise<TestApiServer> {
    const server = new TestApiServer(tls);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get address(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  access(credentials: Credentials = fixedCredentials({})): ApiAccess {
    return { server: new URL(this.address), tls: {}, credentials };
  }

  client(limits: Partial<ApiLimits> = {}): KubernetesApi {
    return new KubernetesApi(this.access(), { pauseMs: 10, maxPauseMs: 20, ...limits });
  }

  get connections(): number {
    return this.#connections.size;
  }

  get watches(): number {
    return this.#watchers.size;
  }

  /** Objects under a collection, of all namespaces where it names none. */
  objects(collection: string): ApiObject[] {
    return [...this.#objects].filter(([path]) => isIn(collection, path)).map(([, object]) => object);
  }

  /** Paths of all objects. */
  paths(): string[] {
    return [...this.#objects.keys()];
  }

  find(path: string): ApiObject | undefined {
    return this.#objects.get(path);
  }

  /** Puts an object under its collection (`/api/v1/namespaces/a/pods`). */
  put(collection: string, object: ApiObject): ApiObject {
    const path = `${collection}/${object.metadata.name}`;
    const known = this.#objects.get(path);
    const uid = known?.metadata.uid ?? `uid-${this.#version}`;
    const version = { resourceVersion: String(++this.#version), managedFields: [{}] };
    const creationTimestamp = Object(known?.metadata).creationTimestamp ?? new Date().toISOString();
    const metadata = { creationTimestamp, ...object.metadata, ...version, uid };
    const kept: ApiObject = { ...object, metadata };
    this.#objects.set(path, kept);
    this.#tell(path, known === undefined ? "ADDED" : "MODIFIED", kept);
    return kept;
  }

  remove(collection: string, name: string): void {
    const path = `${collection}/${name}`;
    const known = this.#objects.get(path);
    if (known === undefined) return;
    this.#objects.delete(path);
    const metadata = { ...known.metadata, resourceVersion: String(++this.#version) };
    this.#tell(path, "DELETED", { ...known, metadata });
  }

  /** Says something into every watch of the collection. */
  say(line: string | Uint8Array): void {
    for (const { response } of this.#watchers) response.write(line);
  }

  /** Ends all watches, by their end or by cutting their connections. */
  endWatches(how: "end" | "cut"): void {
    for (const watcher of this.#watchers) {
      const { response } = watcher;
      this.#watchers.delete(watcher);
      if (how === "end") response.end();
      else response.destroy();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    for (const socket of this.#sockets.clients) socket.terminate();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://server");
    const isWatch = url.searchParams.get("watch") === "true";
    this.requests.push(`${isWatch ? "WATCH" : request.method} ${url.pathname}`);
    if (this.intercept(request, response, url)) return;
    let text = "";
    for await (const part of request) text += part;
    const body = text === "" ? {} : JSON.parse(text);
    if (request.method === "POST" && url.pathname.endsWith("reviews"))
      return send(response, 201, { status: { resourceRules: this.rules } });
    if (request.method === "POST") return this.#create(response, url.pathname, body);
    if (request.method === "PATCH" && url.pathname.endsWith("/status"))
      return this.#observe(response, url.pathname.slice(0, -"/status".length), body);
    if (request.method === "PATCH") return this.#apply(response, url.pathname, body);
    if (request.method === "DELETE") return this.#delete(response, url.pathname, body);
    if (isWatch) return this.#watch(response, url);
    const object = this.#objects.get(url.pathname);
    if (object !== undefined) send(response, 200, object);
    else if (isCollection(url.pathname)) this.#list(response, url);
    else sendStatus(response, 404, "NotFound");
  }

  #create(response: ServerResponse, collection: string, body: ApiObject): void {
    if (this.#objects.has(`${collection}/${body.metadata.name}`)) sendStatus(response, 409, "AlreadyExists");
    else send(response, 201, this.put(collection, { ...body, metadata: { ...body.metadata, generation: 1 } }));
  }

  #apply(response: ServerResponse, path: string, body: ApiObject): void {
    const known: ApiObject & { spec?: unknown; status?: unknown } = this.#objects.get(path) ?? body;
    const { deletionTimestamp, generation = 0, uid } = known.metadata;
    const collection = path.slice(0, path.lastIndexOf("/"));
    if (body.metadata.uid !== undefined && (known === body || body.metadata.uid !== uid)) {
      sendStatus(response, 409, "Conflict");
      return;
    }
    const isSame = JSON.stringify(known.spec) === JSON.stringify(Object(body).spec) && known !== body;
    const metadata = {
      ...body.metadata,
      generation: isSame ? generation : generation + 1,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    };
    const object = { ...body, metadata, ...(known.status === undefined ? {} : { status: known.status }) };
    send(response, 200, this.put(collection, object));
    // With its last finalizer an object that is being deleted goes.
    const { finalizers } = known.metadata;
    if (deletionTimestamp !== undefined && finalizers !== undefined && metadata.finalizers === undefined)
      this.remove(collection, metadata.name);
  }

  #observe(response: ServerResponse, path: string, body: object): void {
    const known = this.#objects.get(path);
    const { status }: { status?: object } = body;
    if (known === undefined) sendStatus(response, 404, "NotFound");
    else send(response, 200, this.put(path.slice(0, path.lastIndexOf("/")), { ...known, status } as ApiObject));
  }

  #delete(response: ServerResponse, path: string, body: { preconditions?: { uid?: string } }): void {
    const known = this.#objects.get(path);
    if (known === undefined) {
      sendStatus(response, 404, "NotFound");
      return;
    }
    const { uid } = body.preconditions ?? {};
    if (uid !== undefined && uid !== known.metadata.uid) {
      sendStatus(response, 409, "Conflict");
      return;
    }
    const collection = path.slice(0, path.lastIndexOf("/"));
    const isHeld = (known.metadata.finalizers ?? []).length > 0;
    if (isHeld) {
      const metadata = { ...known.metadata, deletionTimestamp: new Date().toISOString() };
      this.put(collection, { ...known, metadata });
    } else if (!this.deleter(path, known)) this.remove(collection, known.metadata.name);
    send(response, 200, { kind: "Status", status: "Success" });
  }

  #list(response: ServerResponse, url: URL): void {
    const objects = this.#selected(url);
    const from = Number(url.searchParams.get("continue") ?? 0);
    const limit = Number(url.searchParams.get("limit") ?? objects.length);
    const next = from + limit < objects.length ? String(from + limit) : "";
    const metadata = { resourceVersion: String(this.#version), continue: next };
    send(response, 200, { kind: "List", metadata, items: objects.slice(from, from + limit) });
  }

  #selected(url: URL): ApiObject[] {
    return this.objects(url.pathname).filter((object) => isSelected(url, object));
  }

  #watch(response: ServerResponse, url: URL): void {
    const version = Number(url.searchParams.get("resourceVersion"));
    response.writeHead(200, { "content-type": "application/json" });
    if (version < this.oldest) {
      const object = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
      response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
      return;
    }
    const missed = this.#selected(url).filter(({ metadata }) => Number(metadata.resourceVersion) > version);
    for (const object of missed) response.write(`${JSON.stringify({ type: "MODIFIED", object })}\n`);
    response.flushHeaders();
    const watcher = { url, response };
    this.#watchers.add(watcher);
    response.once("close", () => this.#watchers.delete(watcher));
  }

  #tell(path: string, type: string, object: ApiObject): void {
    for (const { url, response } of this.#watchers) {
      if (isIn(url.pathname, path) && isSelected(url, object)) response.write(`${JSON.stringify({ type, object })}\n`);
    }
    this.changed(path);
  }
}

/** Whether an object is in a collection; a collection without a namespace covers all namespaces. */
function isIn(collection: string, path: string): boolean {
  const folder = path.slice(0, path.lastIndexOf("/"));
  return folder === collection || folder.replace(/\/namespaces\/[^/]+(?=\/)/, "") === collection;
}

/** Whether it has all labels that are asked for; a key alone asks for any value. */
function isSelected(url: URL, { metadata: { labels = {} } }: ApiObject): boolean {
  const wanted = (url.searchParams.get("labelSelector") ?? "").split(",").filter((each) => each !== "");
  return wanted.every((each) => {
    const [key = "", value] = each.split("=");
    return value === undefined ? key in labels : labels[key] === value;
  });
}

/** Collections have an even number of segments after the version, or one. */
function isCollection(path: string): boolean {
  const words = path.split("/").slice(path.startsWith("/apis/") ? 4 : 3);
  return words.length === 1 || words.length === 3;
}

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  headers: Record<string, string> = {},
): void {
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `told: ${reason}` };
  send(response, code, body, headers);
}
