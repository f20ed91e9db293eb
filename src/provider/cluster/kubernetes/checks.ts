import { isOneOf } from "../../../util/index.ts";
import {
  type ClusterCheck,
  clusterErrors,
  type FoundCluster,
  type ProviderOffer,
  type StoragePool,
} from "../contract/index.ts";
import { answersCheck, gpuCheck, known } from "../shared/index.ts";
import { poolUse } from "./addresses/pool.ts";
import type { KubernetesApi } from "./api/api.ts";
import { storagePools } from "./capacity.ts";
import { lackingOn } from "./install/index.ts";
import { expectedParts, type Naming } from "./named.ts";
import { nodeGpus } from "./view/nodes.ts";

const STORAGE = /^capabilities\/storage\/([^/]+)\/(class|persistent)$/;

export interface CheckedCluster {
  find(): Promise<FoundCluster>;
  /** Asks the cluster once. */
  ask<T>(task: (api: KubernetesApi) => Promise<T>): Promise<T>;
  readonly named: Naming;
  /** Whether the cluster's ingress serves host names. */
  readonly isRouted: boolean;
  readonly leasedIps: readonly string[];
}

/** Whether the cluster answers and has what the settings name and the provider offers. */
export function kubernetesChecks(cluster: CheckedCluster, offer: ProviderOffer): ClusterCheck[] {
  const { find, ask, named, isRouted, leasedIps } = cluster;
  return [
    answersCheck(find, "make kubectl get nodes work with the same file, or name another with --clusterconfig"),
    installationCheck(cluster),
    ...expectedParts(named, isRouted).map(({ name, look }) => ({
      name,
      fix: "fix what the detail names",
      look: () =>
        ask(look).catch((error: unknown) => {
          if (isOneOf([clusterErrors.partMissing], error)) throw error;
          return known(Promise.reject(error));
        }),
    })),
    gpuCheck(offer, {
      fix: "label the nodes (svc.gpu/vendor, svc.gpu/model) and run the vendor's device plugin, or offer none: svc tx provider update <file>",
      gpus: () => ask(nodeGpus),
    }),
    storageCheck(() => ask(storagePools), offer),
    ...(leasedIps.length === 0 ? [] : [poolCheck(cluster)]),
  ];
}

/** Whether the cluster has what a provider needs on it. */
function installationCheck({ ask }: CheckedCluster): ClusterCheck {
  return {
    name: "cluster installation",
    fix: "svc provider cluster install",
    async look() {
      const lacking = await known(ask(lackingOn));
      if (lacking !== undefined) throw new Error(lacking);
      return "kinds of objects, namespaces and rights are there";
    },
  };
}

/** Whether the cluster has the storage that the provider offers. */
export function storageCheck(storage: () => Promise<readonly StoragePool[]>, offer: ProviderOffer): ClusterCheck {
  return {
    name: "storage classes",
    fix: "kubectl annotate storageclass <class> svc.capacity=1Ti, or stop offering it: svc tx provider update <file>",
    async look() {
      const pools = await known(storage());
      const found = pools.flatMap(({ classes }) => classes);
      const offered = offeredClasses((await offer.record()).attributes);
      const missing = offered.filter((each) => !found.includes(each));
      const text = `${found.join(", ") || "none with svc.capacity"}; offered: ${offered.join(", ") || "none"}`;
      if (missing.length > 0)
        throw new Error(`offered, but missing on the cluster or without svc.capacity: ${missing.join(", ")}`);
      return text;
    },
  };
}

/** Whether leases can have addresses of the pool that the settings name. */
function poolCheck({ ask, leasedIps: pool }: CheckedCluster): ClusterCheck {
  return {
    name: "leased addresses",
    fix: "give the Services that have them other addresses, or name others with --cluster-leased-ips",
    async look() {
      const { leased, foreign } = await known(ask((api) => poolUse(api, pool)));
      if (foreign === pool.length) throw new Error(`other Services of the cluster have all ${pool.length} of the pool`);
      return `${pool.length} in the pool: ${leased} leased, ${foreign} of other Services, ${pool.length - leased - foreign} left`;
    },
  };
}

/** The offered classes of persistent volumes. */
function offeredClasses(attributes: Awaited<ReturnType<ProviderOffer["record"]>>["attributes"]): string[] {
  const offers = new Map<string, Map<string, string>>();
  for (const { key, value } of attributes) {
    const [, number, word] = STORAGE.exec(key) ?? [];
    if (number === undefined || word === undefined) continue;
    const offer = offers.get(number) ?? new Map<string, string>();
    offers.set(number, offer.set(word, value));
  }
  return [...offers.values()].flatMap((offer) => {
    const name = offer.get("class");
    return name !== undefined && offer.get("persistent") === "true" ? [name] : [];
  });
}
