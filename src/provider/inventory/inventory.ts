import { isDeepStrictEqual } from "node:util";
import type { ClusterCapacity } from "../cluster/index.ts";
import { addressesOf, addressShortage, couldHaveAddresses, usualPerOwner, type Wanting } from "./addresses.ts";
import type { Quantities } from "./need.ts";
import type { RowNeed } from "./resources.ts";
import { hasGrown, type Overcommit, type Placement, Room } from "./room.ts";
import { type Amounts, amountsOf, exceeded, OpenBids, RESOURCES } from "./shares.ts";

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
  /** Maximum leased addresses of one tenant; half of all by default. */
  readonly addressesPerOwner?: number | undefined;
  /** Percent of the half for open bids that one tenant may hold; open bids may hold everything if absent. */
  readonly bidShare?: number | undefined;
  readonly ledger: ReservationLedger;
}

/** Where reservations outlast a restart. */
export interface ReservationLedger {
  /** Notes the new state of an order; null if it no longer has a reservation. */
  record(order: string, reservation: Reservation | null): void;
  /** Resolves when everything recorded so far is on disk. */
  durable(): Promise<void>;
}

const NOTHING: ClusterCapacity = { nodes: [], storage: [] };

/** The one ledger of capacity and reservations. A refusal names the resource that is short and how much is left. */
export class Inventory {
  readonly #options: InventoryOptions;
  readonly #reservations: Map<string, Reservation>;
  #capacity = NOTHING;
  /** Room left after all reservations; undefined until first needed. */
  #left: Room | undefined;
  readonly #openBids = new OpenBids();
  /** Sums over all nodes: free now, and without any reservation; undefined until first needed. */
  #sums: Amounts | undefined;
  #whole: Amounts | undefined;

  constructor(options: InventoryOptions, reservations: readonly Reservation[] = []) {
    this.#options = options;
    this.#reservations = new Map(reservations.map((each) => [each.order, each]));
    for (const each of this.all()) if (each.state === "pending") this.#openBids.add(each.order, each.rows);
  }

  /**
   * Takes a new look at the cluster. Reservations stay, even if they no longer fit. Tells whether there is more of anything
   * than at the last look.
   */
  observe(capacity: ClusterCapacity): boolean {
    const before = this.#capacity;
    this.#capacity = capacity;
    this.#left = undefined;
    this.#sums = undefined;
    this.#whole = undefined;
    return hasGrown(before, capacity);
  }

  /** Resolves when every change so far is on disk. */
  durable(): Promise<void> {
    return this.#options.ledger.durable();
  }

  /** Whether the cluster has GPUs, taken or not. */
  get hasGpus(): boolean {
    return this.#capacity.nodes.some(({ gpus }) => gpus.some(({ count }) => count > 0n));
  }

  /** Undefined if nothing is reserved for the order. */
  stateOf(order: string): ReservationState | undefined {
    return this.#reservations.get(order)?.state;
  }

  has(order: string): boolean {
    return this.#reservations.has(order);
  }

  all(): readonly Reservation[] {
    return [...this.#reservations.values()];
  }

  /** Reserves first fit, replica by replica. Throws one sentence if the order does not fit. */
  reserve(order: string, rows: readonly RowNeed[], state: ReservationState = "pending"): void {
    const before = this.#reservations.get(order);
    if (before === undefined) this.#checkCounts({ order, rows });
    this.#put(before === undefined ? { order, state, rows, ...this.#room().place(rows) } : { ...before, state });
  }

  /** Throws one sentence if rows do not fit now, for a tenant who has nothing here yet; reserves nothing. */
  checkRoom(rows: readonly RowNeed[]): void {
    this.#checkCounts({ order: "", rows });
    const room = this.#room();
    room.give({ rows, ...room.place(rows) });
  }

  /** Whether the order may fit now, by the sums over all nodes: a no is certain, and takes little time. */
  mayFit({ order, rows }: Wanting): boolean {
    this.#sums ??= { ...this.#room().total(), ports: BigInt(this.portsLeft()) };
    const [needs, left] = [amountsOf(rows), this.#sums];
    const isLeft = (each: keyof Amounts) => needs[each] === 0n || needs[each] <= left[each];
    return RESOURCES.every(isLeft) && this.#bidShortage({ order, rows }) === undefined;
  }

  /** Whether rows would fit if nothing else were reserved; a cluster that was not seen yet may hold anything. */
  couldFit(rows: readonly RowNeed[]): boolean {
    if (this.#capacity.nodes.length === 0) return true;
    if (rowPorts(rows) > this.#options.portQuantity || !couldHaveAddresses(rows, this.#bounds)) return false;
    try {
      new Room(this.#capacity, this.#options.overcommit).place(rows);
      return true;
    } catch {
      return false;
    }
  }

  /** Adopts a reservation unchanged, with or without room for it: a bid or a workload from before a restart. */
  hold(order: string, rows: readonly RowNeed[], state: ReservationState): void {
    const before = this.#reservations.get(order);
    if (before?.state === state && isDeepStrictEqual(before.rows, rows)) return;
    if (before !== undefined) this.#room().give(before);
    const placed = before === undefined ? this.#placeAnyway(rows) : { ...before };
    if (before !== undefined) this.#room().take({ ...placed, rows });
    this.#put({ ...placed, order, rows, state });
  }

  /** The bid of a reservation has won. */
  promote(order: string): void {
    const before = this.#reservations.get(order);
    if (before !== undefined && before.state !== "active") this.#put({ ...before, state: "active" });
  }

  release(order: string): void {
    const before = this.#reservations.get(order);
    if (before === undefined) return;
    this.#reservations.delete(order);
    this.#count(before, undefined);
    this.#room().give(before);
    this.#options.ledger.record(order, null);
  }

  /** The limit that one more open bid would exceed, where there is money for so many more. */
  bidsExceeded(order: string, affordable: bigint): ReturnType<typeof exceeded> {
    const { bidShare: share } = this.#options;
    if (share === undefined) return undefined;
    const held = this.#openBids.held(order, "bids");
    return exceeded(held, { need: 1n, whole: held.all + affordable, share });
  }

  /** Each node's offer before all reservations, overcommit included. */
  offered(): NodeUse[] {
    return new Room(this.#capacity, this.#options.overcommit).left();
  }

  /** Each node's free resources; negative if the node shrank below its reservations. */
  available(): NodeUse[] {
    return this.#room().left();
  }

  portsLeft(): number {
    const used = this.all().reduce((sum, { rows }) => sum + rowPorts(rows), 0);
    return this.#options.portQuantity - used;
  }

  /** Counts the change of an order's reservation among open bids. */
  #count(before: Reservation | undefined, after: Reservation | undefined): void {
    if (before?.state === "pending") this.#openBids.remove(before.order, before.rows);
    if (after?.state === "pending") this.#openBids.add(after.order, after.rows);
    this.#sums = undefined;
  }

  #put(reservation: Reservation): void {
    this.#count(this.#reservations.get(reservation.order), reservation);
    this.#reservations.set(reservation.order, reservation);
    this.#options.ledger.record(reservation.order, reservation);
  }

  /** Leasable IP addresses without reserved ones; negative if the pool shrank. */
  addressesLeft(): number {
    return this.addresses - addressesOf(this.all()).size;
  }

  /** IP addresses that leases can have as their own, taken or not. */
  get addresses(): number {
    return this.#capacity.addresses ?? 0;
  }

  get #bounds() {
    return { pool: this.addresses, perOwner: this.#options.addressesPerOwner ?? usualPerOwner(this.addresses) };
  }

  #checkCounts(wanting: Wanting): void {
    this.#checkPorts(wanting.rows);
    const shortage = addressShortage(wanting, this.all(), this.#bounds) ?? this.#bidShortage(wanting);
    if (shortage !== undefined) throw new Error(`insufficient capacity: ${shortage}`);
  }

  #bidShortage({ order, rows }: Wanting): string | undefined {
    const { overcommit, bidShare: share, portQuantity } = this.#options;
    if (share === undefined) return undefined;
    this.#whole ??= { ...new Room(this.#capacity, overcommit).total(), ports: BigInt(portQuantity) };
    return this.#openBids.shortage(order, rows, { whole: this.#whole, share });
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
    const room = this.#room();
    try {
      return room.place(rows);
    } catch {
      const [node] = this.#capacity.nodes;
      const placement = rows.map((row) => Array.from({ length: Number(row.count) }, () => node?.name ?? ""));
      room.take({ rows, placement });
      return { placement };
    }
  }

  #room(): Room {
    if (this.#left === undefined) {
      this.#left = new Room(this.#capacity, this.#options.overcommit);
      for (const reservation of this.all()) this.#left.take(reservation);
    }
    return this.#left;
  }
}

function rowPorts(rows: readonly RowNeed[]): number {
  return rows.reduce((sum, row) => sum + row.ports, 0);
}
