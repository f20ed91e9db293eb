import type { ManifestGroup } from "../../../sdl/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";

/** Capacity of one node: cpu in thousandths of a core, the others in bytes. */
export interface NodeCapacity {
  readonly name: string;
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly gpu: bigint;
}

/** What a lease should look like. `generation` grows with every manifest accepted for the lease. */
export interface LeaseSpec {
  readonly id: LeaseKey;
  readonly group: ManifestGroup;
  /** Manifest hash, lower-case hex. */
  readonly version: string;
  readonly generation: number;
  /** Host names per service that the ingress routes to it (generated and accepted ones). */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Host ports given to the lease's node-port exposes by the ledger; stable over updates. */
  readonly ports: readonly PortAssignment[];
}

export interface PortAssignment {
  readonly service: string;
  /** Port inside the container. */
  readonly port: number;
  /** Port the tenant asked for (`as`). */
  readonly externalPort: number;
  readonly proto: "TCP" | "UDP";
  /** Port on the host. */
  readonly hostPort: number;
}

/** `unknown` means that nobody could ask: it is never a reason to close or delete anything. */
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
}

/** A lease found on the cluster at start. */
export interface AdoptedLease {
  readonly id: LeaseKey;
  readonly version: string;
  readonly generation: number;
}

/** An event of a lease, in the shape the gateway sends (provider facts, section 4.1 kubeevents). */
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
}

export interface StreamOptions {
  readonly services: readonly string[];
  readonly follow: boolean;
  /** Lines from the end, -1 for all. */
  readonly tail: number;
  readonly signal: AbortSignal;
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
  /** Resolves when there is room for more, or nobody reads any more. */
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  resize(width: number, height: number): Promise<void>;
  /** Ends the command. */
  kill(): void;
  readonly output: AsyncIterable<{ readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }>;
  /** Resolves after the last output. */
  readonly exitCode: Promise<number>;
}

/**
 * The contract of a cluster. Every call is idempotent; a call that could not reach the cluster rejects and changes
 * nothing. Drivers pass the same conformance suite (`conformance.ts`).
 */
export interface ClusterDriver {
  readonly name: string;
  /** Version of the cluster software, for `/version`. */
  version(): Promise<Readonly<Record<string, string>>>;
  /** Capacity of the nodes, before reservations. */
  nodes(): Promise<readonly NodeCapacity[]>;
  /** Why no deployment of anybody can be run here, in one sentence with the remedy; undefined where nothing is in the way. */
  obstacle(): Promise<string | undefined>;
  /** Makes the cluster converge to the spec, in the background; also the update call. Rejects on specs it can never run. */
  deploy(spec: LeaseSpec): Promise<void>;
  /** Removes everything of the lease; resolves when nothing is left. */
  teardown(id: LeaseKey): Promise<void>;
  /** Leases that have anything on the cluster. */
  adopt(): Promise<readonly AdoptedLease[]>;
  /** Health and replicas; `unknown` when the cluster cannot be asked. */
  status(id: LeaseKey): Promise<LeaseHealth>;
  /** Addresses (`host:port`) of ready replicas for a container port, for the ingress. Synchronous: from the last observation. */
  backends(id: LeaseKey, service: string, port: number): readonly string[];
  logs(id: LeaseKey, options: StreamOptions): AsyncIterable<LogLine>;
  events(id: LeaseKey, options: StreamOptions): AsyncIterable<ClusterEvent>;
  exec(id: LeaseKey, request: ExecRequest): Promise<ExecSession>;
  /** Stops watching; workloads go on. */
  close(): Promise<void>;
}
