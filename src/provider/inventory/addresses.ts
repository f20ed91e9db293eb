import type { RowNeed } from "./resources.ts";

/** An order and its requirements. */
export interface Wanting {
  readonly order: string;
  readonly rows: readonly RowNeed[];
}

/** Leasable addresses: the total, and one tenant's maximum. */
export interface AddressBounds {
  readonly pool: number;
  readonly perOwner: number;
}

/** So no tenant has the whole pool, however small it is, except where it is a single address. */
export function usualPerOwner(pool: number): number {
  return Math.ceil(pool / 2);
}

/**
 * The addresses of these orders, each once: a deployment has one address per number, even if several groups and
 * services name it.
 */
export function addressesOf(orders: readonly Wanting[]): ReadonlySet<string> {
  return new Set(orders.flatMap(({ order, rows }) => numbersOf(rows).map((each) => `${deploymentOf(order)}/${each}`)));
}

/** Why an order cannot have its addresses beside others; undefined where it can. */
export function addressShortage(
  wanting: Wanting,
  others: readonly Wanting[],
  { pool, perOwner }: AddressBounds,
): string | undefined {
  if (numbersOf(wanting.rows).length === 0) return undefined;
  const taken = addressesOf(others);
  const wanted = [...addressesOf([wanting])].filter((each) => !taken.has(each)).length;
  const left = Math.max(pool - taken.size, 0);
  if (wanted > left) return `${wanted} leased ips wanted, ${left} of ${pool} left`;
  const owner = `${wanting.order.split("/")[0]}/`;
  const own = [...taken].filter((each) => each.startsWith(owner)).length;
  if (wanted === 0 || own + wanted <= perOwner) return undefined;
  return `${wanted} leased ips wanted, its tenant has ${own} of the ${perOwner} that one tenant may have`;
}

/** Whether an order with these rows could have its addresses if no other had any. */
export function couldHaveAddresses(rows: readonly RowNeed[], { pool, perOwner }: AddressBounds): boolean {
  return numbersOf(rows).length <= Math.min(pool, perOwner);
}

function numbersOf(rows: readonly RowNeed[]): number[] {
  return [...new Set(rows.flatMap((row) => row.leasedIps))];
}

/** Owner and number, which every order's text begins with. */
function deploymentOf(order: string): string {
  return order.split("/").slice(0, 2).join("/");
}
