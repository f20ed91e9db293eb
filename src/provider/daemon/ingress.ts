import type { Logger } from "../../util/index.ts";
import {
  type CertificateKeeper,
  certificateFolders,
  certifiedRouter,
  OURSELVES,
  openKeeper,
} from "../certificates/index.ts";
import {
  type BrowserGateway,
  clusterRouter,
  gatewayHost,
  Ingress,
  type IngressTls,
  ingressRouter,
  type LeaseRouter,
} from "../ingress/index.ts";
import type { ProviderConfig } from "./config.ts";

type IngressConfig = Pick<ProviderConfig, "driver" | "ingress" | "plane" | "stateDir">;

interface IngressRequest {
  readonly config: IngressConfig;
  readonly log: Logger;
}

/** The provider's own ingress in this process, for clusters that have none, if no data plane is given. */
export function openIngress({ config, log }: IngressRequest): Ingress | undefined {
  const { routing } = config.driver;
  if (routing.ingress === "cluster" || config.plane !== undefined) return undefined;
  const { host, port, clients } = config.ingress;
  const backends = routing.backends.bind(routing);
  const tls = ingressTls(config);
  const gateway = browserGateway(config);
  return new Ingress({
    backends,
    host,
    port,
    clients,
    log: log.child({ module: "ingress" }),
    ...(tls === undefined ? {} : { tls }),
    ...(gateway === undefined ? {} : { gateway }),
  });
}

/** Where browsers reach the gateway: through an ingress of the provider's own that has TLS. */
export function browserGateway({
  driver,
  ingress,
  stateDir,
}: Pick<IngressConfig, "ingress" | "stateDir"> & Partial<Pick<IngressConfig, "driver">>): BrowserGateway | undefined {
  const { domain, tls, routesFile } = ingress;
  if (tls === undefined || routesFile !== undefined || driver?.routing.ingress === "cluster") return undefined;
  return { host: gatewayHost(domain), folder: stateDir };
}

/** The ingress's settings of TLS. */
export function ingressTls({
  ingress,
  stateDir,
}: Pick<ProviderConfig, "ingress" | "stateDir">): IngressTls | undefined {
  const { tls } = ingress;
  if (tls === undefined) return undefined;
  return { host: tls.host, port: tls.port, folders: certificateFolders(stateDir, tls), redirect: tls.redirect };
}

/** Who sees to the certificates of host names; undefined if others do. Rejects if that cannot be. */
export async function keeperOf(
  { config, log }: IngressRequest,
  own: Ingress | undefined,
): Promise<CertificateKeeper | undefined> {
  const { driver, ingress, stateDir, plane } = config;
  const challenges = plane?.challenges ?? own?.challenges;
  if (driver.routing.ingress === "cluster" || challenges === undefined || ingress.tls === undefined) return undefined;
  const module = log.child({ module: "certificates" });
  const keeper = await openKeeper({ stateDir, sources: ingress.tls, challenges, log: module });
  const host = browserGateway({ driver, ingress, stateDir })?.host;
  if (host !== undefined) await keeper?.want({ lease: host, owner: OURSELVES }, [host]);
  return keeper;
}

export interface RouterParts {
  readonly config: IngressConfig;
  readonly ingress: Ingress | undefined;
  readonly keeper: CertificateKeeper | undefined;
}

/** How requests for host names reach leases: through the ingress given, else through the cluster's. */
export function leaseRouter({ config, ingress, keeper }: RouterParts): LeaseRouter {
  const { routing } = config.driver;
  if (routing.ingress === "cluster") return clusterRouter(routing);
  const router = plainRouter({ config, ingress });
  const tls = ingressTls(config);
  if (tls === undefined) return router;
  return certifiedRouter(router, { folders: tls.folders, keeper, tlsPort: () => ingress?.tlsPort ?? tls.port });
}

/** The same without certificates. */
export function plainRouter({ config, ingress }: Omit<RouterParts, "keeper">): LeaseRouter {
  const { routing } = config.driver;
  if (routing.ingress === "cluster") return clusterRouter(routing);
  if (config.plane !== undefined) return config.plane.router(routing);
  if (ingress === undefined) throw new Error("the cluster has no ingress and the provider has opened none");
  return ingressRouter(ingress, config.ingress);
}

/** Local address of the ingress; `port` is for an ingress without a configured one. */
export function ingressPlace(
  { host, port: wanted }: ProviderConfig["ingress"],
  port = wanted,
): { host: string; port: number } {
  const own: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  return { host: own[host] ?? host, port };
}
