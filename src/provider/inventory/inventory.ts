import type { ClusterCapacity } from "../cluster/index.ts";
import type { Quantities } from "./need.ts";
import type { RowNeed } from "./resources.ts";
import { type Overcommit, type Placement, Room } from "./room.ts";

/** A reservation is pending while a bid waits for its answer and active once the lease is ours. */
export type ReservationState = "pending" | "active";

/** Capacity held for one order, keyed by the order's text. */
export interface Reservation extends Placement {
  readonly order: string;
  readonly state: ReservationState;
  readonly rows: readonly RowNeed[];
}

export interface NodeUse extends Quantities {
  readonly name: string;
}

export interface InventoryOptions {
  readonly overcommit: Overcommit;
  /** Ports of the host that all leases together may take. */
  readonly portQuantity: number;
  /** Makes the reservations durable before a change counts. */
  readonly save: (reservations: readonly Reservation[]) => void;
}

const NOTHING: ClusterCapacity = { nodes: [], storage: [] };

/** The one ledger of capacity and reservations. A refusal names the resource that is short and how much is left. */
export class Inventory {
  readonly #options: InventoryOptions;
  readonly #reservations: Map<string, Reservation>;
  #capacity = NOTHING;

  constructor(options: InventoryOptions, reservations: readonly Reservation[] = []) {
    this.#options = options;
    this.#reservations = new Map(reservations.map((each) => [each.order, each]));
  }

  /** Takes a new look at the cluster. Reservations stay, even where they no longer fit. */
  observe(capacity: ClusterCapacity): void {
    this.#capacity = capacity;
  }

  /** Whether the cluster has GPUs, taken or not. */
  get hasGpus(): boolean {
    return this.#capacity.nodes.some(({ gpus }) => gpus.some(({ count }) => count > 0n));
  }

  has(order: string): boolean {
    return this.#reservations.has(order);
  }

  all(): readonly Reservation[] {
    return [...this.#reservations.values()];
  }

  /** Reserves first fit, replica by replica. Throws one sentence where the order does not fit. */
  reserve(order: string, rows: readonly RowNeed[], state: ReservationState = "pending"): void {
    const before = this.#reservations.get(order);
    if (before === undefined) this.#checkPorts(rows);
    this.#put(before === undefined ? { order, state, rows, ...this.#room().place(rows) } : { ...before, state });
  }

  /** Whether rows would fit if nothing else were reserved; a cluster that was not seen yet may hold anything. */
  couldFit(rows: readonly RowNeed[]): boolean {
    if (this.#capacity.nodes.length === 0) return true;
    if (rowPorts(rows) > this.#options.portQuantity) return false;
    try {
      new Room(this.#capacity, this.#options.overcommit).place(rows);
      return true;
    } catch {
      return false;
    }
  }

  /** Takes a reservation over as it is, with or without room for it: a bid or a workload from before a restart. */
  hold(order: string, rows: readonly RowNeed[], state: ReservationState): void {
    const before = this.#reservations.get(order);
    this.#put({ ...(before ?? this.#placeAnyway(rows)), order, rows, state });
  }

  /** The bid of a reservation has won. */
  promote(order: string): void {
    const before = this.#reservations.get(order);
    if (before !== undefined) this.#put({ ...before, state: "active" });
  }

  release(order: string): void {
    if (!this.#reservations.delete(order)) return;
    this.#options.save(this.all());
  }

  /** What is left on each node; negative where a node shrank below its reservations. */
  available(): NodeUse[] {
    return this.#room().left();
  }

  portsLeft(): number {
    const used = this.all().reduce((sum, { rows }) => sum + rowPorts(rows), 0);
    return this.#options.portQuantity - used;
  }

  #put(reservation: Reservation): void {
    const before = this.#reservations.get(reservation.order);
    this.#reservations.set(reservation.order, reservation);
    try {
      this.#options.save(this.all());
    } catch (error) {
      if (before === undefined) this.#reservations.delete(reservation.order);
      else this.#reservations.set(reservation.order, before);
      throw error;
    }
  }

  #checkPorts(rows: readonly RowNeed[]): void {
    const wanted = rowPorts(rows);
    const left = this.portsLeft();
    if (wanted <= left) return;
    throw new Error(
      `insufficient capacity: ${wanted} node ports wanted, ${left} of ${this.#options.portQuantity} left`,
    );
  }

  #placeAnyway(rows: readonly RowNeed[]): Placement {
    try {
      return this.#room().place(rows);
    } catch {
      const [node] = this.#capacity.nodes;
      return { placement: rows.map((row) => Array.from({ length: Number(row.count) }, () => node?.name ?? "")) };
    }
  }

  /** What is left beside all reservations. */
  #room(): Room {
    const room = new Room(this.#capacity, this.#options.overcommit);
    for (const reservation of this.all()) room.take(reservation);
    return room;
  }
}

function rowPorts(rows: readonly RowNeed[]): number {
  return rows.reduce((sum, row) => sum + row.ports, 0);
}
