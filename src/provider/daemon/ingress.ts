import type { Logger } from "../../util/index.ts";
import { clusterRouter, Ingress, ingressRouter, type LeaseRouter } from "../ingress/index.ts";
import type { ProviderConfig } from "./config.ts";

type IngressConfig = Pick<ProviderConfig, "driver" | "ingress" | "plane">;

/** The provider's own ingress in this process, for clusters that have none, if no data plane is given. */
export function openIngress({ config, log }: { config: IngressConfig; log: Logger }): Ingress | undefined {
  const { routing } = config.driver;
  if (routing.ingress === "cluster" || config.plane !== undefined) return undefined;
  const { host, port, clients } = config.ingress;
  const backends = routing.backends.bind(routing);
  return new Ingress({ backends, host, port, clients, log: log.child({ module: "ingress" }) });
}

/** How requests for host names reach leases: through the ingress given, else through the cluster's. */
export function leaseRouter(ingress: Ingress | undefined, config: IngressConfig): LeaseRouter {
  const { routing } = config.driver;
  if (routing.ingress === "cluster") return clusterRouter(routing);
  if (config.plane !== undefined) return config.plane.router(routing);
  if (ingress === undefined) throw new Error("the cluster has no ingress and the provider has opened none");
  return ingressRouter(ingress, config.ingress);
}
