/** A host port of a lease and where its connections go. */
export interface CarriedPort {
  readonly proto: "TCP" | "UDP";
  readonly hostPort: number;
  /** Address of the host that it listens on. */
  readonly host: string;
  /** Addresses (`host:port`) of the replicas that are ready. */
  readonly backends: readonly string[];
  /** The same replicas where the kernel of this machine reaches them. */
  readonly direct?: { readonly addresses: readonly string[]; readonly port: number };
  /**
   * Whether the kernel carries the port too: then the kernel has one half of each limit, and the listener the other.
   */
  readonly shared?: boolean;
}

/** Carries host ports to replicas. It may outlive the daemon: what it carries then goes on. */
export interface PortCarrier {
  /**
   * The lease has exactly these ports. Resolves with those that could not be opened, by `portName`, each with the reason.
   * Connections of ports that stay are not touched.
   */
  carry(lease: string, ports: readonly CarriedPort[]): Promise<ReadonlyMap<string, string>>;
  /** Ends what lives in this process. */
  close(): void;
}

export function portName({ hostPort, proto }: Pick<CarriedPort, "hostPort" | "proto">): string {
  return `${hostPort}/${proto}`;
}
