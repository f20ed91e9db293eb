import { eventsQuery, queryTx, searchTxs, TxResponseSchema } from "../../client/index.ts";
import { toJson } from "../../wire/index.ts";
import { createContext } from "../context.ts";
import { usageError } from "../errors.ts";
import { inFlag } from "../in-flag.ts";
import { printResult } from "../output.ts";
import type { CommandInput } from "../spec.ts";

/** Nodes give at most this many transactions at once. */
const MAX_TXS = 100n;

/** `query tx HASH`. */
export async function queryTxCommand(input: CommandInput): Promise<void> {
  const [hash = ""] = input.args;
  if (!/^(?:0x)?[0-9a-f]{64}$/i.test(hash)) {
    const text = `<hash>: ${JSON.stringify(hash.slice(0, 80))} is no transaction hash of 64 hex digits`;
    throw usageError(text, "copy txhash of a result");
  }
  const context = createContext(input);
  const response = await queryTx(await context.chain(), hash);
  printResult(toJson(TxResponseSchema, response), context.output, input.io);
}

/** `query txs --events ...`: a page of transactions with the numbers of the page. */
export async function queryTxsCommand(input: CommandInput): Promise<void> {
  const { flags } = input;
  const query = readQuery(input);
  const [page, limit] = [flags.uint("page", 1n), flags.uint("limit") || MAX_TXS];
  if (page === 0n) throw usageError("--page: pages are counted from 1");
  if (limit > MAX_TXS) throw usageError(`--limit: a page has at most ${MAX_TXS} transactions, not ${limit}`);
  const context = createContext(input);
  const order = flags.text("order-by") === "desc" ? "desc" : "asc";
  const options = { page: Number(page), perPage: Number(limit), order } as const;
  const { txs, total } = await searchTxs(await context.chain(), query, options);
  const result = {
    total_count: total.toString(),
    count: txs.length.toString(),
    page_number: page.toString(),
    page_total: ((total + limit - 1n) / limit || 1n).toString(),
    limit: limit.toString(),
    txs: txs.map((tx) => toJson(TxResponseSchema, tx)),
  };
  printResult(result, context.output, input.io);
}

function readQuery({ flags }: CommandInput): string {
  const [events, query] = [flags.optional("events"), flags.optional("query")];
  if (events !== undefined && query !== undefined) throw usageError("--events and --query cannot be used together");
  if (query !== undefined) return query;
  if (events === undefined) throw usageError("required flag --events is not set (or --query)");
  return inFlag(flags, "events", () => eventsQuery(events.split("&")));
}
