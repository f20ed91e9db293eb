import { formatBytes } from "../../sdl/index.ts";
import type { NodeCapacity } from "../cluster/index.ts";
import type { RowNeed } from "./resources.ts";

/** A reservation is pending while a bid waits for its answer and active once the lease is ours. */
export type ReservationState = "pending" | "active";

/** Capacity held for one order, keyed by the order's text. */
export interface Reservation {
  readonly order: string;
  readonly state: ReservationState;
  readonly rows: readonly RowNeed[];
  /** Node of each replica, row by row. */
  readonly placement: readonly (readonly string[])[];
}

/** Cpu in thousandths of a core, gpu in pieces, the others in bytes. */
export interface Quantities {
  readonly cpu: bigint;
  readonly memory: bigint;
  readonly storage: bigint;
  readonly gpu: bigint;
}

export interface NodeUse extends Quantities {
  readonly name: string;
}

export interface InventoryOptions {
  /** Percent of a resource promised beyond what is there: 0 = none, 100 = twice. */
  readonly overcommit: { readonly cpu: number; readonly memory: number; readonly storage: number };
  /** Ports of the host that all leases together may take. */
  readonly portQuantity: number;
  /** Makes the reservations durable before a change counts. */
  readonly save: (reservations: readonly Reservation[]) => void;
}

const RESOURCES = ["cpu", "memory", "storage", "gpu"] as const;

/** The one ledger of capacity and reservations. A refusal names the resource that is short and how much is left. */
export class Inventory {
  readonly #options: InventoryOptions;
  readonly #reservations: Map<string, Reservation>;
  #nodes: readonly NodeCapacity[] = [];

  constructor(options: InventoryOptions, reservations: readonly Reservation[] = []) {
    this.#options = options;
    this.#reservations = new Map(reservations.map((each) => [each.order, each]));
  }

  /** Takes a new look at the cluster. Reservations stay, even where they no longer fit. */
  observe(nodes: readonly NodeCapacity[]): void {
    this.#nodes = nodes;
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
    this.#put(before === undefined ? { order, state, rows, placement: this.#place(rows) } : { ...before, state });
  }

  /** Whether rows would fit if nothing else were reserved; a cluster that was not seen yet may hold anything. */
  couldFit(rows: readonly RowNeed[]): boolean {
    if (this.#nodes.length === 0) return true;
    if (rowPorts(rows) > this.#options.portQuantity) return false;
    try {
      placeAll(new Map(this.#nodes.map((node) => [node.name, this.#total(node)])), rows);
      return true;
    } catch {
      return false;
    }
  }

  /** Takes a reservation over as it is, with or without room for it: a bid or a workload of before a restart. */
  hold(order: string, rows: readonly RowNeed[], state: ReservationState): void {
    const before = this.#reservations.get(order);
    this.#put({ order, state, rows, placement: before?.placement ?? this.#placeAnyway(rows) });
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
    return this.#nodes.map((node) => ({ name: node.name, ...this.#free(node) }));
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

  #place(rows: readonly RowNeed[]): string[][] {
    return placeAll(new Map(this.#nodes.map((node) => [node.name, this.#free(node)])), rows);
  }

  #placeAnyway(rows: readonly RowNeed[]): string[][] {
    try {
      return this.#place(rows);
    } catch {
      const [node] = this.#nodes;
      return rows.map((row) => Array.from({ length: Number(row.count) }, () => node?.name ?? ""));
    }
  }

  #free(node: NodeCapacity): Quantities {
    return this.all().reduce((left, reservation) => minus(left, usedOn(node.name, reservation)), this.#total(node));
  }

  #total(node: NodeCapacity): Quantities {
    const { overcommit } = this.#options;
    return {
      cpu: withOvercommit(node.cpu, overcommit.cpu),
      memory: withOvercommit(node.memory, overcommit.memory),
      storage: withOvercommit(node.storage, overcommit.storage),
      gpu: node.gpu,
    };
  }
}

/** First fit, replica by replica; takes from what is free. */
function placeAll(free: Map<string, Quantities>, rows: readonly RowNeed[]): string[][] {
  return rows.map((row) => Array.from({ length: Number(row.count) }, () => takeFirst(free, row)));
}

function takeFirst(free: Map<string, Quantities>, row: RowNeed): string {
  const need = replicaNeed(row);
  for (const [name, left] of free) {
    if (RESOURCES.some((resource) => need[resource] > left[resource])) continue;
    free.set(name, minus(left, need));
    return name;
  }
  throw new Error(`insufficient capacity: ${shortage(free, need)}`);
}

/** The first resource that no node has, or that no node has together with the others. */
function shortage(free: ReadonlyMap<string, Quantities>, need: Quantities): string {
  const nodes = [...free.values()];
  if (nodes.length === 0) return "the cluster has no node";
  for (const resource of RESOURCES) {
    const most = nodes.reduce((max, left) => (left[resource] > max ? left[resource] : max), 0n);
    if (need[resource] > most)
      return `${resource} ${wanted(resource, need[resource])} wanted per replica, at most ${left(resource, most)} left on a node`;
  }
  return "no single node has cpu, memory and storage for one more replica";
}

/** An amount as it stands in deployment files. */
function wanted(resource: keyof Quantities, amount: bigint): string {
  if (resource === "gpu") return amount.toString();
  return resource === "cpu" ? `${amount}m` : formatBytes(amount);
}

/** What is left, rounded down to what can be asked for. */
function left(resource: keyof Quantities, amount: bigint): string {
  const isBytes = resource === "memory" || resource === "storage";
  return wanted(resource, isBytes ? amount - (amount % (amount < TEN_GIB ? MIB : GIB)) : amount);
}

const MIB = 1n << 20n;
const GIB = 1n << 30n;
const TEN_GIB = 10n * GIB;

/** Volumes of memory count as memory, all others as storage. */
function replicaNeed(row: RowNeed): Quantities {
  const sum = (ram: boolean) =>
    row.volumes.reduce((total, volume) => ((volume.class === "ram") === ram ? total + volume.bytes : total), 0n);
  return { cpu: row.cpu, memory: row.memory + sum(true), storage: sum(false), gpu: row.gpu };
}

function usedOn(node: string, { rows, placement }: Reservation): Quantities {
  return rows.reduce<Quantities>(
    (total, row, i) => {
      const here = BigInt(placement[i]?.filter((name) => name === node).length ?? 0);
      const need = replicaNeed(row);
      return {
        cpu: total.cpu + need.cpu * here,
        memory: total.memory + need.memory * here,
        storage: total.storage + need.storage * here,
        gpu: total.gpu + need.gpu * here,
      };
    },
    { cpu: 0n, memory: 0n, storage: 0n, gpu: 0n },
  );
}

function minus(a: Quantities, b: Quantities): Quantities {
  return { cpu: a.cpu - b.cpu, memory: a.memory - b.memory, storage: a.storage - b.storage, gpu: a.gpu - b.gpu };
}

function withOvercommit(value: bigint, percent: number): bigint {
  return (value * BigInt(Math.round((100 + percent) * 100))) / 10_000n;
}

function rowPorts(rows: readonly RowNeed[]): number {
  return rows.reduce((sum, row) => sum + row.ports, 0);
}
