import { refuse } from "../calls/method.ts";

export type Order = "asc" | "desc";

/** The order of a search's results. */
export function orderOf(value: string | undefined, fallback: Order): Order {
  if (value === undefined) return fallback;
  if (value === "asc" || value === "desc") return value;
  throw refuse("expected order_by to be either `asc` or `desc` or empty");
}
