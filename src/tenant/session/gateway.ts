import type { ProviderRecord } from "../../client/index.ts";
import type { Manifest } from "../../sdl/index.ts";
import type { LeaseKey, OrderKey } from "../../wire/index.ts";

export interface ServiceState {
  readonly name: string;
  readonly available: number;
  readonly total: number;
  /** Replicas that run the manifest sent last. */
  readonly updated: number;
  /** HTTP addresses as a browser takes them. */
  readonly urls: readonly string[];
  /** The fault that keeps it from running, in the provider's words. */
  readonly error?: string;
}

export interface PortState {
  readonly service: string;
  /** Name of the host, or a leased address; in brackets where it has colons. */
  readonly host: string;
  /** Port on that host. */
  readonly port: number;
  readonly containerPort: number;
  readonly proto: "TCP" | "UDP";
}

/** A lease as its provider sees it. */
export interface LeaseState {
  /** Hash of the manifest in force, lower-case hex. */
  readonly version: string;
  /** The fault that keeps the whole lease from running, in the provider's words. */
  readonly error?: string;
  /** The provider cannot see its containers now: the other fields are the last known state. */
  readonly unknown?: true;
  /** Leased addresses of the file that belong to another deployment of the tenant. */
  readonly withheldEndpoints?: readonly string[];
  /** Leased addresses that the provider's cluster does not serve yet, each with the reason where it is known. */
  readonly unassigned?: readonly string[];
  /** Host names of the file that belong to another deployment of the tenant. */
  readonly withheld?: readonly string[];
  readonly services: readonly ServiceState[];
  readonly ports: readonly PortState[];
}

/** The outcome of sending a manifest: accepted, refused for good, or to be sent again. */
export type ManifestOutcome =
  | { readonly kind: "taken" }
  | {
      readonly kind: "refused" | "later";
      readonly reason: string;
      /** The remedy, in the provider's words. */
      readonly remedy?: string;
    };

/** The gateway of one provider, as the tenant uses it. */
export interface TenantGateway {
  /** Rejects when the gateway cannot be reached, or has another certificate than the provider on the chain. */
  reach(): Promise<void>;
  sendManifest(dseq: bigint, manifest: Manifest): Promise<ManifestOutcome>;
  /** Undefined while the provider has no manifest for the lease. Rejects when the provider cannot be asked. */
  status(lease: LeaseKey): Promise<LeaseState | undefined>;
  /** Why a lease of the order would not get the host names; undefined if it would, or where the provider cannot say. */
  hostsRefusal(order: OrderKey, hosts: readonly string[]): Promise<HostsRefusal | undefined>;
  /** Why the provider does not bid on an order, if it says so. */
  refusal(order: OrderKey): Promise<BidRefusal | undefined>;
}

export interface HostsRefusal {
  readonly reason: string;
  /** The remedy, in the provider's words. */
  readonly remedy?: string;
}

export interface BidRefusal {
  readonly reason: string;
  /** The remedy, in the provider's words. */
  readonly remedy?: string;
  /** Whether it will never bid on this order. */
  readonly isFinal: boolean;
}

/** Opens the gateway of a provider. */
export type OpenGateway = (provider: ProviderRecord) => TenantGateway;
