import { OBSTACLE_NAMES } from "../reasons.ts";

/** A label takes one of these values, so that the number of series is known before the first request. */
type Labels = Readonly<Record<string, readonly string[]>>;

interface MetricRow {
  readonly name: string;
  readonly help: string;
  readonly labels: Labels;
}

type MetricTable = Readonly<Record<string, MetricRow>>;

const RESULT = ["success", "fail"] as const;
const QUANTITY = ["cpu", "memory", "storage", "gpu"] as const;

/** Values that only grow while the provider runs. */
export const COUNTERS = {
  shouldBid: {
    name: "provider_should_bid_total",
    help: "Orders examined: pass if they suit this provider, decline if not, fail if they could not be judged.",
    labels: { result: ["pass", "decline", "fail"] },
  },
  reservation: {
    name: "provider_reservation_total",
    help: "Attempts to reserve capacity for a bid.",
    labels: { result: RESULT },
  },
  bid: {
    name: "provider_bid_total",
    help: "Bids created and withdrawn, counted when a block holds them or the chain has refused them.",
    labels: { action: ["create", "close"], result: RESULT },
  },
  orderComplete: {
    name: "provider_order_complete_total",
    help: "Bids that have ended, by what became of them.",
    labels: {
      result: ["lease-won", "lease-lost", "order-closed", "bid-closed-external", "bid-timeout", "bid-withdrawn"],
    },
  },
  withdrawal: {
    name: "provider_lease_withdrawal_total",
    help: "Transactions that collect what leases have earned.",
    labels: { result: RESULT },
  },
  gatewayRequests: {
    name: "provider_gateway_requests_total",
    help: "Requests answered by the gateway, by class of route and of status.",
    labels: { route: ["public", "tenant", "other"], status: ["2xx", "3xx", "4xx", "5xx"] },
  },
} as const satisfies MetricTable;

/** Durations in seconds. */
export const DURATIONS = {
  pricing: {
    name: "provider_bid_pricing_duration",
    help: "Seconds that pricing an order took.",
    labels: {},
  },
  reserving: {
    name: "provider_reservation_duration",
    help: "Seconds until a reservation was durable or refused.",
    labels: {},
  },
} as const satisfies MetricTable;

/** Read at each request. */
export const GAUGES = {
  orders: {
    name: "provider_order_manager",
    help: "Orders known, by their phase at this provider.",
    labels: { phase: ["checking", "refused", "bidding", "open", "withdrawing", "won", "lost", "closed"] },
  },
  refusals: {
    name: "provider_order_refused",
    help: "Orders without a bid, by what would have to change: nothing helps, the cluster's size, free capacity, money, repair, time.",
    labels: { obstacle: OBSTACLE_NAMES },
  },
  leases: {
    name: "provider_manifest_manager",
    help: "Leases with a record here, by phase.",
    labels: { phase: ["awaiting", "deploying", "running", "closing"] },
  },
  allocatable: {
    name: "provider_inventory_allocatable",
    help: "What the nodes offer: thousandths of a core, bytes, pieces.",
    labels: { quantity: QUANTITY },
  },
  available: {
    name: "provider_inventory_available",
    help: "What is left of it beside all reservations.",
    labels: { quantity: QUANTITY },
  },
  reservations: {
    name: "provider_inventory_reservations",
    help: "What is reserved: pending for bids, active for leases; quantity=none counts the reservations.",
    labels: { classification: ["pending", "active"], quantity: ["none", ...QUANTITY] },
  },
  leasedIps: {
    name: "provider_leased_ips",
    help: "IP addresses that leases can have, and how many are left beside all reservations.",
    labels: { state: ["offered", "left"] },
  },
  bidding: { name: "provider_bidding", help: "1 while nothing keeps this provider from bidding.", labels: {} },
  draining: {
    name: "provider_draining",
    help: "1 while the operator lets leases end and takes no new ones.",
    labels: {},
  },
  probe: {
    name: "provider_probe",
    help: "Whether a container runs here: 1 for the outcome of the last trial, or while the first one is awaited.",
    labels: { state: ["probing", "passed", "failed"] },
  },
  outbox: { name: "provider_outbox_messages", help: "Messages that are not in a block yet.", labels: {} },
  balance: {
    name: "provider_balance",
    help: "Balance of the provider's account in the coin of its deposits.",
    labels: {},
  },
  bidCost: {
    name: "provider_bid_cost",
    help: "What a bid takes of it: deposit, fee and the balance to be kept.",
    labels: {},
  },
  freeDisk: { name: "provider_disk_free_bytes", help: "Bytes free on the disk of the provider's folder.", labels: {} },
  leastDisk: { name: "provider_disk_least_bytes", help: "Bytes below which the provider does not bid.", labels: {} },
  newerVersion: {
    name: "provider_newer_version",
    help: "1 where the network that --net names publishes a newer version than the one that runs.",
    labels: {},
  },
  height: { name: "provider_block_height", help: "Height of the last block that was followed.", labels: {} },
  lastBlock: {
    name: "provider_last_block_timestamp_seconds",
    help: "When the last block was followed; seconds since 1970.",
    labels: {},
  },
  lastOrder: {
    name: "provider_last_order_timestamp_seconds",
    help: "When the last order was detected; seconds since 1970.",
    labels: {},
  },
  lastBid: {
    name: "provider_last_bid_timestamp_seconds",
    help: "When the last bid was seen in a block; seconds since 1970.",
    labels: {},
  },
  hostCertificates: {
    name: "provider_host_certificates",
    help: "Host names for which the provider gets certificates: failing if the last order of one failed.",
    labels: { state: ["ok", "waiting", "failing"] },
  },
  certificateEnd: {
    name: "provider_certificate_end_timestamp_seconds",
    help: "When the server certificate expires; seconds since 1970.",
    labels: {},
  },
} as const satisfies MetricTable;

export type CounterName = keyof typeof COUNTERS;
export type DurationName = keyof typeof DURATIONS;
export type GaugeName = keyof typeof GAUGES;

/** A value for each label of a row, out of its allowed values. */
export type LabelsOf<Row extends { readonly labels: Labels }> = {
  readonly [Label in keyof Row["labels"]]: Row["labels"][Label][number];
} & Readonly<Record<string, string>>;

/** The moments that are kept for gauges. */
export type Moment = "lastBlock" | "lastOrder" | "lastBid";
