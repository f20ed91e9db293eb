import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { SETTINGS } from "../../../../test/support/kubernetes-leases.ts";
import { clusterConformance } from "../contract/conformance/index.ts";
import { openKubernetesDriver } from "./driver.ts";

const MISSING = "localhost/svc-no-such-image:1";

describe("the Kubernetes driver", () => {
  for (const { name, run } of clusterConformance) {
    it(name, async () => {
      const cluster = await KubernetesDouble.start({ hasImage: (image) => image !== MISSING });
      const stateDir = mkdtempSync(join(tmpdir(), "svc-kubernetes-"));
      try {
        await run({
          open: () =>
            openKubernetesDriver({
              api: cluster.server.client(),
              objects: { ...SETTINGS, allowLocalImages: true },
              stateDir,
              ingress: { scheme: "http", port: cluster.ingressPort },
              timing: { retry: 10, maxRetry: 100, removalPoll: 10 },
            }),
          image: "localhost/svc-sample:1",
          missingImage: MISSING,
        });
      } finally {
        await cluster.close();
        rmSync(stateDir, { recursive: true, force: true });
      }
    });
  }
});
