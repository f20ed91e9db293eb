import {
  type ChainClient,
  committedResponse,
  eventsQuery,
  queryTx,
  searchTxs,
  type TxResponse,
  TxResponseSchema,
  waitForTx,
} from "../../../client/index.ts";
import { sdkErrors } from "../../../util/index.ts";
import { isAddress, toJson } from "../../../wire/index.ts";
import { inFlag } from "../../command/in-flag.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { usageError } from "../../errors.ts";
import { printResult } from "../../terminal/output.ts";
import { durationFlag } from "../../values/duration.ts";
import { hashArgument } from "../../values/hash.ts";

/** Nodes return at most this many transactions at once. */
const MAX_TXS = 100n;

/** `query tx HASH`, or another unique mark of a transaction: its sender's sequence, or a signature. */
export async function queryTxCommand(input: CommandInput): Promise<void> {
  const [text = ""] = input.args;
  const type = input.flags.text("type");
  if (type === "hash" && !/^(?:0x)?[0-9a-f]{64}$/i.test(text)) {
    const shown = `<hash>: ${JSON.stringify(text.slice(0, 80))} is not a transaction hash of 64 hex digits`;
    throw usageError(shown, "copy txhash from a result");
  }
  const query = type === "hash" ? undefined : singleQuery(type, text, input.flags.profile.bech32Prefix);
  const context = createContext(input);
  const chain = await context.unproven("transactions");
  const response = query === undefined ? await queryTx(chain, text) : await searchOne(chain, query, `${type} ${text}`);
  printResult(toJson(TxResponseSchema, response), context.output, input.io);
}

/** The query of events that finds one transaction. */
function singleQuery(type: string, text: string, prefix: string): string {
  if (type === "signature") {
    if (/^[A-Za-z0-9+/]{20,}={0,2}$/.test(text)) return eventsQuery([`tx.signature=${text}`]);
    throw usageError(`<hash>: ${JSON.stringify(text.slice(0, 80))} is not a signature in base64`);
  }
  const [address = "", sequence = "", ...rest] = text.split("/");
  if (!/^\d{1,20}$/.test(sequence) || rest.length > 0 || !isAddress(address, "account", prefix)) {
    throw usageError(`<hash>: ${JSON.stringify(text.slice(0, 80))} is not of the form <address>/<sequence>`);
  }
  return eventsQuery([`tx.acc_seq=${text}`]);
}

async function searchOne(chain: ChainClient, query: string, what: string): Promise<TxResponse> {
  const { txs } = await searchTxs(chain, query, { perPage: 1 });
  const [found] = txs;
  if (found === undefined) throw sdkErrors.notFound(`tx with ${what}`);
  return found;
}

/** `query txs --events ...`: a page of transactions with the numbers of the page. */
export async function queryTxsCommand(input: CommandInput): Promise<void> {
  const { flags } = input;
  const query = readQuery(input);
  const [page, limit] = [BigInt(flags.count("page", 1)), flags.uint("limit") || MAX_TXS];
  if (page === 0n) throw usageError("--page: pages are counted from 1");
  if (limit > MAX_TXS) throw usageError(`--limit: a page has at most ${MAX_TXS} transactions, not ${limit}`);
  const context = createContext(input);
  const order = flags.text("order-by") === "desc" ? "desc" : "asc";
  const options = { page: Number(page), perPage: Number(limit), order } as const;
  const { txs, total } = await searchTxs(await context.unproven("transactions"), query, options);
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

/** `query wait-tx HASH`: the result of a transaction, as soon as it is in a block. */
export async function queryWaitTx(input: CommandInput): Promise<void> {
  const hash = hashArgument(input.args[0] ?? "", "hash", "a transaction");
  const timeoutMs = durationFlag(input.flags, "timeout");
  const context = createContext(input);
  const committed = await waitForTx(await context.unproven("transactions"), hash, { timeoutMs });
  printResult(toJson(TxResponseSchema, committedResponse(committed)), context.output, input.io);
}
