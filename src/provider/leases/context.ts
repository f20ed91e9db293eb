import type { Clock, Logger } from "../../util/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import {
  type ClusterDriver,
  type ClusterEvent,
  type EventLog,
  type HostData,
  leaseNamespace,
} from "../cluster/index.ts";
import type { HostRegistry } from "../hostnames/index.ts";
import type { LeaseRouter } from "../ingress/index.ts";
import type { HealthLimits } from "./health.ts";
import type { HostOptions } from "./hosts.ts";
import type { LeaseStore } from "./record/store.ts";

/** Reasons with which a provider closes a lease on the chain. */
export type GiveUpReason = "manifest_timeout" | "unstable";

/** Milliseconds between checks of a lease; jitter spreads the leases over time. */
export interface MonitorTimes {
  readonly periodMs: number;
  readonly periodJitterMs: number;
  readonly retryMs: number;
  readonly retryJitterMs: number;
}

/**
 * An unhealthy lease is given up after more than 40 bad checks in a row and two hours: a tenant who is fixing a crash keeps
 * the lease.
 */
export const DEFAULT_MONITOR: MonitorTimes & HealthLimits = {
  periodMs: 10_000,
  periodJitterMs: 5_000,
  retryMs: 4_000,
  retryJitterMs: 15_000,
  retries: 40,
  graceMs: 7_200_000,
};

export interface LeaseSettings extends HostOptions {
  /** The provider's own address. */
  readonly provider: string;
  readonly publicHostname: string;
  readonly manifestTimeoutMs: number;
  readonly monitor: MonitorTimes & HealthLimits;
}

/** Services that all lease machines share. */
export interface LeaseContext {
  readonly settings: LeaseSettings;
  readonly driver: ClusterDriver;
  readonly store: LeaseStore;
  readonly registry: HostRegistry;
  readonly router: LeaseRouter;
  readonly events: EventLog;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
  /** Data of the host that tenants must not read. */
  readonly host: HostData;
  /** Gives the lease up on the chain; resolves when that is in a block. */
  closeBid(id: LeaseKey, reason: GiveUpReason): Promise<void>;
  /** Called when nothing of the lease is left to remove. */
  gone(id: LeaseKey): void;
  /** Host names that all records of the same group claim, the given one included unless its lease ends. */
  claimed(id: LeaseKey): readonly string[];
  /** Gives host names that the lease no longer has to deployments of the same owner that wait for them; resolves when they are served. */
  handOver(id: LeaseKey): Promise<void>;
  /** Migrates addresses of the lease, except those named, to leases of the same owner that wait for them. */
  passOn(id: LeaseKey, kept: readonly string[]): Promise<void>;
}

type EventText = Pick<ClusterEvent, "type" | "reason" | "note">;

/** Reports to the tenant what the provider does with the lease. */
export function leaseEvent(context: LeaseContext, id: LeaseKey, event: EventText): void {
  const namespace = leaseNamespace(id);
  context.events.add(namespace, {
    ...event,
    note: context.host.hide(event.note),
    object: { kind: "Lease", namespace, name: namespace },
    service: "",
    time: new Date(context.clock.now()).toISOString(),
  });
}
