import type { HttpOptions } from "../../../sdl/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";

/** Where requests for a host name go. */
export interface RouteTarget {
  readonly lease: LeaseKey;
  readonly service: string;
  /** Port inside the container. */
  readonly port: number;
  readonly options: HttpOptions;
}

/** A service that answers HTTP, and the host names it answers to. */
export interface ServiceRoute {
  readonly target: RouteTarget;
  readonly hosts: readonly string[];
}

/** The provider's own ingress is in front and asks for addresses. */
export interface BackendRouting {
  readonly ingress: "provider";
  /** Addresses (`host:port`) of ready replicas for a container port. Synchronous: from the last observation. */
  backends(id: LeaseKey, service: string, port: number): readonly string[];
  /** Whether the lease was observed since the start; before that an empty list of addresses says nothing. */
  isSeen(id: LeaseKey): boolean;
  /** Calls back when the addresses of a lease may have changed, until the function returned is called. */
  watch(listener: (id: LeaseKey) => void): () => void;
}

/** The cluster has its own ingress; the provider opens none. */
export interface ClusterIngress {
  readonly ingress: "cluster";
  /** Sends requests for the host names to the services, instead of all routes that the lease had. */
  route(id: LeaseKey, services: readonly ServiceRoute[]): Promise<void>;
  /** Takes the routes of the lease away. */
  unroute(id: LeaseKey): Promise<void>;
  /** Address of a host name as a browser takes it. */
  url(host: string): string;
}

export type ClusterRouting = BackendRouting | ClusterIngress;
