import { afterAll, beforeAll, describe, it } from "vitest";
import { clusterConformance } from "../../src/provider/cluster/contract/conformance/index.ts";
import { DockerEngine } from "./docker-engine.ts";

const missing = DockerEngine.missing();
if (missing !== undefined) console.warn(`tests with Docker skipped: ${missing}`);

describe.skipIf(missing !== undefined)("engine driver on Docker", () => {
  let engine: DockerEngine;

  beforeAll(async () => {
    engine = await DockerEngine.start();
  });

  afterAll(() => engine?.destroy());

  for (const { name, run } of clusterConformance) {
    it(name, () =>
      run({ open: () => engine.driver(), image: engine.image, missingImage: "localhost/svc-no-such-image:1" }),
    );
  }
});
