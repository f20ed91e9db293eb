import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  commandError,
  makePrivateDirectory,
  type ReadSetting,
  readFileText,
  replaceFile,
} from "../../../util/index.ts";
import {
  type Cluster,
  type ClusterDriver,
  type ClusterInstallation,
  type ClusterKind,
  type ClusterSettings,
  clusterErrors,
} from "../contract/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import { LINGER_MS } from "./objects/settings.ts";
import {
  INSTALL_SETTINGS,
  KUBERNETES_PLACES,
  KUBERNETES_SETTINGS,
  type KubernetesSettings,
  namedConfiguration,
  readKubernetesSettings,
} from "./settings.ts";

/** Folder of the driver's own inside the provider's. */
const FOLDER = "kubernetes";
/** File in it that says whose leases these are. */
const PROVIDER_FILE = "provider";
const MAX_PROVIDER_BYTES = 1_024;
/** Stands for the access that the cluster gives its own programs. */
export const IN_CLUSTER = "in-cluster";

/** A Kubernetes cluster, of one machine or many. The client code is loaded only when a cluster is looked for. */
export const kubernetesCluster: ClusterKind = {
  name: "kubernetes",
  heading: "Flags of Kubernetes:",
  page: "docs/guides/kubernetes.md",
  folder: FOLDER,
  places: KUBERNETES_PLACES,
  settings: KUBERNETES_SETTINGS,
  // Ports of nodes and pods may be out of reach; most images that people try first run as root.
  localnetFlags: ["--cluster-ingress", "forward", "--cluster-pod-security", "baseline"],
  configure,
  installation: { settings: INSTALL_SETTINGS, configure: configureInstallation },
};

function configure(read: ReadSetting): Cluster {
  const place = placeOf(read);
  const own = readKubernetesSettings(read);
  const isRouted = own.ingress === "cluster";
  const find = async () => {
    const address = place();
    return { address, kind: "kubernetes", version: await asking(address, (api) => api.version()) };
  };
  return {
    capabilities: { carriesTraffic: isRouted, tries: false },
    find,
    open: ({ address, ...settings }) => open(address, settings, own),
    async checks(offer) {
      const { kubernetesChecks } = await import("./checks.ts");
      const { leasedIps, ingressClass, gateway } = own;
      const named = { ingressClass, gateway, runtime: offer.runtime };
      const ask = async <T>(task: (api: KubernetesApi) => Promise<T>) => asking(place(), task);
      return kubernetesChecks({ find, ask, named, isRouted, leasedIps }, offer);
    },
  };
}

function configureInstallation(read: ReadSetting): ClusterInstallation {
  const place = placeOf(read);
  const namespace = read(INSTALL_SETTINGS.namespace);
  return {
    namespace,
    async objects() {
      const { installObjects } = await import("./install/index.ts");
      return installObjects(namespace).map(({ resource, object }) => {
        const { apiVersion, kind } = resource;
        const { metadata, ...rest } = object;
        return { apiVersion, kind, metadata, ...rest };
      });
    },
    install: async () => asking(place(), async (api) => (await import("./install/index.ts")).installOn(api, namespace)),
    lacks: async () => asking(place(), lackingOn),
  };
}

async function open(
  address: string,
  { stateDir, ...settings }: ClusterSettings,
  own: KubernetesSettings,
): Promise<ClusterDriver> {
  const folder = join(stateDir, FOLDER);
  const provider = knownProvider(folder, settings.provider);
  // Commands that only remove things need nothing that is new.
  if (settings.provider !== undefined) await asking(address, mustBeInstalled);
  const { openKubernetesDriver } = await import("./driver.ts");
  const isRouted = own.ingress === "cluster";
  // The provider's own ingress sees at once that a replica ends.
  const lingers = isRouted && LINGERING.test(await asking(address, (api) => api.version()));
  return openKubernetesDriver({
    api: await apiOf(address),
    objects: { ...objectSettings(provider, settings, own), lingerMs: lingers ? LINGER_MS : 0 },
    stateDir: folder,
    nodePorts: settings.nodePorts,
    leasedIps: own.leasedIps,
    forwards: own.ingress === "forward",
    ...(isRouted ? { ingress: { scheme: own.scheme, port: undefined } } : {}),
    ...(settings.log === undefined ? {} : { log: settings.log }),
  });
}

function objectSettings(provider: string, settings: Omit<ClusterSettings, "stateDir">, own: KubernetesSettings) {
  const { publicHostname = "", stopGraceMs = 30_000, allowLocalImages = false, userNamespaces = false } = settings;
  const { runtime, overcommit = { cpu: 0, memory: 0, storage: 0 } } = settings;
  return {
    provider,
    publicHostname,
    stopGraceMs,
    allowLocalImages,
    userNamespaces,
    podSecurity: own.podSecurity,
    runtime,
    overcommit,
    ingressClass: own.ingressClass,
    ingressTls: own.scheme === "https" ? { issuer: own.issuer } : undefined,
    gateway: own.gateway,
  };
}

/** The address that the settings name, or the usual one. */
function placeOf(read: ReadSetting): () => string {
  const named = namedConfiguration(read);
  return () => named ?? usualPlace();
}

/** Releases whose pods can wait before they are asked to end: 1.30 and later. */
const LINGERING = /^v?1\.(?:[3-9]\d|\d{3,})\b/;

/** The default access: a pod's own in the cluster, then the files that other tools read. */
function usualPlace(): string {
  const { KUBERNETES_SERVICE_HOST, KUBECONFIG } = process.env;
  if (KUBERNETES_SERVICE_HOST) return IN_CLUSTER;
  const path = KUBECONFIG || join(homedir(), ".kube", "config");
  if (existsSync(path)) return path;
  throw commandError(`there is no cluster configuration at ${path}, and this program does not run on a cluster`, {
    hint: "name the file with --clusterconfig",
  });
}

/** Makes one call, with errors for readers who do not know this API. */
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

/** Commands without the provider's key use its last known address. */
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
