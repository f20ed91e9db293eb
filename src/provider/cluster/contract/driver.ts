import type { ManifestGroup } from "../../../sdl/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import type { HostFault, HostReason } from "../../reasons.ts";
import type { ClusterAddresses, LeasedAddress } from "./addresses.ts";
import type { ClusterCapacity, ClusterLimits } from "./capacity.ts";
import type { ClusterPorts, PortAssignment } from "./ports.ts";
import type { ClusterRouting } from "./routing.ts";

/** The wanted state of a lease. `generation` grows with every manifest accepted for the lease. */
export interface LeaseSpec {
  readonly id: LeaseKey;
  readonly group: ManifestGroup;
  /** Manifest hash, lower-case hex. */
  readonly version: string;
  readonly generation: number;
  /** Host names per service (generated and accepted ones). */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Assigned ports of the lease's node-port exposes; stable over updates. */
  readonly ports: readonly PortAssignment[];
}

/** `unknown` means that the query failed: it is never a reason to close or delete anything. */
export type Health = "ok" | "bad" | "unknown";

export interface ReplicaStatus {
  readonly name: string;
  readonly index: number;
  readonly ready: boolean;
  readonly restarts: number;
  /** `running`, `starting`, `backoff`, `exited`, ... */
  readonly state: string;
  readonly reason?: string;
}

export interface ServiceStatus {
  readonly name: string;
  readonly total: number;
  readonly available: number;
  readonly generation: number;
  readonly updated: number;
  readonly replicas: readonly ReplicaStatus[];
  /** Last error of the service, for the tenant (pull failure, crash, out of memory). */
  readonly error?: string;
}

export interface LeaseHealth {
  readonly health: Health;
  readonly services: readonly ServiceStatus[];
  /** The leased addresses; absent if there are none. */
  readonly addresses?: readonly LeasedAddress[];
}

/** A lease found on the cluster at start. */
export interface AdoptedLease {
  readonly id: LeaseKey;
  readonly version: string;
  readonly generation: number;
  /** The wanted state; undefined if the cluster no longer knows. */
  readonly spec: LeaseSpec | undefined;
}

/** An event of a lease, in the shape that the gateway sends. */
export interface ClusterEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
  readonly object: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly service: string;
  /** RFC 3339. */
  readonly time: string;
}

export interface LogLine {
  /** Replica name, for example `web-0`. */
  readonly name: string;
  readonly message: string;
  /** When it was written, RFC 3339 in UTC. */
  readonly time: string;
  readonly stream: "stdout" | "stderr";
}

export interface StreamOptions {
  readonly services: readonly string[];
  readonly follow: boolean;
  /** Lines from the end, -1 for all. */
  readonly tail: number;
  readonly signal: AbortSignal;
}

/** Which lines of the log are wanted. */
export interface LogOptions extends StreamOptions {
  /** Only lines from this time on, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Lines of the run before the last start of each replica, as far as the cluster still has them; never with `follow`. */
  readonly previous?: boolean | undefined;
}

export interface ExecRequest {
  readonly service: string;
  readonly replica: number;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
}

/** A command running inside a replica. */
export interface ExecSession {
  /** Resolves when there is room for more, or the reader has gone. */
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  resize(width: number, height: number): Promise<void>;
  /** Ends the command. */
  kill(): void;
  readonly output: AsyncIterable<{ readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }>;
  /** Resolves after the last output. */
  readonly exitCode: Promise<number>;
}

/** Events of the cluster and of its leases' containers. */
export type ClusterNews =
  /** It answers again, perhaps with other settings. */
  | { readonly kind: "returned" }
  | { readonly kind: "started"; readonly lease: LeaseKey }
  /** Something of the host kept a container from starting. `cause` is for the operator. */
  | { readonly kind: "failed"; readonly lease: LeaseKey; readonly reason: HostReason; readonly cause: string };

/** How a container is tried on a cluster. */
export interface ClusterProbe {
  /** Puts the image of the trial on the cluster and returns its name; undefined for machines that have none. */
  image(): Promise<string | undefined>;
  /** The fault of the host that an error of the cluster tells of. */
  explain(error: unknown): HostFault;
  /** Calls back with news, until the function returned is called. */
  watch(listener: (news: ClusterNews) => void): () => void;
}

/**
 * The contract of a cluster. Every call is idempotent; a call that could not reach the cluster rejects and changes
 * nothing. Drivers pass the same conformance suite (`test/support/conformance/`).
 */
export interface ClusterDriver {
  readonly name: string;
  /** Version of the cluster software, for `/version`. */
  version(): Promise<Readonly<Record<string, string>>>;
  /** Rules for orders that hold regardless of the free capacity. */
  readonly limits: ClusterLimits;
  /** Whose ingress requests for host names come through. */
  readonly routing: ClusterRouting;
  readonly ports: ClusterPorts;
  /** IP addresses of leases' own; where there are none, every claim is refused. */
  readonly addresses: ClusterAddresses;
  /** Total capacity, before reservations. */
  capacity(): Promise<ClusterCapacity>;
  /** The reason why no deployment can run here; undefined if there is none. */
  obstacle(): Promise<HostFault | undefined>;
  /** How a container is tried here; undefined where the cluster has no such trial. */
  readonly probe?: ClusterProbe | undefined;
  /** Rejects with the reason when the cluster can never run the spec; answers without asking the cluster. */
  check(spec: LeaseSpec): Promise<void>;
  /** Makes the cluster converge to the spec, in the background; also used for updates. Rejects as `check` does. A spec that `hasRun` has volumes already. */
  deploy(spec: LeaseSpec, options?: { readonly hasRun: boolean }): Promise<void>;
  /**
   * Removes everything of the lease, and gives its addresses back last; resolves when nothing is left. With the height at which the chain ended the lease a
   * cluster may note that, and go on by itself after a crash.
   */
  teardown(id: LeaseKey, closedAt?: bigint): Promise<void>;
  /** Leases that have anything on the cluster. */
  adopt(): Promise<readonly AdoptedLease[]>;
  /** Health and replicas; `unknown` when the cluster cannot be asked. */
  status(id: LeaseKey): Promise<LeaseHealth>;
  /** Lines as the reader takes them, merged by time, without reading ahead. Ends with the signal. */
  logs(id: LeaseKey, options: LogOptions): AsyncIterable<LogLine>;
  events(id: LeaseKey, options: StreamOptions): AsyncIterable<ClusterEvent>;
  exec(id: LeaseKey, request: ExecRequest): Promise<ExecSession>;
  /**
   * Restarts the replicas of a service, one after the other, with their current configuration. Resolves when the
   * cluster has taken the order.
   */
  restart(id: LeaseKey, service: string): Promise<void>;
  /** Stops watching; workloads keep running. */
  close(): Promise<void>;
  /** Removes everything that this provider ever made on the cluster, data included. */
  purge(): Promise<void>;
  /**
   * Closes the driver and ends all workloads, but keeps their data: they start again when it is opened the next time.
   */
  suspend(): Promise<void>;
}
