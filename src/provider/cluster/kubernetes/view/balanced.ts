import { normalAddress } from "../../shared/index.ts";
import type { ApiObject } from "../api/objects.ts";

/** A service of the API, as far as it is read. */
export interface ApiService extends ApiObject {
  readonly spec?: {
    readonly type?: string;
    readonly ports?: readonly { readonly port?: number; readonly protocol?: string; readonly nodePort?: number }[];
    readonly loadBalancerIP?: string;
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/** Addresses of a service's own. */
export interface Balanced {
  readonly given: readonly string[];
  readonly wanted: readonly string[];
}

/** Annotations with which services ask for addresses. */
const WISHES = ["metallb.io/loadBalancerIPs", "metallb.universe.tf/loadBalancerIPs"];

/** A balancer's addresses of the service, and the requested ones. */
export function balanced({ metadata, spec, status }: ApiService): Balanced {
  const { annotations = {} } = metadata;
  const words = WISHES.flatMap((key) => (annotations[key] ?? "").split(","));
  return {
    given: (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = "" }) => normalAddress(ip) ?? []),
    wanted: [...words, spec?.loadBalancerIP ?? ""].flatMap((word) => normalAddress(word.trim()) ?? []),
  };
}
