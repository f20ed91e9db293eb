import { describe, expect, it } from "vitest";
import { clusterConformance, sampleService, sampleSpec, untilHealth, untilOk } from "./support/conformance/index.ts";
import { MemoryCluster } from "./support/memory-cluster/index.ts";

const POOL = ["203.0.113.1", "203.0.113.2", "203.0.113.3"];
const MISSING = "localhost/svc-no-such-image:1";

describe("memory driver", () => {
  // `test/isolated/cluster-kind.test.ts` runs the suite behind the provider's ingress.
  it.each(clusterConformance)("behind its own ingress: $name", async ({ run }) => {
    const cluster = new MemoryCluster({ hasImage: (image) => image !== MISSING, ingress: "cluster", leasedIps: POOL });
    try {
      await run({ open: async () => cluster.open(), image: "localhost/svc-sample:1", missingImage: MISSING });
    } finally {
      await cluster.destroy();
    }
  });

  it("plays a cluster that is away: unknown health, refused calls, and all as before when it is back", async () => {
    const cluster = new MemoryCluster();
    const driver = cluster.open();
    const spec = sampleSpec([sampleService("localhost/svc-sample:1")]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    cluster.reachable = false;
    expect((await driver.status(spec.id)).health).toBe("unknown");
    await expect(driver.teardown(spec.id)).rejects.toThrow(/does not answer/);
    await expect(driver.deploy(spec)).rejects.toThrow(/does not answer/);
    cluster.reachable = true;
    expect((await driver.status(spec.id)).health).toBe("ok");
    await cluster.destroy();
  });

  it("plays a crash", async () => {
    const cluster = new MemoryCluster({ backoff: { first: 20, initial: 20, max: 20, resetAfter: 1000 } });
    const driver = cluster.open();
    const spec = sampleSpec([sampleService("localhost/svc-sample:1", { count: 2 })]);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    cluster.crash(spec.id, "web", 1, 9);
    expect(cluster.backends(spec.id, "web", 80)).toHaveLength(1);
    const back = await untilHealth(driver, spec.id, (health) => health.health === "ok", "the restart");
    expect(back.services[0]?.replicas.map((replica) => replica.restarts)).toEqual([0, 1]);
    await cluster.destroy();
  });
});
