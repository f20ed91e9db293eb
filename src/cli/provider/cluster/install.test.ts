import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { runCli } from "../../../../test/cli/run.ts";
import { KubernetesDouble } from "../../../../test/support/kubernetes-double.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

let cluster: KubernetesDouble;
let folder: string;

beforeEach(async () => {
  cluster = await KubernetesDouble.start();
  folder = mkdtempSync(join(tmpdir(), "svc-install-"));
});

afterEach(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Servers say themselves when they serve a kind. */
function establish(): void {
  const settled = cluster.server.changed;
  cluster.server.changed = (path) => {
    settled(path);
    const found = path.startsWith(`${DEFINITIONS}/`) ? cluster.server.find(path) : undefined;
    if (found === undefined || "status" in found) return;
    const status = { conditions: [{ type: "Established", status: "True" }] };
    cluster.server.put(DEFINITIONS, { ...found, status } as never);
  };
}

const install = (...args: string[]) => runCli(["provider", "cluster", "install", ...args]);

test("it says what it has made, as a table and as JSON", async () => {
  establish();
  const config = join(folder, "config");
  const text = `apiVersion: v1
current-context: one
contexts: [{ name: one, context: { cluster: one } }]
clusters: [{ name: one, cluster: { server: "${cluster.server.address}" } }]
`;
  writeFileSync(config, text);
  const first = await install("--clusterconfig", config, "--provider-namespace", "shop");
  expect([first.code, first.err]).toEqual([0, ""]);
  expect(first.out).toContain("created    CustomResourceDefinition manifests.svc.network\n");
  expect(first.out).toContain("created    ServiceAccount shop/svc-provider\n");
  const second = await install("--clusterconfig", config, "--provider-namespace", "shop", "-o", "json");
  const { namespace, objects } = JSON.parse(second.out);
  expect(namespace).toBe("shop");
  expect(objects).toContainEqual({
    kind: "Role",
    name: "svc-provider",
    namespace: "lease",
    result: expect.any(String),
  });
});

test("--dry-run prints what kubectl takes, in the order in which it is made, and asks no cluster", async () => {
  const before = cluster.server.requests.length;
  const yaml = await install("--dry-run");
  const documents = parseAllDocuments(yaml.out).map((each) => each.toJS());
  expect(documents.map(({ kind }) => kind)).toEqual([
    ...[
      "CustomResourceDefinition",
      "CustomResourceDefinition",
      "CustomResourceDefinition",
      "Namespace",
      "Namespace",
      "ResourceQuota",
    ],
    ...["ResourceQuota", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
  ]);
  const json = await install("--dry-run", "-o", "json");
  expect(JSON.parse(json.out)).toEqual({ apiVersion: "v1", kind: "List", items: documents });
  expect(cluster.server.requests).toHaveLength(before);
});

test.each([
  ["Shop", "is not the name of a namespace"],
  ["a".repeat(64), "is not the name of a namespace"],
  ["-a", "is not the name of a namespace"],
  ["lease", "is reserved for the records of leases"],
])("the namespace %s is refused", async (name, text) => {
  const ran = await install("--dry-run", "--provider-namespace", name);
  expect(ran.code).toBe(2);
  expect(ran.err).toContain(text);
});

test("a namespace of 63 characters is taken", async () => {
  expect((await install("--dry-run", "--provider-namespace", "a".repeat(63))).code).toBe(0);
});

test("a file that does not exist is named", async () => {
  const ran = await install("--clusterconfig", join(folder, "none"));
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining("there is no file")]);
});
