import type { KubernetesApi } from "../api/api.ts";
import { addressName, KIND, LABEL, LEASES_SPACE } from "../objects/index.ts";
import { type ApiService, balanced } from "../view/balanced.ts";

/** Addresses of a pool that are in use; the rest is left for leases. */
export interface PoolUse {
  readonly leased: number;
  /** Ports of other owners on the cluster. */
  readonly foreign: number;
}

/** How many addresses of a pool leases have, of any provider, and how many other Services of the cluster have or want. */
export async function poolUse(api: KubernetesApi, pool: readonly string[]): Promise<PoolUse> {
  const records = await api.list(KIND.leasedIp, { namespace: LEASES_SPACE });
  const services = await api.list<ApiService>(KIND.service);
  const leased = new Set(records.objects.map(({ metadata }) => metadata.name));
  const others = services.objects.filter(
    ({ metadata, spec }) => spec?.type === "LoadBalancer" && metadata.labels?.[LABEL.provider] === undefined,
  );
  const foreign = new Set(others.map(balanced).flatMap(({ given, wanted }) => [...given, ...wanted]));
  const isLeased = (address: string): boolean => leased.has(addressName(address));
  return {
    leased: pool.filter(isLeased).length,
    foreign: pool.filter((address) => !isLeased(address) && foreign.has(address)).length,
  };
}
