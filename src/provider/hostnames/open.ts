import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { Clock, Logger } from "../../util/index.ts";
import { PROBE_HOST } from "../cluster/index.ts";
import { accountHost } from "./generated.ts";
import { HostLedger } from "./ledger.ts";
import { dnsProver, type HostProver, resolverLookups } from "./proof.ts";
import { HostRegistry } from "./registry.ts";

/** Who may use which host name outside the provider's domain. */
export interface HostnameConfig {
  /** Whether the DNS must say that a name is the tenant's; else the first who asks for it gets it. */
  readonly isProven: boolean;
  /** Addresses of DNS servers; empty for the system's. */
  readonly resolvers: readonly string[];
  /** Milliseconds for which a name that was given up stays with its owner. */
  readonly quarantineMs: number;
}

/** The provider's configuration that host names depend on. */
export interface HostnameSurroundings {
  readonly stateDir: string;
  readonly publicHostname: string;
  readonly ingress: {
    readonly domain: string;
    readonly staticHosts: boolean;
    readonly blockedHosts: readonly string[];
    readonly hostnames: HostnameConfig;
  };
}

export interface OpenHostnamesOptions {
  readonly config: HostnameSurroundings;
  /** The gateway's certificate, PEM. */
  readonly certificate: string;
  readonly log: Logger;
  readonly clock?: Clock | undefined;
}

/** File of the owners of host names inside the provider's folder. */
const LEDGER = "hostnames.json";

/** Who owns host names, and how tenants prove it, by the operator's settings. */
export function openHostnames({ config, certificate, log, clock }: OpenHostnamesOptions): {
  readonly registry: HostRegistry;
  readonly prover: HostProver | undefined;
} {
  const { domain, staticHosts, blockedHosts, hostnames } = config.ingress;
  const { isProven, resolvers, quarantineMs } = hostnames;
  const own = [config.publicHostname, PROBE_HOST, ...namesOf(certificate)].filter((name) => name !== "localhost");
  const ledger = new HostLedger(join(config.stateDir, LEDGER), log);
  const rules = { blocked: blockedHosts, domain, own, quarantineMs };
  const aliasOf = (owner: string) => (staticHosts ? accountHost(owner, domain) : undefined);
  return {
    registry: new HostRegistry(rules, { ledger, ...(clock === undefined ? {} : { clock }) }),
    prover: isProven ? dnsProver({ aliasOf, open: resolverLookups(resolvers) }) : undefined,
  };
}

/** Host names of the gateway's certificate: with one of them a tenant could pose as the provider. */
function namesOf(certificate: string): string[] {
  const { subjectAltName = "" } = new X509Certificate(certificate);
  return subjectAltName.split(", ").flatMap((each) => (each.startsWith("DNS:") ? [each.slice(4).toLowerCase()] : []));
}
