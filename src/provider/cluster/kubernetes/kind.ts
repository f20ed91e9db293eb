import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { commandError, makePrivateDirectory, readFileText, replaceFile } from "../../../util/index.ts";
import { type ClusterKind, type ClusterSettings, clusterErrors } from "../contract/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import { LINGER_MS } from "./objects/settings.ts";

/** Folder of the driver's own inside the provider's. */
const FOLDER = "kubernetes";
/** File in it that says whose leases these are. */
const PROVIDER_FILE = "provider";
const MAX_PROVIDER_BYTES = 1_024;
/** Stands for the access that the cluster gives its own programs. */
export const IN_CLUSTER = "in-cluster";
/** Port of URLs by their scheme. */
const USUAL_PORT = { http: 80, https: 443 } as const;

/** A Kubernetes cluster, of one machine or many. The client code is loaded only when a cluster is looked for. */
export const kubernetesCluster: ClusterKind = {
  name: "kubernetes",
  orchestrator: true,
  async find(address = usualPlace()) {
    const version = await asking(address, (api) => api.version());
    return { address, kind: "kubernetes", version };
  },
  installation: {
    async objects(namespace) {
      const { installObjects } = await import("./install/index.ts");
      return installObjects(namespace).map(({ resource, object }) => {
        const { apiVersion, kind } = resource;
        const { metadata, ...rest } = object;
        return { apiVersion, kind, metadata, ...rest };
      });
    },
    install: (namespace, address = usualPlace()) =>
      asking(address, async (api) => (await import("./install/index.ts")).installOn(api, namespace)),
    lacks: (address = usualPlace()) => asking(address, lackingOn),
  },
  async gpus(address = usualPlace()) {
    const { nodeGpus } = await import("./view/nodes.ts");
    return asking(address, nodeGpus);
  },
  async parts({ address, ingress = { by: "cluster" }, runtime }) {
    const { expectedParts } = await import("./named.ts");
    const named = { ingressClass: ingress.className, gateway: ingress.gateway, runtime };
    return expectedParts(named, ingress.by === "cluster").map(({ name, look }) => ({
      name,
      look: () => asking(address ?? usualPlace(), look),
    }));
  },
  async storage(address = usualPlace()) {
    const { storagePools } = await import("./capacity.ts");
    return asking(address, storagePools);
  },
  async poolUse(pool, address = usualPlace()) {
    const { poolUse } = await import("./addresses/pool.ts");
    return asking(address, (api) => poolUse(api, pool));
  },
  async open({ address, stateDir, ...settings }) {
    const folder = join(stateDir, FOLDER);
    const provider = knownProvider(folder, settings.provider);
    // Those who only remove things need nothing that is new.
    if (settings.provider !== undefined) await asking(address, mustBeInstalled);
    const { openKubernetesDriver } = await import("./driver.ts");
    const { ingress = { by: "cluster" }, nodePorts, leasedIps, log } = settings;
    const { scheme = "http", port = USUAL_PORT[scheme] } = ingress;
    // The provider's own ingress sees at once that a replica ends.
    const lingers = ingress.by === "cluster" && LINGERING.test(await asking(address, (api) => api.version()));
    return openKubernetesDriver({
      api: await apiOf(address),
      objects: { ...objectSettings(provider, settings), lingerMs: lingers ? LINGER_MS : 0 },
      stateDir: folder,
      nodePorts,
      leasedIps,
      forwards: ingress.by === "forward",
      ...(ingress.by === "cluster"
        ? { ingress: { scheme, port: port === USUAL_PORT[scheme] ? undefined : port } }
        : {}),
      ...(log === undefined ? {} : { log }),
    });
  },
};

function objectSettings(provider: string, settings: Omit<ClusterSettings, "stateDir">) {
  const { publicHostname = "", stopGraceMs = 30_000, allowLocalImages = false, userNamespaces = false } = settings;
  const { runtime, ingress, podSecurity = "restricted", overcommit = { cpu: 0, memory: 0, storage: 0 } } = settings;
  return {
    provider,
    publicHostname,
    stopGraceMs,
    allowLocalImages,
    userNamespaces,
    podSecurity,
    runtime,
    overcommit,
    ingressClass: ingress?.className,
    ingressTls: ingress?.scheme === "https" ? { issuer: ingress.issuer } : undefined,
    gateway: ingress?.gateway,
  };
}

/** Releases whose pods can wait before they are asked to end: 1.30 and later. */
const LINGERING = /^v?1\.(?:[3-9]\d|\d{3,})\b/;

/** The default access: that of a pod in the cluster, then the files that other tools read. */
function usualPlace(): string {
  const { KUBERNETES_SERVICE_HOST, KUBECONFIG } = process.env;
  if (KUBERNETES_SERVICE_HOST) return IN_CLUSTER;
  const path = KUBECONFIG || join(homedir(), ".kube", "config");
  if (existsSync(path)) return path;
  throw commandError(`there is no cluster configuration at ${path}, and this program does not run on a cluster`, {
    hint: "name the file with --clusterconfig",
  });
}

/** Asks once, with errors for those who do not know this API. */
async function asking<T>(address: string, task: (api: KubernetesApi) => Promise<T>): Promise<T> {
  const api = await apiOf(address);
  try {
    return await task(api);
  } catch (error) {
    const { ApiFailure } = await import("./api/failure.ts");
    throw error instanceof ApiFailure ? error.toOperator() : error;
  } finally {
    api.close();
  }
}

async function lackingOn(api: KubernetesApi): Promise<string | undefined> {
  return (await import("./install/index.ts")).lackingOn(api);
}

async function mustBeInstalled(api: KubernetesApi): Promise<void> {
  const lacking = await lackingOn(api);
  if (lacking !== undefined) throw clusterErrors.notInstalled(lacking);
}

async function apiOf(address: string) {
  const [{ inClusterAccess, readKubeconfig }, { KubernetesApi }] = await Promise.all([
    import("./access/kubeconfig.ts"),
    import("./api/api.ts"),
  ]);
  if (address !== IN_CLUSTER) return new KubernetesApi(readKubeconfig(address));
  const access = inClusterAccess();
  if (access !== undefined) return new KubernetesApi(access);
  throw commandError("the cluster gave this program no service account", {
    hint: "mount its token, or name a file with --clusterconfig",
  });
}

/** Commands that have no key of the provider at hand go by what it was the last time. */
function knownProvider(folder: string, provider: string | undefined): string {
  const path = join(folder, PROVIDER_FILE);
  if (provider !== undefined) {
    makePrivateDirectory(folder);
    replaceFile(path, `${provider}\n`);
    return provider;
  }
  if (!existsSync(path))
    throw commandError(`no provider has run on a cluster from ${folder}`, { hint: "name its home with --home" });
  return readFileText(path, { maxBytes: MAX_PROVIDER_BYTES }).trim();
}
