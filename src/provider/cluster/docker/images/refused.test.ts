import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ImageEngine } from "../../../../../test/support/images/engine.ts";
import { digestOf, TestRegistry, tarOf } from "../../../../../test/support/images/registry.ts";
import { silentLogger } from "../../../../util/index.ts";
import { EngineApi } from "../api/api.ts";
import { type DockerOptions, settingsOf } from "../options.ts";
import { Images, type PullOptions } from "./images.ts";

const APP = await tarOf({ "app/page": "hello" });

let folder: string;
let engine: ImageEngine;
let registry: TestRegistry;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-refused-"));
  engine = await ImageEngine.start();
  registry = await TestRegistry.start();
});

afterEach(() => {
  engine.stop();
  registry.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function openImages(options: Partial<DockerOptions> = {}): Promise<Images> {
  const registries = { allowed: [{ host: registry.host, plain: true }] };
  const settings = settingsOf({
    socket: engine.socket,
    stateDir: folder,
    namePrefix: "svc-test",
    registries,
    ...options,
  });
  const api = await EngineApi.open(engine.socket, { call: 5_000, work: 5_000 });
  const room = async () => undefined;
  const images = new Images({ api, settings, log: silentLogger, room, live: () => new Set() });
  await images.open();
  return images;
}

async function refusal(images: Images, image: string, overrides: Partial<PullOptions> = {}): Promise<string> {
  const options = {
    owner: "svc1tenant",
    lease: "lease",
    most: 16n << 30n,
    credentials: null,
    claim: async () => {},
    signal: new AbortController().signal,
    ...overrides,
  };
  return images.pull(image, options).then(
    (id) => `was pulled: ${id}`,
    (error: Error) => error.message,
  );
}

describe("an image that was refused", () => {
  const image = () => `${registry.host}/team/app:1`;
  const most = 8n << 20n;

  /** Counts weighings: each answers that the layer is too large. */
  async function open(): Promise<{ readonly images: Images; readonly weighed: () => number }> {
    const log = join(folder, "weighed");
    writeFileSync(log, "");
    const script = `process.once("message", ({ most }) => {
      require("node:fs").appendFileSync(${JSON.stringify(log)}, "x");
      process.send({ kind: "over", bytes: most }, () => process.disconnect());
    })`;
    const weigher = { command: process.execPath, args: ["-e", script] };
    const images = await openImages({ weigher });
    return { images, weighed: () => readFileSync(log, "utf8").length };
  }

  it("is refused again without a look at its layers, also under another name, unless the lease has more room", async () => {
    const { images, weighed } = await open();
    for (const tag of ["1", "2"]) {
      registry.addImage("team/app", tag, [APP]);
      const refused = () => refusal(images, `${registry.host}/team/app:${tag}`, { most });
      expect(await refused()).toMatch(/takes more than the 8 MiB that this lease may have .* order more storage/);
      expect(await refused()).toMatch(/takes more than the 8 MiB/);
      expect(weighed(), `tag ${tag}`).toBe(1);
    }
    expect(await refusal(images, image(), { most: most / 2n })).toMatch(/takes more than the 4 MiB/);
    expect(weighed()).toBe(1);
    expect(await refusal(images, image(), { most: 2n * most })).toMatch(/takes more than the 16 MiB/);
    expect(weighed()).toBe(2);
  });

  it("because a layer is none, or another one, is not fetched again for it", async () => {
    const images = await openImages();
    registry.addImage("team/app", "1", [Buffer.alloc(2_048, 7)]);
    const told = await refusal(images, image());
    rmSync(join(folder, "images", "layers"), { recursive: true });
    registry.asked.length = 0;
    expect(await refusal(images, image())).toBe(told);
    expect(registry.asked.filter((path) => path.includes("/blobs/"))).toHaveLength(1);
  });

  it("by its lease is not weighed again for the next try", async () => {
    const images = await openImages();
    registry.addImage("team/app", "1", [APP]);
    const claim = async () => Promise.reject(new Error("no room"));
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await refusal(images, image(), { claim })).toBe("no room");
      rmSync(join(folder, "images", "layers"), { recursive: true, force: true });
    }
    expect(registry.asked.filter((path) => path.includes(digestOf(gzipSync(APP))))).toHaveLength(1);
  });
});
