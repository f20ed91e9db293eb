import { sdkErrors } from "../../util/index.ts";
import type { ChainClient } from "../chain/chain.ts";
import type { TxSearchOptions } from "../chain/node.ts";
import { queriedResponse, type TxResponse } from "./tx-response.ts";

/** A committed transaction with its time. Rejects with `sdk/38` if the node does not have it. */
export async function queryTx(chain: ChainClient, hash: string): Promise<TxResponse> {
  const clean = hash.replace(/^0x/, "").toUpperCase();
  if (!/^[0-9A-F]{64}$/.test(clean)) {
    throw sdkErrors.invalidRequest(`${JSON.stringify(hash.slice(0, 80))} is not a transaction hash of 64 hex digits`);
  }
  const tx = await chain.node.tx(clean);
  if (tx === undefined) {
    throw sdkErrors.notFound(`tx (${clean})`, {
      hint: `if it was sent just now, wait for its block: svc query wait-tx ${clean}`,
    });
  }
  const times = await chain.node.blockTimes([tx.height]);
  return queriedResponse(tx, times.get(tx.height) ?? "", chain.namespace);
}

/** One page of found transactions; `total` counts all pages. */
export interface TxPage {
  readonly txs: readonly TxResponse[];
  readonly total: bigint;
}

/** Committed transactions that match a query of events, for example `message.action='send'`. */
export async function searchTxs(chain: ChainClient, query: string, options: TxSearchOptions = {}): Promise<TxPage> {
  const { txs, total } = await chain.node.txSearch(query, options);
  const times = await chain.node.blockTimes(txs.map((tx) => tx.height));
  return { txs: txs.map((tx) => queriedResponse(tx, times.get(tx.height) ?? "", chain.namespace)), total };
}

/** Joins conditions such as `message.action=send` to a query: text values are quoted, numbers are not. */
export function eventsQuery(conditions: readonly string[]): string {
  return conditions.map(eventCondition).join(" AND ");
}

function eventCondition(condition: string): string {
  const match = /^([A-Za-z_][\w.-]*\.[\w.-]+)=(.+)$/.exec(condition.trim());
  const [, key, value = ""] = match ?? [];
  if (key === undefined || value.includes("'")) {
    throw sdkErrors.invalidRequest(
      `invalid event ${JSON.stringify(condition.slice(0, 120))}: write <type>.<attribute>=<value>`,
    );
  }
  return key === "tx.height" ? `${key}=${value}` : `${key}='${value}'`;
}
