import type { BlockList } from "node:net";
import type { Dec, IntCoin } from "../../util/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import type { CertificateSources } from "../certificates/index.ts";
import type { ClusterDriver } from "../cluster/index.ts";
import type { HostnameConfig } from "../hostnames/index.ts";
import type { ClientRules } from "../ingress/index.ts";
import type { Overcommit } from "../inventory/index.ts";
import type { PlaneLink } from "../plane/index.ts";
import type { PricingStrategy } from "../pricing/index.ts";

/** Everything a provider is configured with when it starts. */
export interface ProviderConfig {
  /** Folder of the daemon inside the home. */
  readonly stateDir: string;
  readonly driver: ClusterDriver;
  /** The process that carries tenants' traffic; if absent, this one does. */
  readonly plane?: PlaneLink;
  readonly pricing: PricingStrategy;
  readonly fee: IntCoin;
  /** Price of gas in the fee's denomination, scaled 10^18. */
  readonly gasPrice: Dec;
  /** If absent, the chain's minimum. */
  readonly bidDeposit?: IntCoin;
  /** Stays in the account whatever is bid. */
  readonly minimumBalance?: IntCoin;
  readonly bidTimeoutMs: number;
  /** Percent of the half for open bids that those of one tenant may hold; open bids may hold everything if absent. */
  readonly bidShare?: number;
  readonly manifestTimeoutMs: number;
  readonly withdrawalPeriodMs: number;
  readonly tenantAttributes: readonly Attribute[];
  readonly overcommit: Overcommit;
  /** Node ports that all leases together may take. */
  readonly nodePortQuantity: number;
  /** Maximum leased addresses of one owner; half of all if absent. */
  readonly addressesPerOwner?: number;
  readonly monitor: {
    readonly retries: number;
    readonly retryMs: number;
    readonly retryJitterMs: number;
    readonly periodMs: number;
    readonly periodJitterMs: number;
  };
  readonly inventoryPollMs: number;
  /** Bytes free on the disk of `stateDir` below which the provider does not bid. */
  readonly leastFreeDisk: bigint;
  readonly publicHostname: string;
  readonly ingress: IngressConfig;
  readonly gateway: {
    readonly host: string;
    readonly port: number;
    /** Proxies that name their clients in the PROXY protocol. */
    readonly trustedProxies?: BlockList;
    /** Where the status is served over gRPC; nowhere if absent. */
    readonly grpc?: { readonly host: string; readonly port: number };
  };
  /** Where metrics are served; nowhere if absent. */
  readonly metrics?: { readonly host: string; readonly port: number };
  /** Where newer versions are asked for; nowhere if absent. */
  readonly net?: string;
}

export interface IngressConfig {
  /** Generated host names end in it. */
  readonly domain: string;
  readonly staticHosts: boolean;
  readonly host: string;
  readonly port: number;
  readonly blockedHosts: readonly string[];
  readonly hostnames: HostnameConfig;
  /** Whether every HTTP service also gets a port on loopback. */
  readonly loopbackPorts: boolean;
  /** Limits of one client of the ingress. */
  readonly clients: ClientRules;
  /** File of routes for a proxy that listens in place of the provider; the provider itself listens if absent. */
  readonly routesFile?: string;
  /** TLS for host names; nowhere if absent. */
  readonly tls?: TlsConfig;
}

/** Where host names answer over TLS, and whose certificates they show. */
export interface TlsConfig extends CertificateSources {
  readonly host: string;
  readonly port: number;
  /** Whether requests without TLS are sent to it. */
  readonly redirect: boolean;
}
