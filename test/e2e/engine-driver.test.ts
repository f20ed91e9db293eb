import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { clusterConformance } from "../../src/provider/cluster/conformance.ts";
import {
  createEngineDriver,
  discoverEngine,
  type EngineDriver,
  type EngineDriverOptions,
  ensureSampleImage,
} from "../../src/provider/cluster/index.ts";

/** Why these tests cannot run here, or the engine's socket. */
async function findEngine(): Promise<{ readonly socket: string } | { readonly skip: string }> {
  if (process.getuid?.() !== 0) return { skip: "not root, network rules cannot be set" };
  try {
    return { socket: (await discoverEngine(process.env.SVC_TEST_ENGINE)).socket };
  } catch (error) {
    return { skip: error instanceof Error ? error.message : String(error) };
  }
}

const engine = await findEngine();
if ("skip" in engine) console.warn(`engine driver tests skipped: ${engine.skip}`);

describe.skipIf("skip" in engine)("engine driver", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "svc-engine-"));
  let options: EngineDriverOptions;
  let image: string;

  beforeAll(async () => {
    if ("skip" in engine) return;
    image = await ensureSampleImage(engine.socket);
    options = { socket: engine.socket, stateDir, allowLocalImages: true, nodePortAddress: "127.0.0.1" };
  });

  afterAll(async () => {
    const driver = await createEngineDriver(options);
    await driver.purge();
    await driver.close();
    rmSync(stateDir, { recursive: true, force: true });
  });

  const open = (overrides: Partial<EngineDriverOptions> = {}): Promise<EngineDriver> =>
    createEngineDriver({ ...options, ...overrides });

  for (const { name, run } of clusterConformance) {
    it(name, () => run({ open, image, missingImage: "localhost/svc-no-such-image:1", freePort }));
  }
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
