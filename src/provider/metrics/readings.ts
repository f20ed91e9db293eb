import type { Quantities } from "../inventory/index.ts";
import type { Reading } from "./registry.ts";
import { GAUGES } from "./table.ts";

/** The provider's state for the gauges. Counts are by their label. */
export interface ProviderState {
  readonly orders: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly leases: Readonly<Record<string, number>>;
  /** Total offer of all nodes, and the free part. */
  readonly allocatable: Quantities;
  readonly available: Quantities;
  readonly reservations: Readonly<Record<"pending" | "active", Quantities & { readonly count: number }>>;
  /** Leased addresses: offered, and free. */
  readonly leasedIps: Readonly<Record<string, number>>;
  readonly isBidding: boolean;
  readonly isDraining: boolean;
  /** 1 for the state of the trial of a container. */
  readonly probe: Readonly<Record<string, number>>;
  readonly outbox: number;
  /** Undefined until it was asked for. */
  readonly balance: bigint | undefined;
  readonly bidCost: bigint | undefined;
  /** Undefined if the system does not report it. */
  readonly freeDisk: bigint | undefined;
  readonly leastDisk: bigint;
  /** Undefined where no network is named. */
  readonly isNewerPublished: boolean | undefined;
  /** Undefined before the first block. */
  readonly height: bigint | undefined;
  /** Host names by the state of their certificates. */
  readonly hostCertificates: Readonly<Record<string, number>>;
  /** Seconds since 1970. */
  readonly certificateEnd: number;
}

/** The state as values of gauges. */
export function readings(state: ProviderState): Reading[] {
  return [
    ...counts("orders", state.orders),
    ...counts("refusals", state.refusals),
    ...counts("leases", state.leases),
    ...counts("hostCertificates", state.hostCertificates),
    ...counts("probe", state.probe),
    ...amounts("allocatable", state.allocatable),
    ...amounts("available", state.available),
    ...reserved(state.reservations),
    ...counts("leasedIps", state.leasedIps),
    ...single(state),
  ];
}

function single(state: ProviderState): Reading[] {
  const optional = [
    { gauge: "balance", value: state.balance },
    { gauge: "bidCost", value: state.bidCost },
    { gauge: "freeDisk", value: state.freeDisk },
    { gauge: "height", value: state.height },
    { gauge: "newerVersion", value: state.isNewerPublished },
  ] as const;
  return [
    { gauge: "bidding", value: Number(state.isBidding) },
    { gauge: "draining", value: Number(state.isDraining) },
    { gauge: "outbox", value: state.outbox },
    { gauge: "leastDisk", value: Number(state.leastDisk) },
    { gauge: "certificateEnd", value: state.certificateEnd },
    ...optional.flatMap(({ gauge, value }) => (value === undefined ? [] : [{ gauge, value: Number(value) }])),
  ];
}

/** Zero where nothing was counted: a series that comes and goes cannot be watched. */
function counts(
  gauge: "orders" | "refusals" | "leases" | "leasedIps" | "hostCertificates" | "probe",
  values: Readonly<Record<string, number>>,
): Reading[] {
  return Object.entries(GAUGES[gauge].labels).flatMap(([label, keys]: [string, readonly string[]]) =>
    keys.map((key) => ({ gauge, value: values[key] ?? 0, labels: { [label]: key } })),
  );
}

function amounts(
  gauge: Reading["gauge"],
  amount: Quantities,
  labels: Readonly<Record<string, string>> = {},
): Reading[] {
  const { cpu, memory, storage, gpu } = amount;
  return Object.entries({ cpu, memory, storage, gpu }).map(([quantity, value]) => ({
    gauge,
    value: Number(value),
    labels: { ...labels, quantity },
  }));
}

function reserved(reservations: ProviderState["reservations"]): Reading[] {
  return Object.entries(reservations).flatMap(([classification, { count, ...amount }]) => [
    { gauge: "reservations" as const, value: count, labels: { classification, quantity: "none" } },
    ...amounts("reservations", amount, { classification }),
  ]);
}
