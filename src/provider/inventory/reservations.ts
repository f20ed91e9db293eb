import { join } from "node:path";
import type { Logger } from "../../util/index.ts";
import { formatOrderId, type LeaseKey, parseOrderId } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import { Inventory, type InventoryOptions } from "./inventory.ts";
import { Ledger } from "./ledger.ts";
import { groupNeeds } from "./resources.ts";

/** Opens the ledger as the last run left it. */
export function openInventory(folder: string, options: Omit<InventoryOptions, "ledger">, log: Logger): Inventory {
  const ledger = new Ledger(join(folder, "reservations.jsonl"), log);
  return new Inventory({ ...options, ledger }, ledger.load());
}

export interface ReconcileRequest {
  readonly inventory: Inventory;
  readonly chain: Pick<ChainView, "bid" | "group" | "activeLeases">;
  readonly provider: string;
  /** Orders whose reservation stays: resources in use, or a message of ours about the bid that may be on its way. */
  readonly keep: () => ReadonlySet<string>;
  /** There is more room than before. */
  readonly released?: () => void;
  readonly log: Logger;
}

/**
 * Compares the ledger with the chain: a reservation goes when the chain says that its bid is over and nothing of a lease
 * is left here; every active lease has one. Rejects when the chain cannot be asked.
 */
export async function reconcileReservations(request: ReconcileRequest): Promise<void> {
  const { inventory, chain, provider, keep } = request;
  const leases = await chain.activeLeases({ provider });
  const active = new Set(leases.map(({ id }) => formatOrderId(id)));
  const kept = keep();
  for (const { id } of leases) await holdLease(request, id);
  const doubtful = inventory.all().filter(({ order }) => !active.has(order) && !kept.has(order));
  for (const { order } of doubtful) await releaseIfOver(request, order);
}

async function releaseIfOver(request: ReconcileRequest, order: string) {
  const { inventory, chain, provider, keep, released, log } = request;
  const bid = await chain.bid({ ...parseOrderId(order), provider });
  if (bid?.state === "open" || bid?.state === "active") return;
  // Meanwhile a new bid may be on its way, or the lease's workload may have been found.
  if (keep().has(order)) return;
  log.info("unreserving capacity", { order });
  inventory.release(order);
  released?.();
}

async function holdLease({ inventory, chain }: ReconcileRequest, id: LeaseKey): Promise<void> {
  const order = formatOrderId(id);
  if (inventory.stateOf(order) === "active") return;
  const group = await chain.group(id);
  if (group !== undefined) inventory.hold(order, groupNeeds(group.spec), "active");
}
