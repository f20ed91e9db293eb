import type { OrderPage } from "../client/index.ts";
import type { OrderKey } from "../wire/index.ts";

/** Pages of one call: a list of 100,000 orders takes some 20 MB. */
export const MOST_PAGES = 200;

/** A part of the open orders. */
export interface OpenOrders {
  readonly ids: readonly OrderKey[];
  /** Whether the list ended here; if not, the next call continues behind the last order. */
  readonly isWhole: boolean;
}

/**
 * Lists open orders page by page and keeps only their ids, so that very many orders do not fill the provider's memory.
 * A failed call is repeated from its beginning.
 */
export function openOrderList(pageOf: (key: Uint8Array) => Promise<OrderPage>): () => Promise<OpenOrders> {
  let next: Uint8Array = new Uint8Array();
  return async () => {
    const ids: OrderKey[] = [];
    let key = next;
    for (let page = 0; page < MOST_PAGES; page++) {
      const { orders, nextKey } = await pageOf(key);
      for (const { id } of orders) ids.push(id);
      key = nextKey;
      if (key.length === 0) break;
    }
    next = key;
    return { ids, isWhole: key.length === 0 };
  };
}
