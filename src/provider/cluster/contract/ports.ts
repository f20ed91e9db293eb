import type { ManifestExpose, ManifestGroup } from "../../../sdl/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";

export interface PortAssignment {
  readonly service: string;
  /** Port inside the container. */
  readonly port: number;
  /** Port the tenant requested (`as`). */
  readonly externalPort: number;
  readonly proto: "TCP" | "UDP";
  /** Port at the cluster's public address. */
  readonly hostPort: number;
}

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Ports at the cluster's public address, for exposes other than HTTP. */
export interface ClusterPorts {
  /**
   * Assigns ports to all node-port exposes of the group; the lease keeps its current ones. Old and new ports belong to
   * the lease until `hold` or `release`. Rejects with `clusterErrors.noPorts` if too few are left.
   */
  assign(id: LeaseKey, group: ManifestGroup): Promise<readonly PortAssignment[]>;
  /** The lease has exactly these ports: after an update, and when a stored lease is taken up. */
  hold(id: LeaseKey, ports: readonly PortAssignment[]): void;
  release(id: LeaseKey): void;
}

/** A host port of a lease and where its connections go. */
export interface CarriedPort {
  readonly proto: "TCP" | "UDP";
  readonly hostPort: number;
  /** Address of the host that it listens on. */
  readonly host: string;
  /** Addresses (`host:port`) of the replicas that are ready. */
  readonly backends: readonly string[];
  /** Whether another carrier in front has one half of each limit, and the listener the other. */
  readonly shared?: boolean;
}

/** Carries host ports to replicas. It may outlive the daemon, and continues to carry them. */
export interface PortCarrier {
  /**
   * Gives the lease exactly these ports. Resolves with the ports that could not be opened, by `portName`, each with the
   * reason. Connections of ports that stay are not touched.
   */
  carry(lease: string, ports: readonly CarriedPort[]): Promise<ReadonlyMap<string, string>>;
  /** Ends what lives in this process. */
  close(): void;
}

export function portName({ hostPort, proto }: Pick<CarriedPort, "hostPort" | "proto">): string {
  return `${hostPort}/${proto}`;
}

/** Port under which others reach the expose: `as`, or the container port where `as` is not given. */
export function externalPort(expose: ManifestExpose): number {
  return expose.externalPort === 0 ? expose.port : expose.externalPort;
}

/** Whether the ingress serves the expose by host name: global TCP at external port 80. */
export function isHttpExpose(expose: ManifestExpose): boolean {
  return expose.global && expose.proto === "TCP" && externalPort(expose) === 80;
}

/** Whether the expose gets a port of the host: global and not HTTP. */
export function isNodePortExpose(expose: ManifestExpose): boolean {
  return expose.global && !isHttpExpose(expose);
}
