import { join } from "node:path";
import type { Logger } from "../../util/index.ts";
import { formatOrderId, type LeaseKey, parseOrderId } from "../../wire/index.ts";
import type { ChainView } from "../chain.ts";
import { loadJson, saveJson } from "../durable.ts";
import { Inventory, type InventoryOptions, type Reservation } from "./inventory.ts";
import { groupNeeds } from "./resources.ts";

/** Opens the ledger as the last run left it; every change is on disk before it counts. */
export function openInventory(folder: string, options: Omit<InventoryOptions, "save">): Inventory {
  const path = join(folder, "reservations.json");
  const stored = loadJson(path);
  // The file is written by `saveJson` with exactly this shape and is readable by its owner alone.
  const reservations = Array.isArray(stored) ? (stored as Reservation[]) : [];
  return new Inventory({ ...options, save: (all) => saveJson(path, all) }, reservations.map(withGpuKinds));
}

/** Rows that an older release has written name no kinds of GPU. */
function withGpuKinds(reservation: Reservation): Reservation {
  return { ...reservation, rows: reservation.rows.map((row) => ({ ...row, gpuKinds: row.gpuKinds ?? [] })) };
}

export interface ReconcileRequest {
  readonly inventory: Inventory;
  readonly chain: ChainView;
  readonly provider: string;
  /** Orders that have a lease record here, whose resources are in use. */
  readonly inUse: ReadonlySet<string>;
  readonly log: Logger;
}

/**
 * Compares the ledger with the chain: a reservation goes when the chain says that its bid is over and nothing of a lease
 * is left here; every active lease has one.
 */
export async function reconcileReservations(request: ReconcileRequest): Promise<void> {
  const { inventory, chain, provider, inUse, log } = request;
  for (const { order } of inventory.all()) {
    if (inUse.has(order)) continue;
    const id = parseOrderId(order);
    const bid = await chain.bid({ ...id, provider });
    if (bid?.state === "open" || bid?.state === "active") continue;
    log.info("unreserving capacity", { order });
    inventory.release(order);
  }
  for (const { id } of await chain.activeLeases({ provider })) await holdLease(request, id);
}

async function holdLease({ inventory, chain }: ReconcileRequest, id: LeaseKey): Promise<void> {
  const group = await chain.group(id);
  if (group !== undefined) inventory.hold(formatOrderId(id), groupNeeds(group.spec), "active");
}
