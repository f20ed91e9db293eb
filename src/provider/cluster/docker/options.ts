import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { type Logger, silentLogger } from "../../../util/index.ts";
import type { PortCarrier, PortRange, Program } from "../contract/index.ts";
import { type BackoffPolicy, DEFAULT_BACKOFF, LocalCarrier } from "../shared/index.ts";
import type { EnginePatience } from "./api/api.ts";
import { CDI_FOLDERS, type GpuModel } from "./gpu/index.ts";
import { processesOfUser, signalsOfUser } from "./host/limits/process-limit.ts";
import type { AllowedRegistry } from "./images/allowed.ts";

/** `loop`: every volume is a sized file system image. `none`: plain folders, for machines without loop devices. */
export type VolumeSizeEnforcement = "loop" | "none";

export interface DockerOptions {
  /** Unix socket path of the engine, or an `http://`/`tcp://` address. */
  readonly socket: string;
  /** This driver's own folder: journal, event logs, volumes. Created with mode 0700. */
  readonly stateDir: string;
  /** Prefix of every name and label; by default derived from `stateDir`, so two providers never meet. */
  readonly namePrefix?: string;
  /** Lets leases use images named `localhost/...` that exist on the engine. For localnets. */
  readonly allowLocalImages?: boolean;
  /** Host address of node ports. */
  readonly nodePortAddress?: string;
  /** Carrier of node ports; by default this process, which ends it with the driver. */
  readonly carrier?: PortCarrier;
  /** Whether the kernel carries node ports in front of the carrier, where this machine can do that. */
  readonly kernelPorts?: boolean;
  /** Ports that leases get besides HTTP; 30000 to 32767 by default. */
  readonly nodePorts?: PortRange;
  /** Told to workloads as SVC_CLUSTER_PUBLIC_HOSTNAME. */
  readonly publicHostname?: string;
  /** Kept for the host: cpu in thousandths of a core, the others in bytes. */
  readonly reserve?: { readonly cpu?: bigint; readonly memory?: bigint; readonly storage?: bigint };
  readonly volumeSizeEnforcement?: VolumeSizeEnforcement;
  /** Whether volumes use only the disk that they fill. By default the disk keeps room for their whole size. */
  readonly thinVolumes?: boolean;
  /** Whether root in a container becomes a user without rights on the host, where engine and kernel can do that. */
  readonly userNamespaces?: boolean;
  /** Name of the engine's runtime for tenants' containers, for example `runsc` for gVisor; the engine's own otherwise. */
  readonly runtime?: string;
  readonly gpus?: Partial<GpuSettings>;
  /** Registries that images may come from. */
  readonly registries?: Partial<RegistrySettings>;
  /** Weighs layers in a process of its own; without it this process does. */
  readonly weigher?: Program;
  readonly log?: Logger;
  readonly timing?: Partial<DockerTiming>;
  readonly limits?: Partial<DockerLimits>;
}

export interface GpuSettings {
  /** The operator's models, by device (`nvidia.com/gpu=0`) or by kind (`nvidia.com/gpu`). */
  readonly models: ReadonlyMap<string, GpuModel>;
  /** Folders with descriptions of devices (CDI). */
  readonly folders: readonly string[];
}

export interface RegistrySettings {
  /** Registries that are asked wherever they are, some without TLS. */
  readonly allowed: readonly AllowedRegistry[];
  /** Addresses of a name; the name servers' by default. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Certificates of authorities, beside the usual ones. */
  readonly ca?: string;
}

/** All in milliseconds. */
export interface DockerTiming {
  readonly backoff: BackoffPolicy;
  /** Full look at a lease when nothing happens. */
  readonly resync: number;
  /** Look at the sizes of writable layers. */
  readonly layerCheck: number;
  /** One image from the first question to the engine. */
  readonly pullTimeout: number;
  /** An image that no lease has stays so long. */
  readonly imageKeep: number;
  /** Look for images to remove. */
  readonly imageCheck: number;
  /** From TERM to KILL. */
  readonly stopGrace: number;
  /**
   * An update that had to stop the old replica first is undone when the new one is not ready by then: the service is away until
   * then, but a database recovers and a model loads for minutes.
   */
  readonly rolloutDeadline: number;
  /** Any other update, with whose new replica the old one runs on, is undone when the new one is not ready by then. */
  readonly progressDeadline: number;
  /** A container with lost files, which the engine cannot describe, is made anew after this long. */
  readonly damaged: number;
  /** A replica without TCP ports counts as ready after running this long. */
  readonly minRunning: number;
  readonly patience: EnginePatience;
}

export interface DockerLimits {
  readonly pids: number;
  readonly openFiles: number;
  /** Maximum processes of one user, over all containers; by default this process's own maximum. */
  readonly processes: number;
  /** Timers and waiting signals of one user, over all containers; by default this process's own maximum. */
  readonly signals: number;
  readonly logBytes: number;
  /** Failed starts in a row after which a container is made anew. */
  readonly failedStarts: number;
  /** Concurrent engine calls that create or start a container: per tenant, and twice as many in total. */
  readonly parallelStarts: number;
  /** Concurrently weighed layers and loaded images; half of them for one tenant. */
  readonly parallelLoads: number;
  /** Bytes of disk that an image may take, packed and unpacked. */
  readonly imageBytes: bigint;
  /** Bytes that all images of a lease may take. */
  readonly leaseImageBytes: bigint;
  /** Bytes of layers, as registries sent them, that are kept for the next image. */
  readonly layerCacheBytes: bigint;
}

/** Options with every default filled in. */
export interface DockerSettings
  extends Required<Omit<DockerOptions, "nodePorts" | "runtime" | "weigher" | keyof DockerParts>>,
    DockerParts {
  readonly nodePorts: PortRange | undefined;
  readonly runtime: string | undefined;
  readonly weigher: Program | undefined;
}

/** Options that may be given in part. */
interface DockerParts {
  readonly reserve: Required<NonNullable<DockerOptions["reserve"]>>;
  readonly gpus: GpuSettings;
  readonly registries: RegistrySettings;
  readonly timing: DockerTiming;
  readonly limits: DockerLimits;
}

const DEFAULT_TIMING: DockerTiming = {
  backoff: DEFAULT_BACKOFF,
  resync: 15_000,
  layerCheck: 60_000,
  pullTimeout: 900_000,
  imageKeep: 24 * 3_600_000,
  imageCheck: 300_000,
  stopGrace: 30_000,
  rolloutDeadline: 300_000,
  progressDeadline: 600_000,
  damaged: 5_000,
  minRunning: 1_000,
  patience: { call: 60_000, work: 120_000 },
};

const DEFAULT_LIMITS: Omit<DockerLimits, "processes" | "signals"> = {
  pids: 1024,
  openFiles: 1024,
  logBytes: 10 << 20,
  failedStarts: 3,
  parallelStarts: 4,
  parallelLoads: 4,
  imageBytes: 16n << 30n,
  leaseImageBytes: 32n << 30n,
  layerCacheBytes: 2n << 30n,
};

const DEFAULT_RESERVE = { cpu: 100n, memory: 256n << 20n, storage: 1n << 30n };

const PREFIX_PATTERN = /^[a-z][a-z0-9-]{0,30}$/;

export function settingsOf(options: DockerOptions): DockerSettings {
  const stateDir = resolve(options.stateDir);
  const namePrefix = options.namePrefix ?? defaultPrefix(stateDir);
  if (!PREFIX_PATTERN.test(namePrefix)) {
    throw new Error(`invalid name prefix "${namePrefix}": write up to 31 lower-case letters, digits and dashes`);
  }
  return {
    socket: options.socket,
    stateDir,
    namePrefix,
    allowLocalImages: options.allowLocalImages ?? false,
    nodePortAddress: options.nodePortAddress ?? "0.0.0.0",
    carrier: options.carrier ?? new LocalCarrier(),
    kernelPorts: options.kernelPorts ?? false,
    nodePorts: options.nodePorts,
    publicHostname: options.publicHostname ?? "",
    reserve: { ...DEFAULT_RESERVE, ...options.reserve },
    volumeSizeEnforcement: options.volumeSizeEnforcement ?? "loop",
    thinVolumes: options.thinVolumes ?? false,
    userNamespaces: options.userNamespaces ?? false,
    runtime: options.runtime,
    gpus: { models: new Map(), folders: CDI_FOLDERS, ...options.gpus },
    registries: { allowed: [], ...options.registries },
    weigher: options.weigher,
    log: options.log ?? silentLogger,
    timing: { ...DEFAULT_TIMING, ...options.timing },
    limits: { ...DEFAULT_LIMITS, processes: processesOfUser(), signals: signalsOfUser(), ...options.limits },
  };
}

/** Prefix of the engine objects of a state folder. */
export function defaultPrefix(stateDir: string): string {
  return `svc-${createHash("sha256").update(resolve(stateDir)).digest("hex").slice(0, 8)}`;
}
