import { type Quantities, replicaNeed } from "./need.ts";
import type { RowNeed } from "./resources.ts";
import { formatAmount } from "./shortage.ts";

/** Amounts of the whole cluster, node ports included. */
export type Amounts = Quantities & { readonly ports: bigint };

/** Number of open bids, or an amount that they hold: of all tenants, of one tenant, and of one deployment. */
export interface Held {
  readonly all: bigint;
  readonly owner: bigint;
  readonly deployment: bigint;
}

interface Limits {
  readonly whole: Amounts;
  /** Percent of the half that open bids of one tenant may hold. */
  readonly share: number;
}

/** Open bids hold at most one of this many parts of the provider. */
const PARTS = 2n;
export const RESOURCES = ["cpu", "memory", "storage", "gpu", "ports"] as const;
const NOTHING: Amounts & { readonly bids: bigint } = { cpu: 0n, memory: 0n, storage: 0n, gpu: 0n, ports: 0n, bids: 0n };
const SUMMED = [...RESOURCES, "bids"] as const;

/**
 * The limit that one more bid would exceed. All open bids together may hold half of the whole, those of one tenant a
 * share of that half. A deployment that is alone may hold more: a large one would otherwise never get a bid.
 */
export function exceeded(
  held: Held,
  { need, whole, share }: { readonly need: bigint; readonly whole: bigint; readonly share: number },
): { readonly whose: "all" | "owner"; readonly most: bigint } | undefined {
  const most = whole / PARTS;
  if (need > 0n && held.all > held.deployment && held.all + need > most) return { whose: "all", most };
  // Rounded down.
  const ownerMost = (most * BigInt(share)) / 100n;
  if (need > 0n && held.owner > held.deployment && held.owner + need > ownerMost)
    return { whose: "owner", most: ownerMost };
  return undefined;
}

/** Amounts that open bids hold, by tenant and by deployment. */
export class OpenBids {
  readonly #sums = new Map<string, typeof NOTHING>();

  add(order: string, rows: readonly RowNeed[]): void {
    this.#change(order, rows, 1n);
  }

  remove(order: string, rows: readonly RowNeed[]): void {
    this.#change(order, rows, -1n);
  }

  #change(order: string, rows: readonly RowNeed[], sign: 1n | -1n): void {
    const need = { ...amountsOf(rows), bids: 1n };
    for (const key of Object.values(keysOf(order))) {
      const sum = { ...(this.#sums.get(key) ?? NOTHING) };
      for (const each of SUMMED) sum[each] += sign * need[each];
      if (sum.bids === 0n) this.#sums.delete(key);
      else this.#sums.set(key, sum);
    }
  }

  held(order: string, what: keyof typeof NOTHING): Held {
    const { all, owner, deployment } = keysOf(order);
    const of = (key: string): bigint => this.#sums.get(key)?.[what] ?? 0n;
    return { all: of(all), owner: of(owner), deployment: of(deployment) };
  }

  /** Why a bid on the order has to wait for the end of others; undefined if it does not. */
  shortage(order: string, rows: readonly RowNeed[], { whole, share }: Limits): string | undefined {
    const needs = amountsOf(rows);
    for (const resource of RESOURCES) {
      const held = this.held(order, resource);
      const over = exceeded(held, { need: needs[resource], whole: whole[resource], share });
      if (over === undefined) continue;
      const [wanted, taken, most] = [needs[resource], held[over.whose], over.most].map((amount) =>
        formatAmount(resource, amount),
      );
      const whose = over.whose === "all" ? "open bids" : "open bids of its tenant";
      return `${resource} ${wanted} wanted, ${whose} hold ${taken} of the ${most} that they may`;
    }
    return undefined;
  }
}

/** Sum over all replicas. */
export function amountsOf(rows: readonly RowNeed[]): Amounts {
  return rows.reduce<Amounts>((total, row) => {
    const { cpu, memory, storage, gpu } = replicaNeed(row);
    return {
      cpu: total.cpu + cpu * row.count,
      memory: total.memory + memory * row.count,
      storage: total.storage + storage * row.count,
      gpu: total.gpu + gpu * row.count,
      ports: total.ports + BigInt(row.ports),
    };
  }, NOTHING);
}

/** The text of an order begins with its owner and the number of its deployment. */
function keysOf(order: string): { readonly all: string; readonly owner: string; readonly deployment: string } {
  const [owner = "", dseq = ""] = order.split("/");
  return { all: "*", owner, deployment: `${owner}/${dseq}` };
}
