import { join } from "node:path";
import { type Logger, makePrivateDirectory, Turns } from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import { type ClusterEvent, type LeaseSpec, leaseNamespace } from "../contract/index.ts";
import { EventLog, HostData } from "../shared/index.ts";
import { EngineApi } from "./api/api.ts";
import { EngineInit } from "./api/engine-init.ts";
import { EngineHealth } from "./api/health.ts";
import { Gpus } from "./gpu/index.ts";
import { imageRoom, isDiskTight } from "./host/capacity.ts";
import { EngineRules } from "./host/engine-rules.ts";
import { Firewall } from "./host/firewall.ts";
import { ContainerLimits } from "./host/limits/process-limit.ts";
import { raiseSharedLimits } from "./host/limits/shared-limits.ts";
import { LeaseUsers } from "./host/users.ts";
import { Volumes } from "./host/volumes.ts";
import { Images } from "./images/images.ts";
import { Journal } from "./journal.ts";
import { Naming } from "./labels.ts";
import { type DockerOptions, type DockerSettings, settingsOf } from "./options.ts";
import { KernelCarrier } from "./ports/carrier.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import { openKernelPorts } from "./ports/open.ts";
import { StartNews } from "./probe.ts";

/** Shared parts of one driver. */
export interface DriverContext {
  readonly api: EngineApi;
  readonly settings: DockerSettings;
  readonly naming: Naming;
  readonly journal: Journal;
  readonly events: EventLog;
  readonly firewall: Firewall;
  /** Remains of the engine's own rules. */
  readonly engineRules: EngineRules;
  /** Node ports of the kernel, where it carries them. */
  readonly kernelPorts: KernelPorts | undefined;
  readonly volumes: Volumes;
  readonly images: Images;
  readonly health: EngineHealth;
  readonly users: LeaseUsers;
  readonly gpus: Gpus;
  readonly init: EngineInit;
  /** Limits of processes that the engine can give to containers. */
  readonly limits: ContainerLimits;
  /** Results of container starts. */
  readonly news: StartNews;
  /** Limits how many containers are made or started at once, for each tenant and for all. */
  readonly starts: Turns;
  /** Data of the host that tenants must not read. */
  readonly host: HostData;
  readonly log: Logger;
  /** The addresses of ready replicas of a lease may have changed. */
  readonly moved: (id: LeaseKey) => void;
}

/** All but the watchers, which the driver has. */
export type DriverParts = Omit<DriverContext, "moved">;

/** Opens the parts on the state folder; `live` tells the images that leases have or are about to have. */
export async function openParts(options: DockerOptions, live: () => ReadonlySet<string>): Promise<DriverParts> {
  const settings = settingsOf(options);
  const { log, stateDir, carrier, volumeSizeEnforcement, thinVolumes: isThin } = settings;
  makePrivateDirectory(stateDir);
  await raiseSharedLimits(log);
  const api = await EngineApi.open(settings.socket, settings.timing.patience);
  const naming = new Naming(settings.namePrefix);
  if (volumeSizeEnforcement === "none") {
    log.warn("sizes of volumes are not enforced: a tenant can fill the disk (--cluster-volume-sizes none)");
  }
  const volumes = new Volumes(join(stateDir, "volumes"), volumeSizeEnforcement, { isThin });
  await volumes.mountAll();
  const disk = { api, settings, volumes };
  const news = new StartNews(api, naming.prefix);
  const images = new Images({
    api,
    settings,
    log,
    room: () => imageRoom(disk),
    isTight: () => isDiskTight(disk),
    isOwn: (name) => name === news.tag,
    live,
  });
  await images.open();
  const kernelPorts = await openKernelPorts(settings, naming);
  const health = new EngineHealth(log, () => api.ping());
  const { parallelStarts } = settings.limits;
  return {
    api,
    gpus: new Gpus({ api, health, naming, log, ...settings.gpus }),
    settings:
      kernelPorts === undefined ? settings : { ...settings, carrier: new KernelCarrier(carrier, kernelPorts, log) },
    kernelPorts,
    naming,
    log,
    journal: new Journal(join(stateDir, "leases"), log),
    events: new EventLog(join(stateDir, "events"), log),
    firewall: new Firewall(naming),
    engineRules: new EngineRules(naming.prefix, log),
    volumes,
    images,
    health,
    users: new LeaseUsers(settings.userNamespaces, log),
    init: new EngineInit(log),
    limits: new ContainerLimits(settings.limits, log),
    news,
    host: new HostData([stateDir, settings.socket.replace(/^unix:\/\//, "")]),
    starts: new Turns({ each: parallelStarts, all: 2 * parallelStarts }),
  };
}

export interface EventInput {
  readonly type: ClusterEvent["type"];
  readonly reason: string;
  readonly note: string;
  /** Empty for the lease as a whole. */
  readonly service: string;
  readonly replica?: string;
}

/** Writes an event of a lease into its log. */
export function recordEvent(context: DriverContext, spec: LeaseSpec, input: EventInput): void {
  const namespace = leaseNamespace(spec.id);
  const pod = input.replica !== undefined;
  context.events.add(namespace, {
    type: input.type,
    reason: input.reason,
    note: context.host.hide(input.note),
    object: { kind: pod ? "Pod" : "Deployment", namespace, name: input.replica ?? (input.service || spec.group.name) },
    service: input.service,
    time: new Date().toISOString(),
  });
}
