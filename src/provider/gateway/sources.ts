import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { OrderKey } from "../../wire/index.ts";

/** Cpu in thousandths of a core, gpu in pieces, the others in bytes. */
export interface ResourceSum {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly gpu: bigint;
}

export interface InventoryStatus {
  /** One entry per reservation that belongs to a lease, and per one that waits for a bid's answer. */
  readonly active: readonly ResourceSum[];
  readonly pending: readonly ResourceSum[];
  /** Available resources, by node. */
  readonly available: readonly (ResourceSum & { readonly name: string })[];
  /** Addresses that leases can have as their own, where there are any. */
  readonly leasedIps?: { readonly total: number; readonly left: number };
  readonly error?: string;
}

/** An order as the provider sees it. */
export interface OrderAnswer {
  readonly phase: string;
  /** Why it was refused, lost or closed. */
  readonly reason?: string;
  /** The name of that reason. */
  readonly code?: string;
  /** The tenant's remedy for a refusal. */
  readonly remedy?: string;
  /** It was refused, and no bid will follow, even if other orders end. */
  readonly final?: true;
}

/** Whether a group would get a bid, and at which price per block. */
export type ScreenAnswer =
  | { readonly bid: true; readonly price: { readonly denom: string; readonly amount: string } }
  | { readonly bid: false; readonly reason: string };

/** Questions of the gateway to the rest of the provider. The answers never name a tenant. */
export interface GatewaySources {
  inventory(): InventoryStatus | Promise<InventoryStatus>;
  /** Orders at work. */
  orderCount(): number;
  /** How many orders were refused, by reason. */
  refusals(): Readonly<Record<string, number>>;
  /** The fate of one order; undefined if the order is unknown. */
  order(id: OrderKey): OrderAnswer | undefined;
  /** Messages of the provider that are not yet in a block. */
  outboxDepth(): number;
  /** The price per block that would be bid for the group; rejects with the reason if none would. */
  price(group: GroupSpec): Promise<{ readonly denom: string; readonly amount: string }>;
  /** The bid that an order for the group would get now, or why none; rejects if that cannot be told. */
  screen(group: GroupSpec): Promise<ScreenAnswer>;
}
