import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import { ROOT } from "./build.ts";
import type { Fixture } from "./fixture.ts";
import { TestKubernetesNode } from "./kubernetes-node.ts";

interface ApiService extends ApiObject {
  readonly spec?: { readonly clusterIP?: string };
}

/**
 * Gives every service of the cluster a name, as clusters promise: `NAME.NAMESPACE.svc.cluster.local`. Pods ask it at the address at
 * which nodes keep a cache of the cluster's name servers.
 */
export async function startNames(fixture: Fixture, bed: TestKubernetesNode): Promise<void> {
  const file = join(fixture.tempHome("names"), "names.json");
  const api = new KubernetesApi(readKubeconfig(bed.config), { pauseMs: 50, maxPauseMs: 500 });
  const stop = new AbortController();
  const services = new Map<string, ApiService>();
  const write = () => writeFileSync(file, JSON.stringify(Object.fromEntries([...services].flatMap(nameOf))));
  write();
  const following = (async () => {
    for await (const change of api.watch<ApiService>(KIND.service, {}, stop.signal)) {
      if (change.type === "all") services.clear();
      for (const each of change.type === "all" ? change.objects : []) services.set(keyOf(each), each);
      if (change.type === "set") services.set(keyOf(change.object), change.object);
      if (change.type === "removed") services.delete(keyOf(change.object));
      write();
    }
  })();
  fixture.defer(async () => {
    stop.abort();
    await following;
    api.close();
  });
  await bed.room.run("ip", ["addr", "add", `${TestKubernetesNode.names}/32`, "dev", "lo"]);
  bed.control.run("names", [
    process.execPath,
    join(ROOT, "test", "support", "name-server.mjs"),
    TestKubernetesNode.names,
    file,
  ]);
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.name}.${metadata.namespace}.svc.cluster.local`;
}

function nameOf([name, { spec }]: [string, ApiService]): [string, string][] {
  const { clusterIP = "None" } = spec ?? {};
  return clusterIP === "None" ? [] : [[name, clusterIP]];
}
