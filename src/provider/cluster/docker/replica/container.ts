import type { ContainerCreateOptions } from "dockerode";
import { type LeaseSpec, leaseNamespace, replicaName } from "../../contract/index.ts";
import type { HealthCheck } from "../api/answers.ts";
import type { TakenGpus } from "../gpu/index.ts";
import { LABEL, type Naming } from "../labels.ts";
import type { DockerSettings } from "../options.ts";
import { portKey, type ServicePlan } from "./plan.ts";

/** All that is left to a tenant's root: no raw sockets, no devices, no file capabilities. */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"];

/** Where the kernel shows root the whole machine: its memory, page by page, and the addresses of its own parts. */
const MACHINE_FILES = [
  "/proc/iomem",
  "/proc/kpagecgroup",
  "/proc/kpagecount",
  "/proc/kpageflags",
  "/proc/modules",
  "/proc/pagetypeinfo",
  "/proc/slabinfo",
  "/proc/vmallocinfo",
];

/** Paths that engines hide by default; a list given to Docker replaces its own. */
const HIDDEN_BY_ENGINES = [
  "/proc/acpi",
  "/proc/asound",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/sys/devices/virtual/powercap",
  "/sys/firmware",
];

/** A limit on the processes of a container, in the form of the engine's API. */
export interface Ulimit {
  readonly Name: string;
  readonly Soft: number;
  readonly Hard: number;
}

/** Values with which one replica's container is made. */
export interface ContainerInput {
  readonly spec: LeaseSpec;
  readonly plan: ServicePlan;
  readonly index: number;
  readonly imageId: string;
  readonly config: string;
  /** Host folder of every volume, by volume name. */
  readonly folders: ReadonlyMap<string, string>;
  /** `podman` or `docker`: they name their log files differently. */
  readonly engine: string;
  /** Host files that replace the engine's own files on disk, by path in the container. */
  readonly files: ReadonlyMap<string, string>;
  /** Value of the engine's option `seccomp`. */
  readonly seccomp: string;
  /** The engine's option for user namespaces, where containers have users of their own. */
  readonly users: string | undefined;
  /** Whether the engine puts a process in front that takes over orphans. */
  readonly init: boolean;
  /** The one of the image, as it may run. */
  readonly healthCheck: HealthCheck | undefined;
  readonly gpus: TakenGpus;
  /** Limits of the program's processes that the engine can give. */
  readonly ulimits: readonly Ulimit[];
  /** Variables that have these values whatever image and tenant say. */
  readonly forced: Readonly<Record<string, string>>;
}

/** Body of the engine's create call: limits, capabilities, network, mounts and labels of one replica. */
export function containerOptions(
  input: ContainerInput,
  settings: DockerSettings,
  naming: Naming,
): ContainerCreateOptions {
  const { spec, plan, index } = input;
  const namespace = leaseNamespace(spec.id);
  const replica = replicaName(plan.name, index);
  const network = naming.network(namespace);
  return {
    name: naming.container(namespace, replica, spec.generation),
    Image: input.imageId,
    Hostname: replica.slice(0, 63),
    ...(hasItems(plan.service.command) ? { Entrypoint: [...plan.service.command] } : {}),
    ...(hasItems(plan.service.args) ? { Cmd: [...plan.service.args] } : {}),
    ...(input.healthCheck === undefined ? {} : { Healthcheck: input.healthCheck }),
    Env: environment(input, settings.publicHostname),
    Labels: {
      ...naming.leaseLabels(spec),
      ...input.gpus.labels,
      [LABEL.service]: plan.name,
      [LABEL.replica]: index.toString(),
      [LABEL.config]: input.config,
      [LABEL.readyPorts]: plan.readyPorts.join(","),
    },
    ExposedPorts: Object.fromEntries(plan.published.map((port) => [portKey(port), {}])),
    HostConfig: hostConfig(input, settings, network),
    NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [plan.name, replica] } } },
  };
}

function hostConfig(
  input: ContainerInput,
  settings: DockerSettings,
  network: string,
): NonNullable<ContainerCreateOptions["HostConfig"]> {
  const { plan, folders } = input;
  const { limits } = settings;
  const podman = input.engine === "podman";
  const memory = Number(plan.memory);
  return {
    NetworkMode: network,
    PortBindings: Object.fromEntries(
      plan.published.map((port) => [portKey(port), [{ HostIp: "127.0.0.1", HostPort: "" }]]),
    ),
    Memory: memory,
    MemorySwap: memory,
    // The kernel takes quotas from a hundredth of a core.
    NanoCpus: Math.max(plan.cpu, 10) * 1_000_000,
    PidsLimit: limits.pids,
    Ulimits: [...input.ulimits],
    CapDrop: ["ALL"],
    CapAdd: CAPABILITIES,
    SecurityOpt: [
      "no-new-privileges",
      `seccomp=${input.seccomp}`,
      ...(podman ? [`mask=${MACHINE_FILES.join(":")}`] : []),
    ],
    ...(podman ? {} : { MaskedPaths: [...HIDDEN_BY_ENGINES, ...MACHINE_FILES] }),
    ...(input.users === undefined ? {} : { UsernsMode: input.users }),
    ...(input.init ? { Init: true } : {}),
    ...(settings.runtime === undefined ? {} : { Runtime: settings.runtime }),
    Privileged: false,
    ...input.gpus.config,
    // The driver restarts programs with back-off; engines would restart at once and forever.
    RestartPolicy: { Name: "no" },
    Tmpfs: Object.fromEntries(plan.tmpfs.map((volume) => [volume.mount, `size=${volume.size},nosuid,nodev`])),
    Binds: [...volumeBinds(plan, folders), ...fileBinds(plan, input.files)],
    LogConfig: {
      Type: podman ? "k8s-file" : "json-file",
      Config: { "max-size": `${Math.ceil(limits.logBytes / 1000)}kb` },
    },
  };
}

function volumeBinds(plan: ServicePlan, folders: ReadonlyMap<string, string>): string[] {
  return plan.volumes.map((volume) => {
    const folder = folders.get(volume.name);
    if (folder === undefined) throw new Error(`assertion failed: volume ${volume.name} was not prepared`);
    return `${folder}:${volume.mount}:${volume.readOnly ? "ro" : "rw"}`;
  });
}

/** A tenant's own volume at the same place wins. */
function fileBinds(plan: ServicePlan, files: ReadonlyMap<string, string>): string[] {
  const taken = new Set([...plan.volumes, ...plan.tmpfs].map(({ mount }) => mount.replace(/\/+$/, "")));
  return [...files].filter(([path]) => !taken.has(path)).map(([path, file]) => `${file}:${path}:ro`);
}

/** The lease's own variables, unless the tenant sets them. */
function environment({ spec, plan, forced }: ContainerInput, publicHostname: string): string[] {
  const nameOf = (entry: string) => entry.slice(0, entry.indexOf("="));
  const wished = (plan.service.env ?? []).map((entry) => (entry.includes("=") ? entry : `${entry}=`));
  const own = wished.filter((entry) => !Object.hasOwn(forced, nameOf(entry)));
  const names = new Set(own.map(nameOf));
  const given = {
    SVC_GROUP_SEQUENCE: spec.id.gseq,
    SVC_DEPLOYMENT_SEQUENCE: spec.id.dseq,
    SVC_ORDER_SEQUENCE: spec.id.oseq,
    SVC_OWNER: spec.id.owner,
    SVC_PROVIDER: spec.id.provider,
    SVC_CLUSTER_PUBLIC_HOSTNAME: publicHostname,
  };
  const injected = Object.entries(given).filter(([name]) => !names.has(name));
  const ours = [...injected, ...Object.entries(forced)];
  return [...ours.map(([name, value]) => `${name}=${value}`), ...own];
}

function hasItems(list: readonly string[] | null): list is readonly string[] {
  return list !== null && list.length > 0;
}
