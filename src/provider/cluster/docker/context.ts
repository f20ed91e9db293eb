import type { Logger, Turns } from "../../../util/index.ts";
import type { LeaseKey } from "../../../wire/index.ts";
import { type ClusterEvent, type LeaseSpec, leaseNamespace } from "../contract/index.ts";
import type { EventLog, HostData } from "../shared/index.ts";
import type { EngineApi } from "./api/api.ts";
import type { EngineInit } from "./api/engine-init.ts";
import type { EngineHealth } from "./api/health.ts";
import type { Gpus } from "./gpu/index.ts";
import type { EngineRules } from "./host/engine-rules.ts";
import type { Firewall } from "./host/firewall.ts";
import type { ContainerLimits } from "./host/limits/process-limit.ts";
import type { LeaseUsers } from "./host/users.ts";
import type { Volumes } from "./host/volumes.ts";
import type { Images } from "./images/images.ts";
import type { Journal } from "./journal.ts";
import type { Naming } from "./labels.ts";
import type { DockerSettings } from "./options.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { StartNews } from "./probe.ts";

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
