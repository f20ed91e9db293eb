import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bcrypt from "bcryptjs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LeaseHealth, LeaseSpec } from "../../src/provider/cluster/contract/index.ts";
import type { DockerDriver } from "../../src/provider/cluster/docker/index.ts";
import { defaultPrefix } from "../../src/provider/cluster/docker/options.ts";
import type { ManifestCredentials } from "../../src/sdl/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { execFileSync } from "../support/bounded.ts";
import { sampleService, sampleSpec, untilHealth, untilOk } from "../support/conformance/index.ts";
import { freePort } from "../support/ports.ts";
import { atNight } from "../support/runs.ts";
import { TestEngine } from "./engine.ts";

const OPEN = { allowLocalImages: false, timing: { pullTimeout: 120_000 } } as const;
const PASSWORD = "correct horse";

function missingRegistry(): string | undefined {
  try {
    execFileSync("docker-registry", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "docker-registry is not installed";
  }
}

const missing = (await TestEngine.missing()) ?? missingRegistry();
if (missing !== undefined) console.warn(`registry tests skipped: ${missing}`);

describe.skipIf(missing !== undefined)("engine driver and a registry with a password", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-registry-"));
  const leases: LeaseKey[] = [];
  let registry: ChildProcess;
  let host: string;
  let closed: string;
  let engine: TestEngine;
  let driver: DockerDriver;

  beforeAll(async () => {
    host = `127.0.0.1:${await freePort()}`;
    registry = startRegistry(folder, host);
    await untilAnswers(host);
    const config = join(folder, "registries.conf");
    writeFileSync(config, `[[registry]]\nlocation = "${host}"\ninsecure = true\n`);
    engine = await TestEngine.start({ CONTAINERS_REGISTRIES_CONF: config });
    await engine.podman("tag", engine.image, `${host}/team/app:1`);
    await engine.podman("push", "--quiet", "--creds", `tenant:${PASSWORD}`, `${host}/team/app:1`);
    closed = `127.0.0.1:${await freePort()}`;
    driver = await engine.driver("provider", { ...OPEN, registries: allowed() });
  });

  afterEach(async () => {
    for (const id of leases.splice(0)) await driver.teardown(id);
  });

  afterAll(async () => {
    await engine.destroy("provider", "small", "strange", "thrifty", "usual");
    registry.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const allowed = () => ({ allowed: [host, closed].map((each) => ({ host: each, plain: true })) });

  const credentials = (overrides: Partial<ManifestCredentials> = {}): ManifestCredentials => ({
    host,
    email: "",
    username: "tenant",
    password: PASSWORD,
    ...overrides,
  });

  async function deploy(image: string, given: ManifestCredentials | null): Promise<LeaseKey> {
    const spec = sampleSpec([sampleService(image, { credentials: given })]);
    leases.push(spec.id);
    await driver.deploy(spec);
    return spec.id;
  }

  async function refusal(image: string, given: ManifestCredentials | null): Promise<string> {
    const id = await deploy(image, given);
    const told = await untilHealth(driver, id, (health) => health.services[0]?.error !== undefined, "an error");
    expect(told.health).toBe("bad");
    return told.services[0]?.error ?? "";
  }

  it("pulls with the tenant's credentials", async () => {
    const id = await deploy(`${host}/team/app:1`, credentials());
    await untilOk(driver, id);
    expect((await fetch(`http://${driver.routing.backends(id, "web", 80)[0]}/`)).status).toBe(200);
  });

  it("does not lend the image to a lease without credentials, though it lies on the engine", async () => {
    await untilOk(driver, await deploy(`${host}/team/app:1`, credentials()));
    expect(await refusal(`${host}/team/app:1`, null)).toMatch(/does not exist or needs credentials/);
  });

  it("reports wrong credentials, and credentials for another registry, without showing them", async () => {
    const wrong = await refusal(`${host}/team/app:1`, credentials({ password: "battery staple" }));
    expect(wrong).toMatch(/refused the credentials.*check user name and password/);
    expect(wrong).not.toContain("battery");
    const other = await refusal(`${host}/team/app:1`, credentials({ host: "other.example.com" }));
    expect(other).toMatch(new RegExp(`needs credentials for ${host}.*other.example.com`));
  });

  it("gives a lease no more images than it may have, and removes them with the provider", async () => {
    const small = await engine.driver("small", {
      ...OPEN,
      limits: { leaseImageBytes: 1n << 20n },
      registries: allowed(),
    });
    const id = sampleSpec([sampleService(`${host}/team/app:1`, { credentials: credentials() })]).id;
    await small.deploy({ ...sampleSpec([sampleService(`${host}/team/app:1`, { credentials: credentials() })]), id });
    const told = await untilHealth(small, id, (health) => health.services[0]?.error !== undefined, "an error");
    expect(told.services[0]?.error).toMatch(/images of the lease take \d+ MiB, this provider has 1 MiB/);
    await small.purge();
    await driver.purge();
    expect(await engine.podman("images", "--format", "{{.Repository}}")).not.toContain("svc-images");
    expect(await engine.podman("images", "--format", "{{.Repository}}")).toContain(`${host}/team/app`);
  });

  describe("a tenant who updates again and again", () => {
    // Two versions of 8 MiB beside one another, not three.
    const settings = () => ({ ...OPEN, limits: { leaseImageBytes: 24n << 20n }, registries: allowed() });
    let thrifty: DockerDriver;
    let spec: LeaseSpec;
    let generation: number;

    beforeEach(async () => {
      thrifty = await engine.driver("thrifty", settings());
      spec = sampleSpec([]);
      generation = 0;
    });
    afterEach(() => thrifty.purge());

    async function begin(tag: string): Promise<void> {
      generation++;
      const env = [`GENERATION=${generation}`];
      const service = sampleService(`${host}/team/app:${tag}`, { credentials: credentials(), env });
      await thrifty.deploy({ ...spec, group: { ...spec.group, services: [service] }, generation });
    }

    async function ready(): Promise<void> {
      const isUpdated = ({ services: [web] }: LeaseHealth) => web?.generation === generation && web.updated === 1;
      await untilHealth(thrifty, spec.id, isUpdated, `generation ${generation}`);
    }

    async function update(tag: string): Promise<number> {
      await begin(tag);
      await ready();
      return (await images()).length;
    }

    /** The provider's images on the engine, the newest first. */
    async function images(): Promise<string[]> {
      const names = await engine.podman("images", "--noheading", "--format", "{{.Repository}}:{{.Tag}}");
      return names.split("\n").filter((name) => name.startsWith(`localhost/svc-images/${thriftyPrefix()}:`));
    }

    it("holds no more images of the disk than a lease may have", async () => {
      for (const version of ["a", "b", "c"]) await pushVersion(version);
      const held: number[] = [];
      for (const version of ["a", "b", "c"]) held.push(await update(version));
      expect(held).toEqual([1, 2, 2]);
    });

    atNight(() => {
      it("holds no more where a tag names other contents each time", async () => {
        const held: number[] = [];
        for (const contents of ["e", "f", "g"]) {
          await pushVersion(contents, "moved");
          held.push(await update("moved"));
        }
        expect(held).toEqual([1, 2, 2]);
      });

      it("holds no more where the daemon begins again after an update, before anything of it was removed", async () => {
        for (const version of ["h", "i", "j"]) await pushVersion(version);
        const held = [await update("h"), await update("i")];
        await thrifty.close();
        thrifty = await engine.driver("thrifty", settings());
        held.push(await update("j"));
        expect(held).toEqual([1, 2, 2]);
      });
    });

    atNight(() =>
      it("is refused while earlier images cannot be removed, and served when they can", async () => {
        for (const version of ["k", "l", "m", "n"]) await pushVersion(version);
        const holders: string[] = [];
        for (const version of ["k", "l"]) {
          const before = await images();
          await update(version);
          const [added = ""] = (await images()).filter((name) => !before.includes(name));
          holders.push((await engine.podman("create", added)).trim());
        }
        const kept = await images();
        await update("m");
        await begin("n");
        const isRefused = ({ services: [web] }: LeaseHealth) =>
          web?.error?.includes("images of the lease take") === true;
        const refused = await untilHealth(thrifty, spec.id, isRefused, "the refusal");
        // The version before goes on.
        expect(refused.services[0]?.available).toBe(1);
        expect(await images()).toEqual(expect.arrayContaining(kept));
        for (const holder of holders) await engine.podman("rm", holder);
        await ready();
        expect((await images()).length).toBeLessThanOrEqual(3);
      }),
    );
  });

  const thriftyPrefix = () => defaultPrefix(join(engine.folder, "thrifty"));

  /** The sample image with 8 MiB that no other version has. */
  async function pushVersion(version: string, tag = version): Promise<void> {
    const file = join(engine.folder, version);
    writeFileSync(file, Buffer.alloc(8 << 20, version));
    const made = (await engine.podman("create", engine.image)).trim();
    await engine.podman("cp", file, `${made}:/`);
    await engine.podman("commit", "--quiet", made, `${host}/team/app:${tag}`);
    await engine.podman("rm", made);
    await engine.podman("push", "--quiet", "--creds", `tenant:${PASSWORD}`, `${host}/team/app:${tag}`);
    await engine.podman("rmi", `${host}/team/app:${tag}`);
    rmSync(file);
  }

  it("a runtime that the engine does not know keeps the provider from bidding", async () => {
    const strange = await engine.driver("strange", { runtime: "strange" });
    expect((await strange.obstacle())?.text).toMatch(/has no runtime "strange".*--cluster-runtime-class/);
    expect(await (await engine.driver("usual", { runtime: "runc" })).obstacle()).toBeUndefined();
  });

  it("reports a tag that does not exist and a registry that does not answer", async () => {
    expect(await refusal(`${host}/team/app:2`, credentials())).toMatch(/does not exist in the registry/);
    expect(await refusal(`${closed}/team/app:1`, null)).toMatch(/cannot be reached/);
  });
});

function startRegistry(folder: string, host: string): ChildProcess {
  writeFileSync(join(folder, "htpasswd"), `tenant:${bcrypt.hashSync(PASSWORD, 4)}\n`);
  const config = {
    version: 0.1,
    log: { level: "error" },
    storage: { filesystem: { rootdirectory: join(folder, "images") } },
    auth: { htpasswd: { realm: "test", path: join(folder, "htpasswd") } },
    http: { addr: host },
  };
  writeFileSync(join(folder, "config.yml"), JSON.stringify(config));
  return spawn("docker-registry", ["serve", join(folder, "config.yml")], { stdio: "ignore" });
}

async function untilAnswers(host: string): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt++) {
    const status = await fetch(`http://${host}/v2/`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 401) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the registry does not answer");
}
