import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { execFileSync } from "../support/bounded.ts";
import { clusterConformance, execute, sampleSpec, scriptService, untilOk } from "../support/conformance/index.ts";
import { inTurn } from "../support/runs.ts";
import { DockerEngine } from "./docker-engine.ts";

const missing = DockerEngine.missing();
if (missing !== undefined) console.warn(`tests with Docker skipped: ${missing}`);

/** By day every second rule; the driver on Podman has the others. */
describe.skipIf(missing !== undefined)("engine driver on Docker", () => {
  let engine: DockerEngine;

  beforeAll(async () => {
    engine = await DockerEngine.start();
  });

  afterAll(() => engine?.destroy());

  for (const { name, run } of inTurn(clusterConformance, { at: 1, of: 2 })) {
    it(name, () =>
      run({ open: () => engine.driver(), image: engine.image, missingImage: "localhost/svc-no-such-image:1" }),
    );
  }

  it("holds writable layers and volumes of images by their size, and runs health checks seldom", async () => {
    const image = "localhost/svc-hostile:1";
    const made = engine.docker("create", engine.image).trim();
    const changes = ["VOLUME /declared", "HEALTHCHECK --interval=1ms CMD true"].flatMap((each) => ["--change", each]);
    engine.docker("commit", ...changes, made, image);
    engine.docker("rm", made);
    const driver = await engine.driver();
    const service = scriptService(image, "sleep 1000");
    const storage = [{ name: "default", size: { val: String(16 << 20) } }];
    const spec = sampleSpec([{ ...service, resources: { ...service.resources, storage } }]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    const name = engine.docker("ps", "--format", "{{.Names}}").trim();
    const format = "{{json .Config.Healthcheck.Test}} {{.Config.Healthcheck.Interval}} {{.HostConfig.Init}}";
    expect(engine.docker("inspect", "--format", format, name).trim()).toBe('["CMD-SHELL","true"] 30s true');
    for (const path of ["/big", "/declared/big"]) {
      const command = ["dd", "if=/dev/zero", `of=${path}`, "bs=1M", "count=40"];
      expect((await execute(driver, spec.id, { service: "web", command })).stderr).toMatch(/No space left/);
      await execute(driver, spec.id, { service: "web", command: ["rm", path] });
    }
    await driver.teardown(spec.id);
    // The kernel gives a device up when the last who looks at it has gone.
    await expect.poll(() => execFileSync("losetup", ["-a"], { encoding: "utf8" })).not.toContain(engine.folder);
    await driver.close();
  });
});
