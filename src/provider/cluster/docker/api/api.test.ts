import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { EngineApi } from "./api.ts";
import { discoverEngine } from "./discover.ts";
import { EngineFailure } from "./failure.ts";

const PATIENCE = { call: 5000, work: 5000 };
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** An engine that answers every request with status 200 and this body; with none it never answers. */
async function engineThatSays(
  body: string | Buffer | undefined,
  patience = PATIENCE,
  asked: (url: string) => void = () => {},
  headers: Readonly<Record<string, string>> = {},
): Promise<EngineApi> {
  const server = createServer(({ url = "" }, response) => {
    asked(url);
    response.writeHead(200, headers);
    if (body !== undefined) response.end(body);
  }).listen(0, "127.0.0.1");
  closers.push(() => server.close().closeAllConnections());
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return EngineApi.open(`tcp://127.0.0.1:${address.port}`, patience);
}

async function logOf(api: EngineApi): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await api.logs("c1", { follow: false, tail: -1 })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("what an engine says about itself", () => {
  it.each([
    ["Libpod/4.3.1 (linux)", { kind: "podman", version: "4.3.1", api: "1.41" }],
    ["Docker/20.10.24+dfsg1 (linux)", { kind: "docker", version: "20.10.24+dfsg1", api: "1.41" }],
  ])("names it in the headers of a ping: %s", async (name, expected) => {
    const urls: string[] = [];
    const headers = { server: name, "api-version": "1.41" };
    const api = await engineThatSays("OK", PATIENCE, (url) => urls.push(url), headers);
    expect(await api.ping()).toEqual(expected);
    expect(urls).toEqual(["/_ping"]);
  });

  it("names it in its version where a proxy leaves the header out", async () => {
    const version = { Version: "5.1", ApiVersion: "1.43", Components: [{ Name: "Podman Engine" }] };
    const api = await engineThatSays(JSON.stringify(version));
    expect(await api.ping()).toEqual({ kind: "podman", version: "5.1", api: "1.43" });
  });

  it.each([
    ["x86_64", "amd64"],
    ["aarch64", "arm64"],
    ["arm64", "arm64"],
  ])("has the architecture of images: %s is %s", async (Architecture, expected) => {
    expect(await (await engineThatSays(JSON.stringify({ Architecture }))).info()).toMatchObject({
      architecture: expected,
    });
  });

  it("is asked once a minute, because Podman looks through the system's packages for it", async () => {
    const urls: string[] = [];
    const api = await engineThatSays("{}", PATIENCE, (url) => urls.push(url));
    await Promise.all([api.info(), api.info()]);
    await api.info();
    expect(urls).toEqual(["/info"]);
    api.forgetInfo();
    await api.info();
    expect(urls).toHaveLength(2);
  });

  it("is asked again after a failure", async () => {
    const urls: string[] = [];
    const api = await engineThatSays(undefined, { call: 50, work: 50 }, (url) => urls.push(url));
    await expect(api.info()).rejects.toThrow(EngineFailure);
    await expect(api.info()).rejects.toThrow(EngineFailure);
    expect(urls).toHaveLength(2);
  });
});

describe("the log of a container", () => {
  it("is the bytes that the engine sent", async () => {
    const frame = Buffer.from([1, 0, 0, 0, 0, 0, 0, 2, 0x68, 0x69]);
    expect(await logOf(await engineThatSays(frame))).toEqual(frame);
    expect(await logOf(await engineThatSays(""))).toHaveLength(0);
  });

  it.each([
    [-1, null],
    [0, "0"],
    [5, "5"],
  ])("from %i lines before its end is asked for so", async (tail, asked) => {
    const urls: string[] = [];
    const api = await engineThatSays("", PATIENCE, (url) => urls.push(url));
    (await api.logs("c1", { follow: false, tail })).resume();
    expect(urls.map((url) => new URL(url, "http://engine").searchParams.get("tail"))).toEqual([asked]);
  });

  it.each([
    ['{"cause":"no such container","message":"no container with id c1: no such container"}', "notFound"],
    ['{"message":"open ctr.log: permission denied"}', "refused"],
    ["17", "refused"],
  ])("is an error where the engine sent %s as a success", async (body, kind) => {
    const failure = await logOf(await engineThatSays(body)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EngineFailure);
    expect(failure).toMatchObject({ kind, message: expect.stringMatching(/^the container engine sent no log: /) });
  });
});

it("a container is made by a body: engines write addresses of calls into their logs", async () => {
  const urls: string[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    urls.push(request.url ?? "");
    bodies.push(await text(request));
    response.writeHead(201).end('{"Id": "c1"}');
  }).listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api = await EngineApi.open(`tcp://127.0.0.1:${port}`, PATIENCE);
  expect(await api.create({ name: "web", Image: "image", Env: ["TOKEN=secret"] })).toBe("c1");
  expect(urls).toEqual(["/containers/create?name=web"]);
  expect(bodies.map((each) => JSON.parse(each))).toEqual([{ Image: "image", Env: ["TOKEN=secret"] }]);
});

it.each([
  { DOCKER_HOST: "tcp://127.0.0.1:1" },
  { DOCKER_HOST: "tcp://127.0.0.1:2376" },
  { DOCKER_HOST: "tcp://127.0.0.1:1", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/nonexistent" },
  { DOCKER_HOST: "ssh://me@127.0.0.1:1" },
  { DOCKER_HOST: "::bad::" },
])("a socket that is named is asked, whatever the environment says: %j", async (env) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-engine-socket-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const socket = join(folder, "engine.sock");
  const server = createServer((_, response) => response.end('{"Version": "1"}')).listen(socket);
  closers.push(() => server.close());
  await once(server, "listening");
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  closers.push(() => vi.unstubAllEnvs());
  expect(await (await EngineApi.open(socket, PATIENCE)).ping()).toMatchObject({ version: "1" });
  expect(process.env).toMatchObject(env);
});

it.each(["tcp://127.0.0.1", "TCP://127.0.0.1", "http://127.0.0.1", "127.0.0.1"])(
  "an engine is found at %s with its port",
  async (host) => {
    const server = createServer((_, response) => response.end('{"Version": "1"}')).listen(0, "127.0.0.1");
    closers.push(() => server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(await discoverEngine(undefined, { DOCKER_HOST: `${host}:${port}` })).toMatchObject({ version: "1" });
  },
);

it.each(["https://127.0.0.1:2376", "ssh://me@host", "npipe:////./pipe/docker_engine"])(
  "no engine is at %s",
  async (at) => {
    await expect(discoverEngine(at, {})).rejects.toThrow("an engine is reached by unix://, tcp:// or http:// alone");
  },
);

it("an engine that closes a connection after its answer is asked over another one", async () => {
  const answered = new WeakSet<object>();
  const server = createServer(({ socket }, response) => {
    // The answer does not tell that the connection ends, as an engine at its idle limit does not.
    if (answered.has(socket)) socket.destroy();
    answered.add(socket);
    response.end("[]");
  }).listen(0, "127.0.0.1");
  closers.push(() => server.close().closeAllConnections());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api = await EngineApi.open(`tcp://127.0.0.1:${port}`, PATIENCE);
  for (let calls = 0; calls < 3; calls++) expect(await api.listContainers({})).toEqual([]);
});

it("an engine, or a proxy before it, that leads elsewhere is not followed", async () => {
  const server = createServer((_, response) => response.writeHead(301, { location: "http://127.0.0.1:1/" }).end());
  closers.push(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const api = await EngineApi.open(`tcp://127.0.0.1:${port}`, PATIENCE);
  await expect(api.listContainers({})).rejects.toMatchObject({ kind: "unreachable" });
});

it.each([200, 409])(
  "a command whose connection is not carried on is refused, and leaves no socket: %i",
  async (status) => {
    const server = createServer(({ url }, response) =>
      response.end(url === "/containers/c1/exec" ? '{"Id": "e1"}' : ""),
    );
    server.on("upgrade", (_, socket) => socket.end(`HTTP/1.1 ${status} Status\r\ncontent-length: 0\r\n\r\n`));
    closers.push(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const api = await EngineApi.open(`tcp://127.0.0.1:${port}`, PATIENCE);
    const call = api.exec("c1", { command: ["sh"], tty: false, stdin: true });
    await expect(call).rejects.toMatchObject({ kind: "refused" });
    await expect.poll(() => promisify(server.getConnections.bind(server))()).toBe(0);
  },
);

it("containers are listed also where Podman cannot describe one", async () => {
  const server = createServer(({ url = "" }, response) => {
    const isOwn =
      url.startsWith("/v4.0.0/libpod/containers/json?") && decodeURIComponent(url).includes('{"label":["a=b"]}');
    response.writeHead(isOwn ? 200 : 500);
    response.end(
      isOwn ? '[{"Id": "c1", "Labels": {"a": "b"}}]' : '{"message": "getting graph driver info: no such file"}',
    );
  }).listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api = await EngineApi.open(`tcp://127.0.0.1:${port}`, PATIENCE);
  expect(await api.listContainers({ a: "b" })).toEqual([{ id: "c1", labels: { a: "b" } }]);
  await expect(api.listContainers({ a: "c" })).rejects.toMatchObject({ kind: "refused" });
});

it.each([
  ["whose length was told", { "content-length": "100" }, 200],
  ["in pieces", {}, 200],
  ["about a fault", { "content-length": "100" }, 500],
])("an answer that breaks off is waited for no longer: one %s", async (_, headers, status) => {
  const server = createServer((_request, response) => {
    response.writeHead(status, headers).write('{"Id": "c1"');
    setTimeout(() => response.destroy(), 10);
  }).listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api = await EngineApi.open(`tcp://127.0.0.1:${port}`, { call: 300_000, work: 300_000 });
  await expect(api.inspect("c1")).rejects.toMatchObject({ kind: "unreachable" });
  await expect(api.create({ Image: "image" })).rejects.toMatchObject({ kind: "unreachable" });
});

it.each<[string, (api: EngineApi) => Promise<unknown>]>([
  ["create", (api) => api.create({ Image: "image" })],
  ["start", (api) => api.start("c1")],
  ["stop", (api) => api.stop("c1", 0)],
  ["remove", (api) => api.remove("c1")],
  ["inspect", (api) => api.inspect("c1")],
  ["remove an image", (api) => api.removeImage("image:1")],
])("an engine that hangs is not waited for for ever: %s", async (_, call) => {
  const api = await engineThatSays(undefined, { call: 50, work: 50 });
  await expect(call(api)).rejects.toMatchObject({ kind: "unreachable" });
});

it("is waited for where it is named and slow, and passed over where it is one of several", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-slow-engine-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "podman"));
  const socket = join(folder, "podman", "podman.sock");
  const server = createServer((_, response) => {
    setTimeout(() => response.end(JSON.stringify({ Version: "1" })), 500);
  }).listen(socket);
  closers.push(() => server.close());
  await once(server, "listening");
  const patience = { usual: 20, named: 30_000 };
  expect(await discoverEngine(socket, {}, patience)).toMatchObject({ socket, version: "1" });
  expect(await discoverEngine(undefined, { DOCKER_HOST: socket }, patience)).toMatchObject({ socket });
  // This machine may have its own engine.
  const found = await discoverEngine(undefined, { XDG_RUNTIME_DIR: folder }, patience).catch(() => undefined);
  expect(found?.socket).not.toBe(socket);
});
