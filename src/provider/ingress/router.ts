import type { HttpOptions } from "../../sdl/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import type { ClusterIngress, ServiceRoute } from "../cluster/index.ts";
import type { Ingress } from "./server.ts";

/** Routes requests for the host names of leases to their services, through any ingress. */
export interface LeaseRouter {
  /**
   * Routes these services instead of all that the lease had. Returns the loopback port of each service that has one,
   * if possible the one given.
   */
  route(
    id: LeaseKey,
    services: readonly ServiceRoute[],
    loopback: Readonly<Record<string, number>>,
  ): Promise<Readonly<Record<string, number>>>;
  /** Takes routes and loopback ports of the lease away. */
  unroute(id: LeaseKey): Promise<void>;
  /** Address of a host name as a browser takes it. */
  url(host: string): string;
  /** Options that it does not keep, by their names in the deployment file; none if absent. */
  notKept?(options: HttpOptions): readonly string[];
}

export interface IngressRouterOptions {
  /** Port on which tenants' visitors connect. */
  readonly port: number;
  /** Whether every HTTP service also gets a port on loopback. */
  readonly loopbackPorts: boolean;
}

/** Through the provider's own ingress. */
export function ingressRouter(
  ingress: Pick<Ingress, "routes" | "exposeService" | "removeLease" | "look">,
  { port, loopbackPorts }: IngressRouterOptions,
): LeaseRouter {
  return {
    async route(id, services, loopback) {
      const routes = services.flatMap(({ target, hosts }) => hosts.map((host) => [host, target] as const));
      // So that the first answer already uses a certificate that was just signed.
      ingress.look();
      ingress.routes.replaceLease(id, new Map(routes));
      const ports: Record<string, number> = {};
      if (!loopbackPorts) return ports;
      for (const { target } of services) {
        // The first port of a service is the one without host names.
        ports[target.service] ??= await ingress.exposeService(target, loopback[target.service]);
      }
      return ports;
    },
    unroute: (id) => ingress.removeLease(id),
    url: (host) => `${httpOrigin(host, port)}/`,
  };
}

export function httpOrigin(host: string, port: number): string {
  return `http://${host}${port === 80 ? "" : `:${port}`}`;
}

/** Through the cluster's ingress, which has no loopback of ours to listen on. */
export function clusterRouter(ingress: ClusterIngress): LeaseRouter {
  return {
    async route(id, services) {
      await ingress.route(id, services);
      return {};
    },
    unroute: (id) => ingress.unroute(id),
    url: (host) => ingress.url(host),
  };
}
