import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { DEFAULT_HTTP_OPTIONS, type HttpOptions } from "../../../sdl/index.ts";
import { silentLogger } from "../../../util/index.ts";
import { openAuthority } from "../../certificates/index.ts";
import { dynamicConfiguration, optionsNotKept } from "./configuration.ts";
import { PACE_MS, RoutesFile, SETTLE_MS } from "./routes-file.ts";

const LEASE = { owner: "svc1tenant", dseq: 7n, gseq: 1, oseq: 1, provider: "svc1provider" };
const OTHER = { ...LEASE, dseq: 8n };
const TWO = ["10.0.0.2:80", "10.0.0.3:80"];

function target(options: Partial<HttpOptions> = {}, lease = LEASE) {
  return { lease, service: "web", port: 80, options: { ...DEFAULT_HTTP_OPTIONS, ...options } };
}

function retryOf(options: Partial<HttpOptions>, backends = TWO): unknown {
  const { http } = dynamicConfiguration([{ host: "a.example", target: target(options), backends }], []);
  return http.middlewares?.["a.example"];
}

it("has for each host name a router and a service, and the same for gRPC", () => {
  const route = { host: "a.example", target: target({ readTimeout: 2_000 }), backends: ["10.0.0.2:80"] };
  expect(dynamicConfiguration([route], [])).toEqual({
    http: {
      routers: {
        "a.example": { rule: "Host(`a.example`)", service: "a.example" },
        "grpc/a.example": {
          rule: "Host(`a.example`) && HeaderRegexp(`Content-Type`, `(?i)^application/grpc([+;]|$)`)",
          service: "grpc/a.example",
        },
      },
      services: {
        none: { loadBalancer: { passHostHeader: true } },
        "a.example": { loadBalancer: { servers: [{ url: "http://10.0.0.2:80" }], serversTransport: "a.example" } },
        "grpc/a.example": { loadBalancer: { servers: [{ url: "h2c://10.0.0.2:80" }], serversTransport: "a.example" } },
      },
      serversTransports: {
        "a.example": { forwardingTimeouts: { dialTimeout: "5000ms", responseHeaderTimeout: "2000ms" } },
      },
    },
  });
});

it("retries as the tenant wishes, at most once at each replica", () => {
  expect(retryOf({})).toEqual({ retry: { attempts: 2 } });
  expect(retryOf({ nextTries: 1 })).toBeUndefined();
  expect(retryOf({}, ["10.0.0.2:80"])).toBeUndefined();
  expect(retryOf({ nextCases: ["off"] })).toBeUndefined();
  expect(retryOf({ nextCases: ["503"], nextTimeout: 500 })).toEqual({
    retry: { attempts: 2, timeout: "500ms", status: ["503"], disableRetryOnNetworkError: true },
  });
});

it.each<[Partial<HttpOptions>, string[]]>([
  [{}, []],
  [{ maxBodySize: 100 << 20, readTimeout: 1_000, nextTries: 2, nextCases: ["503"], proxyBufferSize: 65_536 }, []],
  [{ maxBodySize: 1_000, sendTimeout: 1_000 }, ["max_body_size", "send_timeout"]],
])("tells which of the options of %j Traefik does not keep", (options, names) => {
  expect(optionsNotKept({ ...DEFAULT_HTTP_OPTIONS, ...options })).toEqual(names);
});

it("keeps routes of the last start until all leases are known, except those of names that a lease has had since", async () => {
  const path = join(newFolder(), "ingress", "routes.yaml");
  const open = async (isWhole: boolean): Promise<RoutesFile> => {
    const file = new RoutesFile({ path, backends: () => TWO, folders: [], log: silentLogger });
    file.routes.isWhole = isWhole;
    await file.listen();
    onTestFinished(() => file.drain());
    return file;
  };
  const hosts = (): string[] => {
    const { http } = JSON.parse(readFileSync(path, "utf8"));
    return Object.keys(http.routers ?? {}).filter((name) => !name.startsWith("grpc/"));
  };
  const before = await open(true);
  before.routes.set("a.example", target());
  before.routes.set("b.example", target({}, OTHER));
  before.changed();
  await expect.poll(hosts).toEqual(["a.example", "b.example"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await before.drain();

  const after = await open(false);
  expect(hosts()).toEqual(["a.example", "b.example"]);
  after.routes.set("a.example", target());
  after.changed();
  await after.removeLease(LEASE);
  await expect.poll(hosts).toEqual(["b.example"]);
  after.routes.isWhole = true;
  after.changed();
  await expect.poll(hosts).toEqual([]);
  after.routes.set("c.example", target());
  after.changed();
  await after.close();
  expect(hosts()).toEqual([]);
});

/** A file of routes in a folder of the test's own, before `listen`. */
function fileIn(folder: string, { log = silentLogger, folders = [] as string[] } = {}) {
  const path = join(folder, "ingress", "routes.yaml");
  const file = new RoutesFile({ path, backends: () => TWO, folders, log });
  file.routes.isWhole = false;
  onTestFinished(() => file.drain());
  return { file, path, routers: () => JSON.parse(readFileSync(path, "utf8")).http.routers };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-routes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it.each([
  "http: [",
  "{}",
  "null",
  "[]",
  '"text"',
  '{"http":null}',
  '{"http":{"routers":"abc"}}',
  '{"http":{"routers":{"a":5}}}',
])("begins with no routes where the file has %j", async (text) => {
  const folder = newFolder();
  const { file, path, routers } = fileIn(folder);
  mkdirSync(join(folder, "ingress"));
  writeFileSync(path, text);
  await file.listen();
  expect(routers()).toBeUndefined();
});

it("reads the routes of the last start before it writes the first ones of its own", async () => {
  const folder = newFolder();
  const last = fileIn(folder);
  last.file.routes.set("a.example", target());
  await last.file.listen();
  await last.file.drain();
  const { file, routers } = fileIn(folder);
  file.routes.set("b.example", target());
  file.changed();
  // Node ports may take longer to open than changes wait to be written together.
  await sleep(2 * SETTLE_MS);
  await file.listen();
  expect(Object.keys(routers())).toEqual(expect.arrayContaining(["a.example", "b.example"]));
});

it("has the certificates from the first moment", async () => {
  const folder = newFolder();
  const authority = await openAuthority(folder);
  const { chain, key } = await authority.issue("a.example", new AbortController().signal);
  writeFileSync(join(folder, "a.crt"), chain);
  writeFileSync(join(folder, "a.key"), key, { mode: 0o600 });
  const { file, path } = fileIn(folder, { folders: [folder] });
  await file.listen();
  const { tls } = JSON.parse(readFileSync(path, "utf8"));
  expect(tls.certificates).toEqual([{ certFile: chain, keyFile: key }]);
});

it.each([
  ["removed", (path: string) => rmSync(path)],
  ["changed", (path: string) => writeFileSync(path, "{}")],
  ["removed with its folder", (path: string) => rmSync(dirname(path), { recursive: true })],
])("writes the file anew when somebody has %s it", async (_, change) => {
  const { file, path, routers } = fileIn(newFolder());
  file.routes.set("a.example", target());
  await file.listen();
  change(path);
  file.look();
  await expect.poll(routers).toHaveProperty(["a.example"]);
});

it("writes a change at once, and further ones together, so that Traefik is not kept busy with them", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { file, routers } = fileIn(newFolder());
  await file.listen();
  const published = (): number => Object.keys(routers() ?? {}).length / 2;
  const seen: number[] = [];
  for (let at = 0; at < 20; at++) {
    file.routes.set(`h${at}.example`, target());
    file.changed();
    vi.advanceTimersByTime(SETTLE_MS);
    seen.push(published());
  }
  expect([seen[0], new Set(seen).size]).toEqual([1, 1 + Math.floor((19 * SETTLE_MS) / PACE_MS)]);
  vi.advanceTimersByTime(PACE_MS);
  expect(published()).toBe(20);
});

it("writes nothing once another plane has taken over", async () => {
  const { file, routers } = fileIn(newFolder());
  await file.listen();
  await file.drain();
  file.routes.set("a.example", target());
  file.changed();
  await sleep(2 * SETTLE_MS);
  expect(routers()).toBeUndefined();
});

it("tries again what it could not write", async () => {
  const folder = newFolder();
  const said: string[] = [];
  const { file, routers } = fileIn(folder, {
    log: { ...silentLogger, error: (text: string) => void said.push(text) },
  });
  await file.listen();
  renameSync(join(folder, "ingress"), join(folder, "away"));
  writeFileSync(join(folder, "ingress"), "");
  file.routes.set("a.example", target());
  file.changed();
  await expect.poll(() => said).toEqual(["routes not published, trying again"]);
  rmSync(join(folder, "ingress"));
  file.look();
  await expect.poll(routers).toHaveProperty(["a.example"]);
});
