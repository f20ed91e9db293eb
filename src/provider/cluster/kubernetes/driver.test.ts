import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clusterConformance } from "../../../../test/support/conformance/index.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";
import { SETTINGS } from "../../../../test/support/kubernetes-leases.ts";
import { openKubernetesDriver } from "./driver.ts";
import { CLUSTER_RULES, LEASES_RULES } from "./install/index.ts";

const calls = new Set<string>();
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
              leasedIps: ["203.0.113.1", "203.0.113.2", "2001:db8::3"],
              ingress: { scheme: "http", port: cluster.ingressPort },
              timing: { retry: 10, maxRetry: 100, removalPoll: 10, report: 10 },
            }),
          image: "localhost/svc-sample:1",
          missingImage: MISSING,
        });
      } finally {
        for (const request of cluster.server.requests) for (const call of callsOf(request)) calls.add(call);
        await cluster.close();
        rmSync(stateDir, { recursive: true, force: true });
      }
    });
  }

  it("made no call beyond the rights that an installation gives it, and nearly all that these allow", () => {
    const allowed = [...CLUSTER_RULES, ...LEASES_RULES].flatMap(({ apiGroups, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${apiGroups[0]}/${resource}`)),
    );
    expect([...calls].filter((call) => !allowed.includes(call))).toEqual([]);
    // Persistent volumes, manifests that want less, settings, checks at the start, and newer servers.
    const elsewhere = [
      "create apps/statefulsets",
      "patch apps/statefulsets",
      // Deletes pods that nodes have ended repeatedly.
      "delete /pods",
      "delete apps/deployments",
      "delete apps/statefulsets",
      "delete networking.k8s.io/networkpolicies",
      "get networking.k8s.io/ingressclasses",
      "list networking.k8s.io/ingressclasses",
      "get gateway.networking.k8s.io/gateways",
      "get gateway.networking.k8s.io/gatewayclasses",
      "watch gateway.networking.k8s.io/httproutes",
      "create gateway.networking.k8s.io/httproutes",
      "patch gateway.networking.k8s.io/httproutes",
      "delete gateway.networking.k8s.io/httproutes",
      "get node.k8s.io/runtimeclasses",
      "get apiextensions.k8s.io/customresourcedefinitions",
      "create /pods/exec",
    ];
    expect(allowed.filter((call) => !calls.has(call)).sort()).toEqual([...elsewhere].sort());
  });
});

const VERBS: Readonly<Record<string, readonly string[]>> = {
  PATCH: ["create", "patch"],
  POST: ["create"],
  DELETE: ["delete"],
  WATCH: ["watch"],
  EXEC: ["get"],
};

/** The right that a request needs: `list apps/deployments`. */
function callsOf(request: string): string[] {
  const [method = "", path = ""] = request.split(" ");
  const [, group = "", rest = ""] = /^(?:\/api|\/apis\/([^/]+))\/v[^/]+\/(.*)$/.exec(path) ?? [];
  if (rest === "") return [];
  const words = rest.split("/");
  const [resource = "", name, part] = words[0] === "namespaces" && words.length > 2 ? words.slice(2) : words;
  const verbs = part === "status" ? ["patch"] : (VERBS[method] ?? [name === undefined ? "list" : "get"]);
  return verbs.map((verb) => `${verb} ${group}/${part === undefined ? resource : `${resource}/${part}`}`);
}
