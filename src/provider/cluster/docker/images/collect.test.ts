import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ImageEngine } from "../../../../../test/support/images/engine.ts";
import { TestRegistry, tarOf } from "../../../../../test/support/images/registry.ts";
import { damageFile } from "../../../../../test/support/provider/damage.ts";
import { Rng } from "../../../../../test/support/rng.ts";
import { silentLogger } from "../../../../util/index.ts";
import { EngineApi } from "../api/api.ts";
import { settingsOf } from "../options.ts";
import { Images } from "./images.ts";

const HOUR = 3_600_000;
const [APP, OTHER] = [await tarOf({ app: "1" }), await tarOf({ app: "2" })];
const [THIRD, FOURTH] = [await tarOf({ app: "3" }), await tarOf({ app: "4" })];

describe("images without a lease", () => {
  let folder: string;
  let engine: ImageEngine;
  let registry: TestRegistry;
  let tight: () => boolean;
  let room: () => bigint | undefined;
  let live: ReadonlySet<string>;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    folder = mkdtempSync(join(tmpdir(), "svc-images-"));
    engine = await ImageEngine.start();
    registry = await TestRegistry.start();
    tight = () => false;
    room = () => undefined;
    live = new Set();
  });

  afterEach(() => {
    vi.useRealTimers();
    engine.stop();
    registry.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(): Promise<Images> {
    const settings = settingsOf({
      socket: engine.socket,
      stateDir: folder,
      namePrefix: "svc-test",
      registries: { allowed: [{ host: registry.host, plain: true }] },
      timing: { imageKeep: 24 * HOUR },
    });
    const api = await EngineApi.open(engine.socket, { call: 5_000, work: 5_000 });
    const isTight = async () => tight();
    const images = new Images({
      api,
      settings,
      log: silentLogger,
      room: async () => room(),
      isTight,
      live: () => live,
    });
    await images.open();
    return images;
  }

  function pull(images: Images, layer: Buffer): Promise<string> {
    registry.addImage("team/app", "1", [layer]);
    const options = {
      owner: "svc1tenant",
      lease: "lease",
      most: 16n << 30n,
      credentials: null,
      claim: async () => {},
      signal: new AbortController().signal,
    };
    return images.pull(`${registry.host}/team/app:1`, options);
  }

  function pass(milliseconds: number): void {
    vi.setSystemTime(Date.now() + milliseconds);
  }

  const ids = () => new Set(engine.names.values());

  it("go after their time, and not before", async () => {
    const images = await open();
    const [kept, idle] = [await pull(images, APP), await pull(images, OTHER)];
    live = new Set([kept]);
    pass(24 * HOUR - 1);
    await images.collect();
    expect(ids()).toEqual(new Set([kept, idle]));
    pass(1);
    await images.collect();
    expect(ids()).toEqual(new Set([kept]));
    // The time counts from the last lease that was seen with it, also over a restart.
    pass(24 * HOUR - 2);
    live = new Set();
    await (await open()).collect();
    expect(ids()).toEqual(new Set([kept]));
    pass(1);
    await images.collect();
    expect(ids()).toEqual(new Set());
    expect(readdirSync(join(folder, "images", "loaded"))).toEqual([]);
  });

  it("go at once where the disk is tight, the oldest first and no more than needed, never a fresh one", async () => {
    const images = await open();
    const old = await pull(images, APP);
    pass(1000);
    const newer = await pull(images, OTHER);
    tight = () => true;
    await images.collect();
    expect(ids()).toEqual(new Set([old, newer]));
    expect(await images.keptBytes()).toBe(0n);
    pass(HOUR);
    tight = () => ids().has(old);
    await images.collect();
    expect(ids()).toEqual(new Set([newer]));
  });

  it("stay where others have named them, or had them before", async () => {
    const images = await open();
    const id = await pull(images, APP);
    engine.names.set("registry.test/somebody:1", id);
    engine.names.set("localhost/svc-images/svc-other:1", "sha256:other");
    engine.names.set("localhost/somebody:1", "sha256:somebody");
    const before = await pull(images, OTHER);
    engine.names.clear();
    engine.names.set("<none>", before);
    engine.names.set("registry.test/somebody:1", id);
    engine.names.set("localhost/svc-images/svc-other:1", "sha256:other");
    rmSync(join(folder, "images", "loaded"), { recursive: true });
    const again = await open();
    await pull(again, OTHER);
    pass(25 * HOUR);
    await again.collect();
    expect([...engine.names.keys()]).toContain("registry.test/somebody:1");
    expect([...engine.names.keys()]).toContain("localhost/svc-images/svc-other:1");
    pass(25 * HOUR);
    await again.collect();
    // Ours is the only name of an image that was there without one.
    const ours = `localhost/svc-images/svc-test:${before.slice(7)}`;
    expect([...engine.names].filter(([, each]) => each === before).map(([name]) => name)).toEqual(["<none>", ours]);
    engine.names.set("localhost/somebody:2", before);
    await again.collect();
    expect([...engine.names.keys()]).not.toContain(ours);
  });

  it("stay with their containers, and go later", async () => {
    const images = await open();
    const id = await pull(images, APP);
    engine.used.add(id);
    pass(25 * HOUR);
    await images.collect();
    expect(ids()).toEqual(new Set([id]));
    engine.used.clear();
    await images.collect();
    expect(ids()).toEqual(new Set());
  });

  it("are still known where their records are lost or torn", async () => {
    const first = await open();
    const [torn, lost] = [await pull(first, APP), await pull(first, OTHER)];
    const record = (id: string) => join(folder, "images", "loaded", `${id.slice(7)}.json`);
    writeFileSync(record(torn), "{");
    rmSync(record(lost));
    const images = await open();
    await images.collect();
    expect(ids()).toEqual(new Set([torn, lost]));
    pass(24 * HOUR);
    await images.collect();
    expect(ids()).toEqual(new Set());
  });

  it("are fetched again whatever becomes of the files about them", async () => {
    const rng = new Rng(Number(process.env.SVC_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)));
    process.stderr.write(`seed ${rng.seed} (repeat with SVC_TEST_SEED=${rng.seed})\n`);
    const id = await pull(await open(), APP);
    live = new Set([id]);
    for (let round = 0; round < 20; round++) {
      const names = readdirSync(join(folder, "images"), { recursive: true, encoding: "utf8" });
      const files = names.map((name) => join(folder, "images", name)).filter((path) => statSync(path).isFile());
      const done = files.map((path) => `${path}: ${damageFile(path, (count) => rng.below(count))}`);
      mkdirSync(join(folder, "images", "layers", `${round}.part`));
      const again = await open();
      expect(await pull(again, APP), `seed ${rng.seed}: ${done.join("; ")}`).toBe(id);
      await again.collect();
      if (round % 2 === 0) continue;
      await again.purge();
      expect(readdirSync(join(folder, "images", "layers"))).toEqual([]);
      expect([...engine.names]).toEqual([]);
    }
  });

  it("make room for an image that is wanted now, however fresh they are, the oldest first", async () => {
    const images = await open();
    const [idle, leased, newer] = [await pull(images, APP), await pull(images, OTHER), await pull(images, THIRD)];
    live = new Set([leased]);
    // Room for one image.
    room = () => (ids().has(idle) ? 0n : 1_000_000n);
    const wanted = await pull(images, FOURTH);
    expect(ids()).toEqual(new Set([leased, newer, wanted]));
    room = () => 0n;
    await expect(pull(images, APP)).rejects.toThrow(/no room for the image/);
    expect(ids()).toEqual(new Set([leased]));
  });

  it("are removed on request, but never those that a lease has or is about to have", async () => {
    const images = await open();
    const [idle, leased] = [await pull(images, APP), await pull(images, OTHER)];
    live = new Set([leased]);
    for (const id of [idle, leased, "sha256:unknown"]) await images.discard(id);
    expect(ids()).toEqual(new Set([leased]));
    expect([images.heldFor(idle), images.heldFor(leased)]).toEqual([undefined, images.weightOf(leased)]);
  });

  it("go all with the provider", async () => {
    const images = await open();
    await pull(images, APP);
    engine.names.set("localhost/somebody:1", "sha256:somebody");
    await images.purge();
    expect([...engine.names.keys()]).toEqual(["localhost/somebody:1"]);
    expect(await images.keptBytes()).toBe(0n);
  });
});
