import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject, Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { INSTALL } from "../../src/provider/cluster/kubernetes/install/kinds.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import type { TestKubernetes } from "./kubernetes.ts";
import { freePorts } from "./ports.ts";
import { waitFor } from "./wait.ts";

const NAMESPACE = "metallb-system";
const POOL: Resource = { apiVersion: "metallb.io/v1beta1", kind: "IPAddressPool", plural: "ipaddresspools" };

/**
 * Starts MetalLB's own controller beside an API server, with the pool that the guide describes. It assigns addresses; what
 * announces them to a network is not there.
 */
export async function startMetalLb(
  bed: TestKubernetes,
  controller: string,
  addresses: readonly string[],
): Promise<void> {
  const api = new KubernetesApi(readKubeconfig(bed.config));
  try {
    await define(api, `${controller}-definitions`);
    await api.apply(KIND.namespace, { metadata: { name: NAMESPACE } });
    const metadata = { name: "tenants", namespace: NAMESPACE };
    const pool: ApiObject & { readonly spec: object } = { metadata, spec: { addresses, autoAssign: false } };
    // A server takes objects of a new kind a moment after its definition.
    const isMade = () =>
      api.apply(POOL, pool).then(
        () => true,
        () => false,
      );
    await waitFor(isMade, "the pool");
  } finally {
    api.close();
  }
  const [port] = await freePorts(1);
  const place = ["--kubeconfig", bed.config, "--namespace", NAMESPACE, "--port", `${port}`];
  bed.run("metallb", [controller, ...place, "--webhook-mode", "disabled"]);
}

async function define(api: KubernetesApi, folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    for (const document of parseAllDocuments(readFileSync(join(folder, name), "utf8"))) {
      const object: (ApiObject & { readonly kind: string }) | null = document.toJS();
      if (object?.kind === INSTALL.definition.kind) await api.apply(INSTALL.definition, object);
    }
  }
}
