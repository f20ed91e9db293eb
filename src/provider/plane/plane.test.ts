import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../test/support/ports.ts";
import { type Logger, silentLogger } from "../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import { openAuthority } from "../certificates/index.ts";
import type { BackendRouting } from "../cluster/index.ts";
import type { IngressTls } from "../ingress/index.ts";
import { endPlane, PlaneLink, type PlaneSettings } from "./index.ts";
import { LOG_BYTES } from "./launch.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const id: LeaseKey = { owner: "svc1owner", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const HOST = "web.example.com";
const OPTIONS = {
  maxBodySize: 1 << 20,
  readTimeout: 60_000,
  sendTimeout: 60_000,
  nextTries: 3,
  nextTimeout: 0,
  nextCases: ["error", "timeout"],
  proxyBufferSize: 0,
};

let folder: string;
let main: string;
beforeAll(async () => {
  // Below node_modules, where the bundle finds the packages that stay outside of it.
  mkdirSync(join(ROOT, "node_modules", ".cache"), { recursive: true });
  folder = mkdtempSync(join(ROOT, "node_modules", ".cache", "plane-"));
  main = join(folder, "plane.mjs");
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/provider/plane/process.ts"],
    outfile: main,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "error",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A service whose replica says its name, holds websockets, and moves when told. */
class TestService {
  readonly stateDir = mkdtempSync(join(tmpdir(), "svc-plane-"));
  readonly lines: string[] = [];
  backends: readonly string[] = [];
  seen = true;
  tls: IngressTls | undefined;
  /** Milliseconds that its plane may be silent. */
  helloMs: number | undefined;
  /** Where an external ingress finds the routes. */
  routesFile: string | undefined;
  #listeners = new Set<(id: LeaseKey) => void>();
  readonly routing: BackendRouting = {
    ingress: "provider",
    backends: () => this.backends,
    isSeen: () => this.seen,
    watch: (listener) => {
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    },
  };

  readonly port: number;

  constructor(port: number) {
    this.port = port;
    onTestFinished(async () => {
      await endPlane(this.stateDir);
      rmSync(this.stateDir, { recursive: true, force: true });
    });
  }

  async link(identity = "one", nodeOptions: readonly string[] = []): Promise<PlaneLink> {
    const settings: PlaneSettings = {
      ingress: {
        host: "127.0.0.1",
        port: this.port,
        loopbackPorts: this.routesFile === undefined,
        connectionsPerAddress: 256,
        trustedProxies: [],
        forwardedFrom: [],
        ...(this.tls === undefined ? {} : { tls: this.tls }),
        ...(this.routesFile === undefined ? {} : { routesFile: this.routesFile }),
      },
    };
    const program = { command: process.execPath, args: [...nodeOptions, main, "data-plane", this.stateDir], identity };
    const write = (text: string) => void this.lines.push(text);
    const log: Logger = { ...silentLogger, info: write, error: write, warn: write, child: () => log };
    const link = await PlaneLink.open({
      ...{ stateDir: this.stateDir, settings, program, log },
      ...(this.helloMs === undefined ? {} : { helloMs: this.helloMs }),
    });
    onTestFinished(() => link.close());
    return link;
  }

  move(backends: readonly string[]): void {
    this.backends = backends;
    for (const listener of this.#listeners) listener(id);
  }

  pids(): number[] {
    const names = readdirSync(join(this.stateDir, "plane")).filter((name) => name.endsWith(".sock"));
    return names.map((name) => Number(name.replace(".sock", "")));
  }

  async page(agent?: Agent): Promise<string> {
    const asked = request({ host: "127.0.0.1", port: this.port, headers: { host: HOST }, ...(agent ? { agent } : {}) });
    const [answer] = (await once(asked.end(), "response")) as [IncomingMessage];
    let text = "";
    for await (const piece of answer) text += String(piece);
    return `${answer.statusCode} ${text}`;
  }
}

async function replica(name: string): Promise<string> {
  const server = createServer((_, response) => response.end(name));
  server.on("upgrade", (_, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    socket.on("data", (data) => socket.write(data)).on("error", () => {});
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

async function echo(): Promise<string> {
  const server = createTcpServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

async function said(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [data] = (await once(socket, "data")) as [Buffer];
  return String(data);
}

const services = [{ target: { lease: id, service: "web", port: 80, options: OPTIONS }, hosts: [HOST] }];

it("carries on without the daemon, and the next daemon finds it", async () => {
  const service = new TestService(await freePort());
  const link = await service.link();
  service.backends = [await replica("one")];
  const { web = 0 } = await link.router(service.routing).route(id, services, {});
  expect(await service.page()).toBe("200 one");
  expect(await (await fetch(`http://127.0.0.1:${web}/`)).text()).toBe("one");
  const [pid] = service.pids();
  await link.close();
  expect(await service.page()).toBe("200 one");
  const again = await service.link();
  await again.retain([formatLeaseId(id)], []);
  expect(service.pids()).toEqual([pid]);
  // A daemon that has not seen the lease yet takes nothing away.
  service.seen = false;
  service.backends = [];
  const router = again.router(service.routing);
  expect(await router.route(id, services, { web })).toEqual({ web });
  expect(await service.page()).toBe("200 one");
  service.seen = true;
  service.move([await replica("two")]);
  await expect.poll(() => service.page()).toBe("200 two");
  await router.unroute(id);
  expect(await service.page()).toMatch(/^404 /);
  await endPlane(service.stateDir);
  await expect(service.page()).rejects.toThrow(/ECONNREFUSED/);
});

it("is killed where it hangs and its folder's provider ends", async () => {
  const service = new TestService(await freePort());
  await service.link();
  const [pid = 0] = service.pids();
  process.kill(pid, "SIGSTOP");
  await endPlane(service.stateDir);
  await expect.poll(() => statSync(`/proc/${pid}`, { throwIfNoEntry: false })).toBeUndefined();
  await expect(service.page()).rejects.toThrow(/ECONNREFUSED/);
});

it("hands everything to another version without a lost request, and open connections stay", async () => {
  const service = new TestService(await freePort());
  const nodePort = await freePort();
  const link = await service.link("one");
  service.backends = [await replica("page")];
  const { web = 0 } = await link.router(service.routing).route(id, services, {});
  const backends = [await echo()];
  await link.carrier.carry("ns", [{ proto: "TCP", hostPort: nodePort, host: "127.0.0.1", backends }]);
  const before = service.pids();
  const tcp = connect(nodePort, "127.0.0.1");
  expect(await said(tcp, "before")).toBe("before");
  const websocket = connect(service.port, "127.0.0.1");
  const upgrade = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  expect(await said(websocket, upgrade)).toMatch(/^HTTP\/1.1 101 /);
  await link.close();

  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  onTestFinished(() => agent.destroy());
  let going = true;
  const wrong: string[] = [];
  let right = 0;
  const client = async (own?: Agent): Promise<void> => {
    while (going) {
      const answer = await service.page(own).catch((error: Error) => error.message);
      if (answer === "200 page") right++;
      else wrong.push(answer);
    }
  };
  const clients = [client(agent), client(agent), client(), client()];
  await service.link("two");
  const during = right;
  await expect.poll(() => right, { timeout: 30_000 }).toBeGreaterThan(during + 50);
  going = false;
  await Promise.all(clients);
  expect(wrong).toEqual([]);
  expect(service.pids()).toHaveLength(1);
  expect(service.pids()).not.toEqual(before);
  expect(await said(tcp, "after")).toBe("after");
  expect(await said(websocket, "after")).toBe("after");
  const fresh = connect(nodePort, "127.0.0.1");
  expect(await said(fresh, "fresh")).toBe("fresh");
  expect(await (await fetch(`http://127.0.0.1:${web}/`)).text()).toBe("page");
  for (const socket of [tcp, websocket, fresh]) socket.destroy();
});

it("answers an ACME server for as long as it is told", async () => {
  const service = new TestService(await freePort());
  const link = await service.link("one");
  await link.retain([], []);
  const { challenges } = link;
  const ask = async () => {
    const path = "/.well-known/acme-challenge/token";
    const asked = request({ host: "127.0.0.1", port: service.port, path, headers: { host: HOST }, agent: false });
    const [answer] = (await once(asked.end(), "response")) as [IncomingMessage];
    return answer.resume().statusCode;
  };
  await challenges.show("token", "answer");
  expect(await ask()).toBe(200);
  await challenges.hide("token");
  expect(await ask()).toBe(404);
});

it("loses no connection that comes while the program of the next plane is loaded", async () => {
  const service = new TestService(await freePort());
  const link = await service.link("one");
  service.backends = [await replica("page")];
  await link.router(service.routing).route(id, services, {});
  await link.close();
  let going = true;
  const pages = new Set<string>();
  const client = async () => {
    while (going) pages.add(await service.page(new Agent()).catch((error: Error) => error.message));
  };
  const working = [client(), client()];
  await service.link("two", ["--import", "data:text/javascript,await new Promise((done) => setTimeout(done, 500))"]);
  going = false;
  // One that is lost is not answered before the plane that has it ends.
  await Promise.all(working);
  expect(pages).toEqual(new Set(["200 page"]));
});

it("hands TLS over too, and takes up a certificate with the routes of its host", async () => {
  const service = new TestService(await freePort());
  const folders = ["authority", "certificates"].map((name) => join(service.stateDir, name));
  const [place = "", certificates = ""] = folders;
  const { chain, key } = await (await openAuthority(place)).issue(HOST, new AbortController().signal);
  const ca = readFileSync(join(place, "ca.crt"));
  mkdirSync(certificates);
  service.tls = { host: "127.0.0.1", port: await freePort(), folders: [certificates], redirect: false };
  const { port } = service.tls;
  const link = await service.link("one");
  service.backends = [await replica("page")];
  writeFileSync(join(certificates, "app.pem"), chain + key, { mode: 0o600 });
  await link.router(service.routing).route(id, services, {});
  const page = async (): Promise<string> => {
    const options = { host: "127.0.0.1", port, ca, servername: HOST, headers: { host: HOST }, agent: false };
    const [answer] = (await once(httpsRequest(options).end(), "response")) as [IncomingMessage];
    let text = "";
    for await (const piece of answer) text += String(piece);
    return text;
  };
  expect(await page()).toBe("page");
  let going = true;
  const pages: string[] = [];
  const client = async () => {
    while (going) {
      pages.push(await page().catch((error: Error) => error.message));
      // Slower than the allowance for handshakes.
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  };
  const working = client();
  await link.close();
  await service.link("two");
  const during = pages.length;
  await expect.poll(() => pages.length, { timeout: 30_000 }).toBeGreaterThan(during + 3);
  going = false;
  await working;
  expect(new Set(pages)).toEqual(new Set(["page"]));
  expect(service.pids()).toHaveLength(1);
});

it("is started again with all it was told when it ends", async () => {
  const service = new TestService(await freePort());
  const nodePort = await freePort();
  const link = await service.link();
  service.backends = [await replica("page")];
  await link.router(service.routing).route(id, services, {});
  const backends = [await echo()];
  await link.carrier.carry("ns", [{ proto: "TCP", hostPort: nodePort, host: "127.0.0.1", backends }]);
  const [pid = 0] = service.pids();
  process.kill(pid, "SIGKILL");
  await expect.poll(() => service.page().catch(() => ""), { timeout: 30_000 }).toBe("200 page");
  await expect
    .poll(
      async () => {
        const socket = connect(nodePort, "127.0.0.1").on("error", () => {});
        return said(socket, "x").catch(() => "");
      },
      { timeout: 30_000 },
    )
    .toBe("x");
  expect(service.pids()).not.toContain(pid);
});

it("is replaced where it hangs while its provider runs", async () => {
  const service = new TestService(await freePort());
  service.helloMs = 2_000;
  const link = await service.link();
  service.backends = [await replica("page")];
  await link.router(service.routing).route(id, services, {});
  const [pid = 0] = service.pids();
  process.kill(pid, "SIGSTOP");
  await expect.poll(() => service.page().catch(() => ""), { timeout: 60_000 }).toBe("200 page");
  expect(service.pids()).not.toContain(pid);
});

it("tells nobody that a host name is unknown while leases may still come, or while it is started again", async () => {
  const service = new TestService(await freePort());
  const link = await service.link();
  expect(await service.page()).toMatch(/^503 .*the provider is still starting/);
  service.backends = [await replica("page")];
  await link.router(service.routing).route(id, services, {});
  await link.retain([formatLeaseId(id)], []);
  const seen = new Set<string>();
  let going = true;
  const visits = (async () => {
    while (going) seen.add(await service.page().catch(() => "nothing listens"));
  })();
  process.kill(service.pids()[0] ?? 0, "SIGKILL");
  await expect.poll(() => seen, { timeout: 30_000 }).toContain("nothing listens");
  await expect.poll(() => service.page().catch(() => ""), { timeout: 30_000 }).toBe("200 page");
  going = false;
  await visits;
  expect([...seen].filter((page) => page.startsWith("404"))).toEqual([]);
  await link.close();
  expect(service.pids()).toHaveLength(1);
});

it("is started again with what an earlier daemon had told it and this one does not know", async () => {
  const service = new TestService(await freePort());
  const link = await service.link();
  service.backends = [await replica("page")];
  const { web = 0 } = await link.router(service.routing).route(id, services, {});
  await link.close();
  await service.link();
  process.kill(service.pids()[0] ?? 0, "SIGKILL");
  await expect.poll(() => service.page().catch(() => ""), { timeout: 30_000 }).toBe("200 page");
  expect(await (await fetch(`http://127.0.0.1:${web}/`)).text()).toBe("page");
});

it("forgets what was dropped when it is started again", async () => {
  const service = new TestService(await freePort());
  const link = await service.link();
  service.backends = [await replica("page")];
  await link.router(service.routing).route(id, services, {});
  await link.retain([], []);
  process.kill(service.pids()[0] ?? 0, "SIGKILL");
  await expect.poll(() => service.page().catch(() => ""), { timeout: 30_000 }).toMatch(/^404 /);
});

it("publishes routes for an external ingress, opens no port for it, and takes the port back", async () => {
  const service = new TestService(await freePort());
  const path = join(service.stateDir, "ingress", "routes.yaml");
  const link = await service.link("one");
  service.backends = [await replica("page")];
  await link.router(service.routing).route(id, services, {});
  await link.close();
  service.routesFile = path;
  const external = await service.link("two");
  const urls = () => {
    const { loadBalancer } = JSON.parse(readFileSync(path, "utf8")).http.services[HOST] ?? {};
    return loadBalancer?.servers?.map(({ url }: { url: string }) => url);
  };
  expect(urls()).toEqual([`http://${service.backends[0]}`]);
  await expect.poll(() => service.page().catch((error: Error) => error.message)).toMatch(/ECONNREFUSED/);
  const router = external.router(service.routing);
  expect(router.notKept?.({ ...OPTIONS, sendTimeout: 1 })).toEqual(["send_timeout"]);
  await router.route(id, services, {});
  service.move(["127.0.0.1:1", "127.0.0.1:2"]);
  await expect.poll(urls).toEqual(["http://127.0.0.1:1", "http://127.0.0.1:2"]);
  const [pid = 0] = service.pids();
  process.kill(pid, "SIGKILL");
  await expect.poll(() => service.pids().some((each) => each !== pid), { timeout: 30_000 }).toBe(true);
  expect(urls()).toHaveLength(2);
  await external.close();
  service.routesFile = undefined;
  service.backends = [await replica("page")];
  const own = await service.link("three");
  await own.router(service.routing).route(id, services, {});
  expect(await service.page()).toBe("200 page");
  await own.close();
});

it("makes its socket again when that was removed, and ends when the provider's folder has gone", async () => {
  const service = new TestService(await freePort());
  const link = await service.link();
  const [pid = 0] = service.pids();
  const socket = join(service.stateDir, "plane", `${pid}.sock`);
  unlinkSync(socket);
  await expect.poll(() => existsSync(socket), { timeout: 30_000 }).toBe(true);
  rmSync(join(service.stateDir, "plane"), { recursive: true });
  await expect.poll(() => existsSync(socket), { timeout: 30_000 }).toBe(true);
  await link.close();
  expect(await (await service.link()).port()).toBe(service.port);
  expect(service.pids()).toEqual([pid]);
  rmSync(service.stateDir, { recursive: true });
  await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
});

it("says that the port for TLS is taken", async () => {
  const service = new TestService(await freePort());
  const other = createTcpServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  service.tls = { host: "127.0.0.1", port, folders: [], redirect: false };
  await expect(service.link()).rejects.toMatchObject({
    message: expect.stringContaining(`cannot listen on 127.0.0.1:${port}: `),
    hint: "stop it, or choose another port with --ingress-tls-listen-address",
  });
});

it("says which port is taken", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  await expect(new TestService(port).link()).rejects.toMatchObject({
    message: expect.stringContaining(`cannot listen on 127.0.0.1:${port}: `),
    hint: "stop it, or choose another port with --ingress-listen-address",
  });
});

it("begins its log again when that is large", async () => {
  const service = new TestService(await freePort());
  const router = (await service.link()).router(service.routing);
  const log = join(service.stateDir, "plane", "plane.log");
  appendFileSync(log, "x".repeat(LOG_BYTES + 1));
  await router.route(id, services, {});
  await router.unroute(id);
  expect(readFileSync(log, "utf8")).toMatch(/^I\[.*lease no longer routed/);
});

it("drops what belongs to leases that nobody knows", async () => {
  const service = new TestService(await freePort());
  const link = await service.link();
  service.backends = [await replica("page")];
  await link.router(service.routing).route(id, services, {});
  await link.retain([], []);
  expect(await service.page()).toMatch(/^404 /);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it("is given nothing of the daemon's environment that it does not need", async () => {
  process.env.SVC_KEYRING_PASSWORD = "a secret of the operator";
  onTestFinished(() => {
    delete process.env.SVC_KEYRING_PASSWORD;
  });
  const service = new TestService(await freePort());
  await service.link();
  const environment = readFileSync(`/proc/${service.pids()[0]}/environ`, "utf8").split("\0");
  expect(environment.join("\n")).not.toContain("secret");
  expect(environment).toContain("SVC_DATA_PLANE=1");
  expect(environment).toContain(`PATH=${process.env.PATH}`);
});
