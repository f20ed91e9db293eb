import { type Context, readState } from "../../runtime/index.ts";
import type { Page, PageRequest } from "../../store/index.ts";
import { sdkErrors } from "../../util/index.ts";
import type { Order } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { storeOf } from "./book.ts";
import type { BidPath, BidTable, OrderPath, OrderTable } from "./records.ts";

/** Rows that a query may skip before it must name something that is indexed. */
const MAX_ROWS_LEFT_OUT = 10_000;

/** The filter messages of orders, bids and leases. */
interface Filters {
  readonly owner: string;
  readonly dseq: bigint;
  readonly gseq: number;
  readonly oseq: number;
  readonly provider?: string;
  readonly state: string;
}

/** Filters with their texts read; absent means all. */
interface Wanted {
  readonly owner: Uint8Array | undefined;
  readonly dseq: bigint;
  readonly gseq: number;
  readonly oseq: number;
  readonly provider: Uint8Array | undefined;
  readonly state: number | undefined;
}

/** Reads filters; `states` is the enumeration that names the states. Throws `sdk/7` or `sdk/18`. */
export function readFilters(filters: Filters | undefined, states: Readonly<Record<string, number | string>>): Wanted {
  const { owner = "", dseq = 0n, gseq = 0, oseq = 0, provider = "", state = "" } = filters ?? {};
  return {
    owner: owner === "" ? undefined : decodeAddress(owner),
    provider: provider === "" ? undefined : decodeAddress(provider),
    dseq,
    gseq,
    oseq,
    state: readState(state, states),
  };
}

/** One page of orders through the narrowest index. */
export function searchOrders(
  orders: OrderTable,
  ctx: Context,
  { wanted, page }: { readonly wanted: Wanted; readonly page: PageRequest | undefined },
): Page<[OrderPath, Order]> {
  const store = storeOf(ctx);
  const { owner, dseq, state } = wanted;
  const filter = rowFilter<Order, OrderPath>(wanted);
  if (owner !== undefined && state !== undefined)
    return orders.by.owner.paginate(store, page, { prefix: [owner, state, ...sequences(wanted)], filter });
  if (owner !== undefined) return orders.paginate(store, page, { prefix: [owner, ...sequences(wanted)], filter });
  if (dseq !== 0n) return orders.by.dseq.paginate(store, page, { prefix: [dseq], filter });
  if (state !== undefined) return orders.by.state.paginate(store, page, { prefix: [state], filter });
  return orders.paginate(store, page, { filter });
}

/** One page of bids or leases through the narrowest index. */
export function searchBids<V extends { readonly state: number }>(
  table: BidTable<V>,
  ctx: Context,
  { wanted, page }: { readonly wanted: Wanted; readonly page: PageRequest | undefined },
): Page<[BidPath, V]> {
  const store = storeOf(ctx);
  const { owner, provider, dseq, state } = wanted;
  const filter = rowFilter<V, BidPath>(wanted);
  if (owner !== undefined && state !== undefined)
    return table.by.owner.paginate(store, page, { prefix: [owner, state, ...sequences(wanted)], filter });
  if (owner !== undefined) return table.paginate(store, page, { prefix: [owner, ...sequences(wanted)], filter });
  if (provider !== undefined && state !== undefined)
    return table.by.provider.paginate(store, page, { prefix: [provider, state], filter });
  if (provider !== undefined) return table.by.provider.paginate(store, page, { prefix: [provider], filter });
  if (dseq !== 0n) return table.by.dseq.paginate(store, page, { prefix: [dseq], filter });
  if (state !== undefined) return table.by.state.paginate(store, page, { prefix: [state], filter });
  return table.paginate(store, page, { filter });
}

type Sequences = readonly [] | readonly [bigint] | readonly [bigint, number] | readonly [bigint, number, number];

/** The given leading sequence numbers, which can be part of a key's prefix. */
function sequences({ dseq, gseq, oseq }: Wanted): Sequences {
  if (dseq === 0n) return [];
  if (gseq === 0) return [dseq];
  return oseq === 0 ? [dseq, gseq] : [dseq, gseq, oseq];
}

/** Whether a row matches. A walk past too many that do not ends with advice: queries are bounded. */
function rowFilter<V extends { readonly state: number }, K extends OrderPath | BidPath>(
  wanted: Wanted,
): (value: V, key: K) => boolean {
  let leftOut = 0;
  return ({ state }, [owner, dseq, gseq, oseq, provider]) => {
    const matches =
      (wanted.state === undefined || state === wanted.state) &&
      (wanted.dseq === 0n || dseq === wanted.dseq) &&
      (wanted.gseq === 0 || gseq === wanted.gseq) &&
      (wanted.oseq === 0 || oseq === wanted.oseq) &&
      (wanted.owner === undefined || Buffer.compare(owner, wanted.owner) === 0) &&
      (wanted.provider === undefined || (provider !== undefined && Buffer.compare(provider, wanted.provider) === 0));
    if (!matches) leftOut += 1;
    if (leftOut > MAX_ROWS_LEFT_OUT)
      throw sdkErrors.invalidRequest(`more than ${MAX_ROWS_LEFT_OUT} rows do not match`, {
        hint: "filter by owner and dseq, by provider or by state as well",
      });
    return matches;
  };
}
