import type { GatewayName, PodSecurity } from "../settings.ts";

/**
 * Controllers of ingresses collect changes for a second or two before they follow them; twice that, and a moment for the
 * change to come to them.
 */
export const LINGER_MS = 5_000;

/** Settings of leases' objects, besides the lease. */
export interface ObjectSettings {
  /** The provider whose leases these are. */
  readonly provider: string;
  /** Told to workloads as SVC_CLUSTER_PUBLIC_HOSTNAME. */
  readonly publicHostname: string;
  /** Between asking a program to end and ending it. */
  readonly stopGraceMs: number;
  /** How long a replica of a host name that is to end goes on, until the cluster's ingress knows of it; 0: not at all. */
  readonly lingerMs: number;
  /** Runtime class of leases; the cluster's own where there is none. */
  readonly runtime: string | undefined;
  /** Whether images named `localhost/...` are the nodes' own. */
  readonly allowLocalImages: boolean;
  /** Whether root in a container is a user without rights on the node. */
  readonly userNamespaces: boolean;
  /** The standard of Kubernetes that pods are held to. */
  readonly podSecurity: PodSecurity;
  /** Per cent by which leases may have more than is kept for them. */
  readonly overcommit: { readonly cpu: number; readonly memory: number; readonly storage: number };
  /** Class of the Ingress objects; the cluster's default where there is none. */
  readonly ingressClass: string | undefined;
  /** Whether Ingress objects ask for TLS; with the controller's own certificate if there is no issuer. */
  readonly ingressTls: { readonly issuer: string | undefined } | undefined;
  /** Takes the place of Ingress objects where it is named. */
  readonly gateway: GatewayName | undefined;
}
