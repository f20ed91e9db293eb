import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterConformance } from "../support/conformance/index.ts";
import { inTurn } from "../support/runs.ts";
import { DockerEngine } from "./docker-engine.ts";
import { TestEngine } from "./engine.ts";

const missing = await TestEngine.missing();
if (missing !== undefined) console.warn(`engine driver tests skipped: ${missing}`);

/** Where there is Docker too, each engine tries half of the rules by day. */
const rules = DockerEngine.missing() === undefined ? inTurn(clusterConformance, { at: 0, of: 2 }) : clusterConformance;

describe.skipIf(missing !== undefined)("engine driver", () => {
  let engine: TestEngine;

  beforeAll(async () => {
    engine = await TestEngine.start();
  });

  afterAll(() => engine.destroy("provider"));

  it("leaves nothing of the sample image among the engine's temporary files", () => {
    expect(engine.leftovers()).toEqual([]);
  });

  for (const { name, run } of rules) {
    it(name, () =>
      run({
        open: () => engine.driver("provider"),
        image: engine.image,
        missingImage: "localhost/svc-no-such-image:1",
      }),
    );
  }
});
