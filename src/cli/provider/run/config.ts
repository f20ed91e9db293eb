import { join, resolve } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import {
  type CertificateSources,
  type IngressConfig,
  type PricingStrategy,
  type ProviderConfig,
  parseScales,
  randomRangePricing,
  type ScaleFlags,
  type Scales,
  scalePricing,
  scriptPricing,
} from "../../../provider/index.ts";
import { errorText, type ReadSetting, readFileText, settingReader } from "../../../util/index.ts";
import type { Attribute } from "../../../wire/gen/svc/base/v1beta1/base_pb.js";
import { flagSettings } from "../../command/flag-settings.ts";
import type { Flags } from "../../command/flags.ts";
import { homeOf, userPath } from "../../command/home.ts";
import { commandError, usageError } from "../../errors.ts";
import { BIDS, FEES } from "./bid-settings.ts";
import { CLUSTER, LEASES } from "./settings.ts";

/** Folder of the daemon in the home. */
export function providerDir(home: string): string {
  return join(home, "provider");
}

function reader(flags: Flags): ReadSetting {
  return settingReader(flagSettings(flags));
}

/** Settings of leases on every kind of cluster. */
export function readClusterSettings(flags: Flags) {
  const read = reader(flags);
  const runtime = read(CLUSTER.clusterRuntimeClass);
  return {
    stateDir: providerDir(homeOf(flags)),
    allowLocalImages: read(CLUSTER.clusterLocalImages),
    publicHostname: read(CLUSTER.clusterPublicHostname),
    nodePorts: read(CLUSTER.clusterNodePortRange),
    userNamespaces: read(CLUSTER.clusterUserNamespaces) === "lease",
    stopGraceMs: read(CLUSTER.clusterStopGrace),
    ...(runtime === undefined ? {} : { runtime }),
    overcommit: readOvercommit(read),
  };
}

/** All provider flags, except the cluster's. */
export function readSettings(flags: Flags): Omit<ProviderConfig, "driver"> {
  const read = reader(flags);
  const addressesPerOwner = read(CLUSTER.clusterLeasedIpsPerTenant);
  const stateDir = providerDir(homeOf(flags));
  return {
    stateDir,
    pricing: readPricing(read),
    ...readFees(read),
    bidTimeoutMs: read(BIDS.bidTimeout),
    bidShare: read(BIDS.bidSharePerTenant),
    manifestTimeoutMs: read(LEASES.manifestTimeout),
    withdrawalPeriodMs: read(LEASES.withdrawalPeriod),
    tenantAttributes: readTenantAttributes(read(BIDS.providerConfig)),
    overcommit: readOvercommit(read),
    nodePortQuantity: read(CLUSTER.clusterNodePortQuantity),
    ...(addressesPerOwner === undefined ? {} : { addressesPerOwner }),
    monitor: {
      retries: read(LEASES.monitorMaxRetries),
      retryMs: read(LEASES.monitorRetryPeriod),
      retryJitterMs: read(LEASES.monitorRetryPeriodJitter),
      periodMs: read(LEASES.monitorHealthcheckPeriod),
      periodJitterMs: read(LEASES.monitorHealthcheckPeriodJitter),
    },
    inventoryPollMs: read(CLUSTER.inventoryResourcePollPeriod),
    leastFreeDisk: read(CLUSTER.providerLeastFreeDisk),
    publicHostname: read(CLUSTER.clusterPublicHostname),
    ingress: readIngress(read, stateDir),
    gateway: {
      ...read(LEASES.gatewayListenAddress),
      trustedProxies: read(LEASES.gatewayTrustedProxies),
      ...optionalGrpc(read(LEASES.gatewayGrpcListenAddress)),
    },
    ...optionalMetrics(read(LEASES.metricsListener)),
    ...optionalNet(read(LEASES.net)),
  };
}

function readOvercommit(read: ReadSetting) {
  return {
    cpu: read(CLUSTER.overcommitPctCpu),
    memory: read(CLUSTER.overcommitPctMem),
    storage: read(CLUSTER.overcommitPctStorage),
  };
}

function optionalGrpc(grpc: ProviderConfig["gateway"]["grpc"]): Pick<ProviderConfig["gateway"], "grpc"> {
  return grpc === undefined ? {} : { grpc };
}

function optionalMetrics(metrics: ProviderConfig["metrics"]): Pick<ProviderConfig, "metrics"> {
  return metrics === undefined ? {} : { metrics };
}

function optionalNet(net: string | undefined): Pick<ProviderConfig, "net"> {
  return net === undefined ? {} : { net };
}

function readIngress(read: ReadSetting, stateDir: string): IngressConfig {
  return {
    ...readRoutesFile(read, stateDir),
    domain: read(LEASES.deploymentIngressDomain),
    staticHosts: read(LEASES.deploymentIngressStaticHosts),
    ...read(LEASES.ingressListenAddress),
    blockedHosts: read(LEASES.deploymentBlockedHostnames),
    hostnames: {
      isProven: read(LEASES.deploymentHostnameProof) === "require",
      resolvers: read(LEASES.deploymentHostnameResolvers),
      quarantineMs: read(LEASES.deploymentHostnameQuarantine),
    },
    loopbackPorts: read(LEASES.ingressLoopbackPorts),
    ...readTls(read),
    clients: {
      connectionsPerAddress: read(LEASES.ingressConnectionsPerAddress),
      trustedProxies: read(LEASES.ingressTrustedProxies),
      forwardedFrom: read(LEASES.ingressForwardedFrom),
    },
  };
}

/** Where an external ingress finds its routes. Settings that only the built-in one keeps say so, rather than do nothing. */
function readRoutesFile(read: ReadSetting, stateDir: string): Pick<IngressConfig, "routesFile"> {
  const path = read(LEASES.ingressRoutesFile);
  if (read(LEASES.ingress) === "builtin") {
    if (path === undefined) return {};
    throw usageError("--ingress-routes-file needs --ingress external");
  }
  const { ingressAcmeDirectory, ingressTlsRedirect, ingressLoopbackPorts } = LEASES;
  const refuse = ({ name }: { readonly name: string }, remedy: string): never => {
    throw usageError(`--${name} cannot be used with --ingress external`, remedy);
  };
  if (read(ingressAcmeDirectory) !== undefined)
    refuse(ingressAcmeDirectory, "let Traefik get certificates: name a certificatesResolver at its entry point");
  if (read(ingressTlsRedirect))
    refuse(ingressTlsRedirect, "let Traefik redirect: http.redirections at its entry point");
  if (read(ingressLoopbackPorts)) refuse(ingressLoopbackPorts, "leave it out: all requests come through Traefik");
  const routesFile = path === undefined ? join(stateDir, "ingress", "routes.yaml") : resolve(userPath(path));
  if (/\.ya?ml$/.test(routesFile)) return { routesFile };
  throw usageError(
    `--ingress-routes-file ${path} is not a YAML file`,
    "let the name end in .yaml: Traefik reads no other",
  );
}

/** Flags that need the address for TLS are refused without it. */
function readTls(read: ReadSetting): Pick<IngressConfig, "tls"> {
  const address = read(LEASES.ingressTlsListenAddress);
  const redirect = read(LEASES.ingressTlsRedirect);
  const sources = readSources(read);
  const hasSource = sources.certificates.length > 0 || sources.authority !== undefined || sources.acme !== undefined;
  if (address === undefined) {
    if (!hasSource && !redirect) return {};
    throw usageError("TLS settings need --ingress-tls-listen-address, for example 0.0.0.0:443");
  }
  if (hasSource) return { tls: { ...address, ...sources, redirect } };
  const ways = ["--ingress-tls-certificates", "--ingress-tls-authority", "--ingress-acme-directory"];
  throw usageError("--ingress-tls-listen-address needs certificates", `say where they come from: ${ways.join(", ")}`);
}

/** Where certificates for host names come from. */
export function readCertificateSources(flags: Flags): CertificateSources {
  return readSources(reader(flags));
}

function readSources(read: ReadSetting): CertificateSources {
  const certificates = read(LEASES.ingressTlsCertificates).map(userPath);
  const authority = read(LEASES.ingressTlsAuthority);
  const directory = read(LEASES.ingressAcmeDirectory);
  const email = read(LEASES.ingressAcmeEmail);
  if (authority !== undefined && directory !== undefined) {
    throw usageError("--ingress-tls-authority and --ingress-acme-directory cannot be used together");
  }
  if (email !== undefined && directory === undefined) {
    throw usageError("--ingress-acme-email needs --ingress-acme-directory");
  }
  return {
    certificates,
    ...(authority === undefined ? {} : { authority: userPath(authority) }),
    ...(directory === undefined ? {} : { acme: { directory, ...(email === undefined ? {} : { email }) } }),
  };
}

/** A price in a denomination other than the fee's says nothing about the fee. */
function readFees(read: ReadSetting): Pick<ProviderConfig, "fee" | "gasPrice" | "bidDeposit" | "minimumBalance"> {
  const [fee, price, bidDeposit] = [read(FEES.fees), read(FEES.gasPrices), read(BIDS.bidDeposit)];
  const minimumBalance = read(BIDS.minimumBalance);
  return {
    fee,
    gasPrice: price?.denom === fee.denom ? price.amount : 0n,
    ...(bidDeposit === undefined ? {} : { bidDeposit }),
    ...(minimumBalance === undefined ? {} : { minimumBalance }),
  };
}

function readPricing(read: ReadSetting): PricingStrategy {
  const strategy = read(BIDS.bidPriceStrategy);
  if (strategy === "randomRange") return randomRangePricing();
  if (strategy === "shellScript") {
    return scriptPricing({
      path: read(BIDS.bidPriceScriptPath),
      processLimit: read(BIDS.bidPriceScriptProcessLimit),
      timeoutMs: read(BIDS.bidPriceScriptTimeout),
    });
  }
  const flags = {
    cpu: read(BIDS.bidPriceCpuScale),
    memory: read(BIDS.bidPriceMemoryScale),
    storage: read(BIDS.bidPriceStorageScale),
    endpoint: read(BIDS.bidPriceEndpointScale),
    ip: read(BIDS.bidPriceIpScale),
    tokenUsd: read(BIDS.bidPriceTokenUsd),
  };
  return scalePricing(readScales(flags), flags);
}

/** Checked together: at least one must be above zero. The error names the flag. */
function readScales(flags: ScaleFlags): Scales {
  try {
    return parseScales(flags);
  } catch (error) {
    throw usageError(errorText(error));
  }
}

const MAX_TENANT_FILE = 64 * 1024;

const TenantFile = v.strictObject({
  attributes: v.array(v.strictObject({ key: v.string(), value: v.string() })),
});

/** `attributes: [{key, value}]` of a YAML file. */
function readTenantAttributes(path: string): Attribute[] {
  if (path === "") return [];
  try {
    const { attributes } = v.parse(TenantFile, parse(readFileText(path, { maxBytes: MAX_TENANT_FILE, pipes: true })));
    return attributes.map(({ key, value }) => ({ $typeName: "svc.base.v1beta1.Attribute", key, value }));
  } catch (error) {
    throw commandError(`--provider-config: ${path}: ${errorText(error)}`, {
      hint: "write attributes: [{key: ..., value: ...}]",
    });
  }
}
