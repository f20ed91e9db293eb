import { execFileSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ImageEngine } from "../../../../../test/support/images/engine.ts";
import { type Answer, digestOf, TestRegistry, TYPES, tarOf } from "../../../../../test/support/images/registry.ts";
import { createCertificate } from "../../../../crypto/index.ts";
import { silentLogger } from "../../../../util/index.ts";
import { EngineApi } from "../api/api.ts";
import { type DockerOptions, settingsOf } from "../options.ts";
import { imageArchive } from "./archive.ts";
import { Images, type PullOptions, type WeighedImage } from "./images.ts";
import { MAX_CONFIG, MAX_LAYERS, MAX_MANIFEST, MAX_REDIRECTS, MAX_VOLUMES, PULLS } from "./limits.ts";

const BASE = await tarOf({ "bin/run": "base", "etc/passwd": "root" });
const APP = await tarOf({ "app/page": "hello" });

const stops: (() => void)[] = [];
let folder: string;
let engine: ImageEngine;
let registry: TestRegistry;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-images-"));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  engine = await ImageEngine.start();
  registry = await startRegistry();
  stops.push(() => engine.stop());
});

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function startRegistry(tls?: { key: string; cert: string }): Promise<TestRegistry> {
  const started = await TestRegistry.start(tls);
  stops.push(() => started.stop());
  return started;
}

interface Opening {
  readonly options?: Partial<DockerOptions>;
  /** Allowed without TLS, beside the registry. */
  readonly allowed?: readonly TestRegistry[];
  readonly room?: bigint;
  readonly isTight?: () => boolean;
}

async function openImages({ options = {}, allowed = [], room, isTight }: Opening = {}): Promise<Images> {
  const registries = { allowed: [registry, ...allowed].map(({ host }) => ({ host, plain: true })) };
  const settings = settingsOf({
    socket: engine.socket,
    stateDir: folder,
    namePrefix: "svc-test",
    registries,
    ...options,
  });
  const api = await EngineApi.open(engine.socket, { call: 5_000, work: 5_000 });
  const images = new Images({
    api,
    settings,
    log: silentLogger,
    room: async () => room,
    live: () => new Set(),
    ...(isTight === undefined ? {} : { isTight: async () => isTight() }),
  });
  await images.open();
  return images;
}

function pullOptions(overrides: Partial<PullOptions> = {}): PullOptions {
  return {
    owner: "svc1tenant",
    lease: "lease",
    most: 16n << 30n,
    credentials: null,
    claim: async () => {},
    signal: new AbortController().signal,
    ...overrides,
  };
}

async function refusal(images: Images, image: string, overrides: Partial<PullOptions> = {}): Promise<string> {
  const error = await images.pull(image, pullOptions(overrides)).then(
    (id) => new Error(`was pulled: ${id}`),
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message : String(error);
}

const redirectTo =
  (target: string): Answer =>
  (_, response) =>
    response.writeHead(307, { location: target }).end();

describe("an image", () => {
  it("is loaded under a name of its own, with its layers in their order", async () => {
    registry.addImage("team/app", "1", [BASE, APP]);
    const images = await openImages();
    const weighed: WeighedImage[] = [];
    const id = await images.pull(
      `${registry.host}/team/app:1`,
      pullOptions({ claim: async (each) => void weighed.push(each) }),
    );
    expect([...engine.names]).toEqual([[`localhost/svc-images/svc-test:${id.slice(7)}`, id]]);
    const [files] = engine.loaded;
    expect([files?.get("0.tar"), files?.get("1.tar")]).toEqual([gzipSync(BASE), gzipSync(APP)]);
    // Each of three files and three folders also takes a block.
    expect(weighed).toEqual([{ config: id, bytes: BASE.length + APP.length + 6 * 4096 }]);
    expect(images.weightOf(id)).toMatchObject(weighed[0] ?? {});
  });

  it("that is there is not fetched again, and layers that are there are not either", async () => {
    registry.addImage("team/app", "1", [BASE, APP]);
    const images = await openImages();
    const id = await images.pull(`${registry.host}/team/app:1`, pullOptions());
    registry.asked.length = 0;
    expect(await (await openImages()).pull(`${registry.host}/team/app:1`, pullOptions())).toBe(id);
    expect(registry.asked.filter((path) => path.includes(digestOf(gzipSync(BASE))))).toEqual([]);
    expect(engine.loaded).toHaveLength(1);
    registry.addImage("team/other", "1", [BASE]);
    registry.places.delete(`/v2/team/other/blobs/${digestOf(gzipSync(BASE))}`);
    await images.pull(`${registry.host}/team/other:1`, pullOptions());
    expect(engine.loaded).toHaveLength(2);
  });

  it("that is gone from the engine is loaded again", async () => {
    registry.addImage("team/app", "1", [APP]);
    const images = await openImages();
    await images.pull(`${registry.host}/team/app:1`, pullOptions());
    engine.names.clear();
    await images.pull(`${registry.host}/team/app:1`, pullOptions());
    expect(engine.loaded).toHaveLength(2);
  });

  it("is found by its digest, and unpacked layers are taken too", async () => {
    const digest = registry.addImage("team/app", "1", [APP], { plain: true });
    registry.places.delete("/v2/team/app/manifests/1");
    const images = await openImages();
    await images.pull(`${registry.host}/team/app@${digest}`, pullOptions());
    expect(engine.loaded[0]?.get("0.tar")).toEqual(APP);
  });

  it("of several machines is that of this one", async () => {
    const mine = registry.addImage("team/app", "mine", [APP]);
    const entry = (digest: string, platform: object) => ({ mediaType: TYPES.manifest, digest, size: 1, platform });
    const wrong = `sha256:${"0".repeat(64)}`;
    const put = (entries: object[]) =>
      registry.put("/v2/team/app/manifests/1", Buffer.from(JSON.stringify({ schemaVersion: 2, manifests: entries })));
    const images = await openImages();
    put([
      entry(wrong, { os: "unknown", architecture: "unknown" }),
      entry(wrong, { os: "windows", architecture: "amd64" }),
      entry(wrong, { os: "linux", architecture: "amd64", variant: "v4" }),
      entry(wrong, { os: "linux", architecture: "arm64", variant: "v8" }),
      entry(mine, { os: "linux", architecture: "amd64" }),
    ]);
    await images.pull(`${registry.host}/team/app:1`, pullOptions());
    put([entry(mine, { os: "linux", architecture: "arm64" })]);
    expect(await refusal(images, `${registry.host}/team/app:1`)).toMatch(/is not made for linux\/amd64/);
  });
});

describe("a registry with a login", () => {
  const given = { host: "", email: "", username: "tenant", password: "correct horse" };
  const basic = `Basic ${Buffer.from("tenant:correct horse").toString("base64")}`;

  /** Everything needs a token of the realm; the realm wants the login. */
  function lock(realm: string): void {
    for (const [path, answer] of registry.places) {
      registry.places.set(path, (request, response) => {
        if (request.headers.authorization === "Bearer t0ken") answer(request, response);
        else response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}",service="s"` }).end();
      });
    }
  }

  const realm: Answer = (request, response) => {
    if (request.headers.authorization === basic) response.end(JSON.stringify({ token: "t0ken" }));
    else response.writeHead(401).end();
  };

  it("gives an image to whoever has one, and does not lend it to others", async () => {
    registry.addImage("team/app", "1", [APP]);
    lock(`http://${registry.host}/token`);
    registry.places.set("/token", realm);
    const images = await openImages();
    const image = `${registry.host}/team/app:1`;
    const credentials = { ...given, host: registry.host };
    await images.pull(image, pullOptions({ credentials }));
    expect(registry.asked).toContain("/token?service=s&scope=repository%3Ateam%2Fapp%3Apull");
    expect(await refusal(images, image)).toMatch(/does not exist or needs credentials/);
    const wrong = await refusal(images, image, { credentials: { ...credentials, password: "battery" } });
    expect(wrong).toMatch(/refused the credentials.*check user name and password/);
    expect(wrong).not.toContain("battery");
    expect(await refusal(images, image, { credentials: { ...credentials, host: "other.example" } })).toMatch(
      /needs credentials for 127.* those given are for other\.example/,
    );
  });

  it("keeps its layers from other repositories that only name their digests", async () => {
    registry.addImage("team/app", "1", [APP]);
    lock(`http://${registry.host}/token`);
    registry.places.set("/token", realm);
    const images = await openImages();
    await images.pull(`${registry.host}/team/app:1`, pullOptions({ credentials: { ...given, host: registry.host } }));
    const thief = await startRegistry();
    thief.addImage("mine/copy", "1", [APP]);
    thief.places.delete(`/v2/mine/copy/blobs/${digestOf(gzipSync(APP))}`);
    const both = await openImages({ allowed: [thief] });
    expect(await refusal(both, `${thief.host}/mine/copy:1`)).toMatch(/does not exist in the registry/);
    expect(engine.loaded).toHaveLength(1);
  });

  it("alone gets the login, not the place that it redirects to", async () => {
    registry.addImage("team/app", "1", [APP]);
    const other = await startRegistry();
    const seen: (string | undefined)[] = [];
    const blob = `/v2/team/app/blobs/${digestOf(gzipSync(APP))}`;
    other.places.set("/blob", (request, response) => {
      seen.push(request.headers.authorization);
      response.end(gzipSync(APP));
    });
    registry.places.set(blob, redirectTo(`http://${other.host}/blob`));
    for (const [path, answer] of registry.places) {
      registry.places.set(path, (request, response) => {
        if (request.headers.authorization === basic) answer(request, response);
        else response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
      });
    }
    const images = await openImages({ allowed: [other] });
    await images.pull(`${registry.host}/team/app:1`, pullOptions({ credentials: { ...given, host: registry.host } }));
    expect(seen).toEqual([undefined]);
  });
});

describe("TLS", () => {
  it("is needed, and its certificate must be valid", async () => {
    const now = Date.now();
    const request = {
      address: "a",
      serial: 1n,
      notBefore: now - 60_000,
      notAfter: now + 3_600_000,
      hosts: ["127.0.0.1"],
    };
    const made = await createCertificate(request, "secret");
    const key = createPrivateKey({ key: made.encryptedKey, passphrase: "secret" }).export({
      type: "pkcs8",
      format: "pem",
    });
    const secure = await startRegistry({ key: String(key), cert: made.certificate });
    secure.addImage("team/app", "1", [APP]);
    const allowed = [{ host: secure.host, plain: false }];
    const image = `${secure.host}/team/app:1`;
    const told = await refusal(await openImages({ options: { registries: { allowed } } }), image);
    expect(told).toMatch(/cannot be reached \(TLS fails or its certificate is not valid\)/);
    const images = await openImages({ options: { registries: { allowed, ca: made.certificate } } });
    await images.pull(image, pullOptions());
    expect(engine.loaded).toHaveLength(1);
    // The same registry allowed without TLS is not asked with it, nor the other way round.
    const plain = await openImages({ options: { registries: { allowed: [{ host: registry.host, plain: false }] } } });
    expect(await refusal(plain, `${registry.host}/team/app:1`)).toMatch(/TLS fails/);
  });
});

describe("the private network", () => {
  const CLOSED = /has no public address with TLS/;

  it.each([
    (port: string) => `127.0.0.1:${port}/x:1`,
    (port: string) => `2130706433:${port}/x:1`,
    (port: string) => `0x7f000001:${port}/x:1`,
    (port: string) => `0177.0.0.1:${port}/x:1`,
    (port: string) => `127.1:${port}/x:1`,
    (port: string) => `0.0.0.0:${port}/x:1`,
    (port: string) => `localhost:${port}/x:1`,
    (port: string) => `name.test:${port}/x:1`,
    () => "10.0.0.1/x:1",
    () => "169.254.169.254/latest/meta-data:1",
    () => "192.168.1.1:5000/x:1",
    () => "100.64.0.1/x:1",
  ])("is never connected to (%#)", async (name) => {
    const inside = await startRegistry();
    const resolve = async () => ["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "10.0.0.1"];
    const images = await openImages({ options: { registries: { allowed: [], resolve } } });
    const told = await refusal(images, name(inside.host.split(":")[1] ?? ""));
    expect(told).toMatch(CLOSED);
    expect(told).not.toContain("::");
    expect(inside.connections).toBe(0);
  });

  it("looks like a name that does not exist, and a port that listens like one that does not", async () => {
    const names: Record<string, readonly string[]> = { "inside.test": ["10.1.2.3"] };
    const resolve = async (name: string) => names[name] ?? Promise.reject(new Error("ENOTFOUND"));
    const images = await openImages({ options: { registries: { allowed: [], resolve } } });
    const inside = await refusal(images, "inside.test/x:1");
    expect(inside.replace("inside.test", "nobody.test")).toBe(await refusal(images, "nobody.test/x:1"));
    const listening = await startRegistry();
    const told = await refusal(images, `${listening.host}/x:1`);
    expect(told.replace(listening.host, "127.0.0.1:1")).toBe(await refusal(images, "127.0.0.1:1/x:1"));
  });

  it.each([
    "[::1]:80/x:1",
    "[::ffff:127.0.0.1]:80/x:1",
    "127.0.0.1:99999/x:1",
    "u:p@127.0.0.1/x:1",
    "127.0.0.1:80/../x:1",
  ])("is no name of an image: %s", async (image) => {
    const images = await openImages();
    expect(await refusal(images, image)).toMatch(/is not an image name|is not the host of a registry/);
  });

  it("is not reached over redirects, realms or places of layers", async () => {
    const inside = await startRegistry();
    inside.addImage("team/app", "1", [APP]);
    const target = `http://${inside.host}`;
    const images = await openImages({
      options: { registries: { allowed: [{ host: registry.host, plain: true }], resolve: async () => ["127.0.0.1"] } },
    });
    const image = `${registry.host}/team/app:1`;
    const manifest = "/v2/team/app/manifests/1";
    for (const place of [target, target.replace("http:", "https:"), `https://name.test:${inside.host.split(":")[1]}`]) {
      registry.places.set(manifest, redirectTo(`${place}${manifest}`));
      expect(await refusal(images, image), place).toMatch(CLOSED);
      const challenge = `Bearer realm="${place}/token"`;
      registry.places.set(manifest, (_, response) => response.writeHead(401, { "www-authenticate": challenge }).end());
      expect(await refusal(images, image), place).toMatch(CLOSED);
      registry.addImage("team/app", "1", [APP]);
      const blob = `/v2/team/app/blobs/${digestOf(gzipSync(APP))}`;
      registry.places.set(blob, redirectTo(`${place}${blob}`));
      expect(await refusal(images, image), place).toMatch(CLOSED);
    }
    for (const scheme of ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "data:,x"]) {
      registry.places.set(manifest, redirectTo(scheme));
      expect(await refusal(images, image), scheme).toMatch(CLOSED);
    }
    expect(inside.connections).toBe(0);
  });

  it("is not reached by a name server that answers differently the second time", async () => {
    registry.addImage("team/app", "1", [APP]);
    const [, port = ""] = registry.host.split(":");
    const host = `pin.test:${port}`;
    let asked = 0;
    // The first answer is used for the connection itself: the system knows no such name.
    const resolve = async () => [asked++ >= 0 ? "127.0.0.1" : ""];
    const images = await openImages({ options: { registries: { allowed: [{ host, plain: true }], resolve } } });
    await images.pull(`${host}/team/app:1`, pullOptions());
    expect(asked).toBe(registry.connections);
    const answers = [["10.0.0.1"], ["127.0.0.1"], ["::1"]];
    const turning = async () => answers.shift() ?? [];
    const other = await openImages({ options: { registries: { allowed: [], resolve: turning } } });
    const before = registry.connections;
    for (let attempt = 0; attempt < 4; attempt++) {
      expect(await refusal(other, `turn.test:${port}/team/app:1`)).toMatch(CLOSED);
    }
    expect(registry.connections).toBe(before);
  });
});

describe("what a hostile registry sends", () => {
  const image = () => `${registry.host}/team/app:1`;
  const manifest = "/v2/team/app/manifests/1";
  const blobOf = (layer: Buffer) => `/v2/team/app/blobs/${digestOf(layer)}`;

  async function refused(images?: Images): Promise<string> {
    const told = await refusal(images ?? (await openImages()), image());
    expect(engine.loaded).toEqual([]);
    expect(readdirSync(join(folder, "images", "layers")).filter((name) => name.endsWith(".part"))).toEqual([]);
    return told;
  }

  /** Sends forever. */
  const endless: Answer = (_, response) => {
    response.writeHead(200);
    pour(response);
  };

  it("redirects without end", async () => {
    registry.places.set(manifest, redirectTo(manifest));
    expect(await refused()).toMatch(/redirects without end/);
    expect(registry.asked).toHaveLength(MAX_REDIRECTS + 1);
    let left = MAX_REDIRECTS;
    registry.addImage("team/app", "1", [APP]);
    const last = registry.places.get(manifest);
    registry.places.set(manifest, (request, response) =>
      left-- > 0 ? redirectTo(manifest)(request, response) : last?.(request, response),
    );
    await (await openImages()).pull(image(), pullOptions());
  });

  it("manifests, configurations and tokens of too many bytes", async () => {
    registry.places.set(manifest, endless);
    expect(await refused()).toMatch(/its manifest is too long/);
    registry.put(manifest, Buffer.alloc(MAX_MANIFEST, " "));
    expect(await refused()).toMatch(/its manifest is not that/);
    registry.put(manifest, Buffer.alloc(MAX_MANIFEST + 1, " "));
    expect(await refused()).toMatch(/its manifest is too long/);
    registry.addImage("team/app", "1", [APP], { config: { comment: "x".repeat(MAX_CONFIG) } });
    expect(await refused()).toMatch(/its configuration is too long/);
    const challenge = `Bearer realm="http://${registry.host}/token"`;
    registry.places.set(manifest, (_, response) => response.writeHead(401, { "www-authenticate": challenge }).end());
    registry.places.set("/token", endless);
    expect(await refused()).toMatch(/its token is too long/);
    for (const token of ['{"token":"a\\r\\nb: c"}', "{}", '{"token":7}', "[", '{"token":""}']) {
      registry.put("/token", Buffer.from(token));
      expect(await refused(), token).toMatch(/needs credentials|sent an invalid answer/);
    }
  });

  it.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["a list", "[]"],
    ["a form of old", JSON.stringify({ schemaVersion: 1, fsLayers: [] })],
    ["deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ])("as a manifest %s", async (_, text) => {
    registry.put(manifest, Buffer.from(text));
    expect(await refused()).toMatch(/its manifest is not that of a current image/);
  });

  it("too many layers", async () => {
    const [layers, most] = [MAX_LAYERS + 1, MAX_LAYERS].map((count) => Array<Buffer>(count).fill(APP));
    registry.addImage("team/app", "1", Array<Buffer>(5_000).fill(APP));
    expect(await refused()).toMatch(/has 5000 layers/);
    registry.addImage("team/app", "1", layers ?? []);
    expect(await refused()).toMatch(/has 128 layers, 127 are possible/);
    registry.addImage("team/app", "1", most ?? []);
    await (await openImages()).pull(image(), pullOptions());
  });

  it("too many volumes", async () => {
    const volumes = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, each) => [`/${each}`, {}]));
    registry.addImage("team/app", "1", [APP], { config: { config: { Volumes: volumes(MAX_VOLUMES + 1) } } });
    expect(await refused()).toMatch(/declares 65 volumes/);
    registry.addImage("team/app", "1", [APP], { config: { config: { Volumes: volumes(MAX_VOLUMES) } } });
    await (await openImages()).pull(image(), pullOptions());
  });

  it.each([
    "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
    "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
    "text/html",
  ])("layers of the type %s", async (mediaType) => {
    const packed = gzipSync(APP);
    const layer = { mediaType, digest: digestOf(packed), size: packed.length, urls: ["http://127.0.0.1/"] };
    registry.addImage("team/app", "1", [APP], { manifest: { layers: [layer] } });
    expect(await refused()).toMatch(/a layer has the type/);
  });

  it("other content than the digest says", async () => {
    const digest = registry.addImage("team/app", "1", [APP]);
    const packed = gzipSync(APP);
    registry.put(blobOf(packed), Buffer.alloc(packed.length, 1));
    expect(await refused()).toMatch(/a layer is not what its manifest names/);
    registry.put(blobOf(packed), packed.subarray(0, -1));
    expect(await refused()).toMatch(/a layer is not what its manifest names/);
    registry.places.set(blobOf(packed), endless);
    expect(await refused()).toMatch(/a layer is not what its manifest names/);
    registry.places.set(blobOf(packed), (_, response) => {
      response.writeHead(200, { "content-length": packed.length });
      response.write(packed.subarray(0, 1), () => response.destroy());
    });
    expect(await refused()).toMatch(/ended the connection within a layer/);
    registry.put(`/v2/team/app/manifests/${digest}`, Buffer.from("{}"));
    const told = await refusal(await openImages(), `${registry.host}/team/app@${digest}`);
    expect(told).toMatch(/wrong digest/);
  });

  it("a configuration of another's image with layers of its own", async () => {
    registry.addImage("team/app", "1", [APP], { config: { rootfs: { type: "layers", diff_ids: [digestOf(BASE)] } } });
    expect(await refused()).toMatch(/a layer is not the one that its configuration names/);
    registry.addImage("team/app", "1", [APP], { config: { rootfs: { type: "layers", diff_ids: [] } } });
    expect(await refused()).toMatch(/names other layers than its manifest/);
  });

  it("layers that unpack to more than may be, in bytes or in files", async () => {
    const big = await tarOf({ zeros: "\0".repeat(3 << 20) });
    const packed = gzipSync(big);
    expect(packed.length).toBeLessThan(big.length / 100);
    const limit = (imageBytes: bigint) => openImages({ options: { limits: { imageBytes }, registries: allowed() } });
    const allowed = () => ({ allowed: [{ host: registry.host, plain: true }] });
    registry.addImage("team/app", "1", [big]);
    const needs = BigInt(big.length) + 4096n;
    expect(await refused(await limit(needs - 1n))).toMatch(/takes more than the 3 MiB/);
    await (await limit(needs)).pull(image(), pullOptions());
    engine.loaded.length = 0;
    registry.addImage("team/app", "1", [big, APP]);
    expect(await refused(await limit(needs + 1n))).toMatch(/takes more than/);
    const many = await tarOf(Object.fromEntries(Array.from({ length: 1000 }, (_, each) => [`f${each}`, ""])));
    registry.addImage("team/app", "1", [many]);
    expect(await refused(await limit(BigInt(many.length) + 4_000_000n))).toMatch(/takes more than/);
    await (await limit(BigInt(many.length) + 4_096_000n)).pull(image(), pullOptions());
  });

  it("layers whose manifest promises more than may be", async () => {
    const layer = { mediaType: TYPES.layer, digest: digestOf(APP), size: Number.MAX_SAFE_INTEGER };
    registry.addImage("team/app", "1", [APP], { manifest: { layers: [layer] } });
    expect(await refused()).toMatch(/takes more than/);
    for (const size of [-1, 0.5, 2 ** 60, "7"]) {
      registry.addImage("team/app", "1", [APP], { manifest: { layers: [{ ...layer, size }] } });
      expect(await refused(), String(size)).toMatch(/its manifest is not that/);
    }
  });

  it("a file with holes of a tebibyte, which engines would fill in", async () => {
    writeFileSync(join(folder, "bomb"), "");
    truncateSync(join(folder, "bomb"), 2 ** 40);
    const bomb = execFileSync("tar", ["-C", folder, "--sparse", "-cf", "-", "bomb"]);
    expect(bomb.length).toBeLessThan(20_000);
    registry.addImage("team/app", "1", [bomb]);
    expect(await refused()).toMatch(/a layer cannot be unpacked \(a file has holes/);
  });

  it("a header that is longer than memory", async () => {
    const header = (await tarOf({ file: "" })).subarray(0, 512);
    header.write("77777777777\0", 124);
    header.write("x", 156);
    header.write(" ".repeat(8), 148);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    registry.addImage("team/app", "1", [Buffer.concat([header, Buffer.alloc(8 << 20)])]);
    expect(await refused()).toMatch(/a layer cannot be unpacked \(a header of 8589934591 bytes is too long/);
  });

  it("what is not a tar file", async () => {
    for (const junk of [Buffer.alloc(2048, 7), Buffer.from("hello"), BASE.subarray(0, 700)]) {
      registry.addImage("team/app", "1", [junk], { plain: true });
      expect(await refused()).toMatch(/a layer cannot be unpacked/);
    }
  });

  it("nothing at all, for longer than a pull may take", async () => {
    registry.places.set(manifest, () => {});
    const options = { timing: { pullTimeout: 200 }, registries: { allowed: [{ host: registry.host, plain: true }] } };
    expect(await refused(await openImages({ options }))).toMatch(/could not be pulled in time/);
  });
});

describe("a tenant whose registries hardly answer", () => {
  it("has some pulls at once and no more, and leaves others theirs", async () => {
    const slow = await startRegistry();
    const waiting: ServerResponse[] = [];
    slow.places.set("/v2/team/app/manifests/1", (_, response) => void waiting.push(response));
    const images = await openImages({ allowed: [slow] });
    const ends = new AbortController();
    const pulls = Array.from({ length: PULLS.each * 2 }, () =>
      images.pull(`${slow.host}/team/app:1`, pullOptions({ signal: ends.signal })).catch(() => "ended"),
    );
    await expect.poll(() => waiting.length).toBe(PULLS.each);
    registry.addImage("team/app", "1", [APP]);
    await images.pull(`${registry.host}/team/app:1`, pullOptions({ owner: "svc1other" }));
    expect(waiting).toHaveLength(PULLS.each);
    waiting[0]?.destroy();
    await expect.poll(() => waiting.length).toBe(PULLS.each + 1);
    ends.abort();
    expect(new Set(await Promise.all(pulls))).toEqual(new Set(["ended"]));
  });

  it("shares the places of all with others", async () => {
    const slow = await startRegistry();
    const waiting: ServerResponse[] = [];
    slow.places.set("/v2/team/app/manifests/1", (_, response) => void waiting.push(response));
    const images = await openImages({ allowed: [slow] });
    const ends = new AbortController();
    const pulls = Array.from({ length: PULLS.all + 1 }, (_, index) =>
      images
        .pull(`${slow.host}/team/app:1`, pullOptions({ owner: `svc1tenant${index}`, signal: ends.signal }))
        .catch(() => "ended"),
    );
    await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(PULLS.all);
    waiting[0]?.destroy();
    await expect.poll(() => waiting.length).toBe(PULLS.all + 1);
    ends.abort();
    await Promise.all(pulls);
  });
});

describe("an archive for the engine", () => {
  it("that breaks off is an error, for the caller alone", async () => {
    const api = await EngineApi.open(engine.socket, { call: 5_000, work: 5_000 });
    const { signal } = new AbortController();
    const config = { digest: digestOf(APP), bytes: APP };
    const gone = imageArchive({ config, layers: [join(folder, "gone")], tag: "localhost/x:1" });
    await expect(api.loadImage(gone, signal)).rejects.toThrow(/ENOENT/);
    expect(engine.loaded).toEqual([]);
  });

  it("ends with its signal", async () => {
    const api = await EngineApi.open(engine.socket, { call: 5_000, work: 5_000 });
    const ended = AbortSignal.abort(new Error("the lease has ended"));
    const archive = imageArchive({ config: { digest: digestOf(APP), bytes: APP }, layers: [], tag: "a:1" });
    await expect(api.loadImage(archive, ended)).rejects.toThrow();
  });
});

describe("room on the disk", () => {
  it("is asked for before anything is fetched or loaded", async () => {
    registry.addImage("team/app", "1", [APP]);
    const image = `${registry.host}/team/app:1`;
    const packed = BigInt(gzipSync(APP).length);
    expect(await refusal(await openImages({ room: packed - 1n }), image)).toMatch(/no room for the image/);
    expect(registry.asked.filter((path) => path.includes(digestOf(gzipSync(APP))))).toEqual([]);
    const needs = packed + BigInt(APP.length) + 2n * 4096n;
    expect(await refusal(await openImages({ room: needs - 1n }), image)).toMatch(/no room for the image/);
    await (await openImages({ room: needs })).pull(image, pullOptions());
  });

  it("ends with the lease: a claim that is refused loads nothing", async () => {
    registry.addImage("team/app", "1", [APP]);
    const claim = async () => {
      throw new Error("too much for this lease");
    };
    expect(await refusal(await openImages(), `${registry.host}/team/app:1`, { claim })).toMatch(
      /too much for this lease/,
    );
    expect(engine.loaded).toEqual([]);
  });

  it("is given back by layers that were not used for longest", async () => {
    const images = await openImages({
      options: { limits: { layerCacheBytes: 0n }, registries: { allowed: [{ host: registry.host, plain: true }] } },
    });
    registry.addImage("team/app", "1", [APP]);
    await images.pull(`${registry.host}/team/app:1`, pullOptions());
    expect(await images.keptBytes()).toBe(0n);
  });
});

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 << 10, 0x20);
  while (!response.destroyed && response.write(chunk));
  if (!response.destroyed) response.once("drain", () => pour(response));
}
