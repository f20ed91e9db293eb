import { parseCertificatePem } from "../../crypto/index.ts";
import type { VersionWatch } from "../../util/servers/index.ts";
import type { CertificateKeeper } from "../certificates/index.ts";
import { type Inventory, type Quantities, type ReservationState, totalOf } from "../inventory/index.ts";
import type { LeaseService } from "../leases/index.ts";
import type { ProviderState } from "../metrics/index.ts";
import type { OrderService } from "../orders/index.ts";
import type { Outbox } from "../outbox/index.ts";
import type { ProbeState } from "../probe/index.ts";
import { type HostFault, hostFault } from "../reasons.ts";
import type { DiskGuard } from "./disk.ts";

/** Milliseconds without a block after which the provider counts as cut off from the chain. */
export const BLOCKS_MISSED_MS = 60_000;

/** Sources of metrics and readiness, with current values. */
export interface MonitoredParts {
  readonly inventory: Inventory;
  readonly orders: OrderService;
  readonly leases: LeaseService;
  readonly outbox: Outbox;
  readonly disk: DiskGuard;
  readonly leastDisk: bigint;
  readonly watch: Pick<VersionWatch, "newer"> | undefined;
  /** Undefined until the chain has told the deposit. */
  readonly bidCost: () => bigint | undefined;
  /** PEM of the server certificate. */
  readonly certificate: string;
  /** The keeper of host names' certificates; undefined if there is none. */
  readonly keeper: Pick<CertificateKeeper, "counts"> | undefined;
}

/** The daemon's own state. */
export interface DaemonMoment {
  readonly isStarted: boolean;
  readonly isDraining: boolean;
  readonly obstacle: HostFault | undefined;
  /** Whether a container runs here. */
  readonly probe: ProbeState["kind"];
  readonly balance: bigint | undefined;
  readonly lastBlock: { readonly height: bigint; readonly at: number } | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The provider at one moment, in figures. */
export function providerState(parts: MonitoredParts, moment: DaemonMoment): ProviderState {
  const { inventory, orders, leases, outbox, disk, leastDisk, bidCost, certificate } = parts;
  const entries = orders.entries();
  return {
    orders: countBy(entries, ({ phase }) => phase),
    refusals: countBy(entries, ({ obstacle }) => obstacle),
    leases: countBy(leases.records(), ({ phase }) => phase),
    allocatable: add(inventory.offered()),
    available: add(inventory.available()),
    reservations: { pending: reserved(inventory, "pending"), active: reserved(inventory, "active") },
    leasedIps: { offered: inventory.addresses, left: inventory.addressesLeft() },
    isBidding: whyNotReady(moment).length === 0,
    isDraining: moment.isDraining,
    probe: { [moment.probe]: 1 },
    outbox: outbox.depth,
    balance: moment.balance,
    bidCost: bidCost(),
    freeDisk: disk.free(),
    leastDisk,
    isNewerPublished: parts.watch?.newer,
    height: moment.lastBlock?.height,
    hostCertificates: { ...parts.keeper?.counts() },
    certificateEnd: parseCertificatePem(certificate).notAfter,
  };
}

/** Why the provider does not take new leases now, a sentence for each reason. */
export function whyNotReady({ isStarted, obstacle, probe, lastBlock, now }: DaemonMoment): string[] {
  if (!isStarted) return ["the provider is starting"];
  const hindrance = obstacle ?? (probe === "probing" ? hostFault("probing") : undefined);
  const silent = lastBlock === undefined || now - lastBlock.at > BLOCKS_MISSED_MS;
  return [
    ...(hindrance === undefined ? [] : [hindrance.text]),
    ...(silent ? [`no block has come for ${BLOCKS_MISSED_MS / 1000} s: look at the node`] : []),
  ];
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

function reserved(inventory: Inventory, state: ReservationState): Quantities & { readonly count: number } {
  const found = inventory.all().filter((each) => each.state === state);
  return { ...add(found.map(({ rows }) => totalOf(rows))), count: found.length };
}

function add(parts: readonly Quantities[]): Quantities {
  const sum = (of: (part: Quantities) => bigint) => parts.reduce((total, part) => total + of(part), 0n);
  return {
    cpu: sum((part) => part.cpu),
    memory: sum((part) => part.memory),
    storage: sum((part) => part.storage),
    gpu: sum((part) => part.gpu),
  };
}
