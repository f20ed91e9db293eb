import { toBase64 } from "../../src/util/index.ts";

/** Calls of the engine's JSON-RPC, and the fields and kinds of their answers. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A node and the contents of its chain. */
export interface Asked {
  readonly url: string;
  /** Hash of a transaction and of its block, in hex, and the height of the block. */
  readonly tx: string;
  readonly block: string;
  readonly height: string;
}

export interface Told {
  readonly status: number;
  readonly body: { readonly id?: Json; readonly result?: Json; readonly error?: Record<string, Json> };
}

const base64 = (hex: string) => toBase64(Uint8Array.from(Buffer.from(hex, "hex")));

function filled(text: string, { tx, block, height }: Asked): string {
  const words = { TX64: base64(tx), TX: tx, BLOCK64: base64(block), BLOCK: block, H: height };
  return Object.entries(words).reduce((all, [name, value]) => all.replaceAll(`<${name}>`, value), text);
}

export async function told(response: Response): Promise<Told> {
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: { error: { text } } };
  }
}

export async function get(node: Asked, path: string): Promise<Told> {
  const encoded = filled(path, node)
    .replaceAll('"', "%22")
    .replaceAll(" ", "%20")
    .replaceAll(">", "%3E")
    .replaceAll("<", "%3C");
  return told(await fetch(`${node.url}/${encoded}`));
}

export async function post(node: Asked, method: string, params: unknown): Promise<Told> {
  const body = filled(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), node);
  return told(await fetch(node.url, { method: "POST", body, headers: { "Content-Type": "application/json" } }));
}

/** Fields of values with their kinds; for lists, the fields of all items. */
export function kinds(json: Json | undefined, path = ""): string[] {
  if (json === null || json === undefined) return [];
  if (Array.isArray(json)) return [...new Set(json.flatMap((each: Json) => kinds(each, `${path}[]`)))];
  if (typeof json === "object")
    return Object.entries(json).flatMap(([key, value]) => kinds(value as Json, `${path}.${key}`));
  return [`${path}: ${typeof json === "string" ? textKind(json) : typeof json}`];
}

/** Text of a form that clients decode. */
function textKind(text: string): string {
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return "time";
  if (/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(text)) return "HASH";
  if (/^-?\d+$/.test(text)) return "number in text";
  return "text";
}

export type Call = readonly [method: string, query: string, params: object];

export const CALLS: readonly Call[] = [
  ["health", "", {}],
  ["status", "", {}],
  ["net_info", "", {}],
  ["blockchain", "minHeight=1&maxHeight=2", { minHeight: "1", maxHeight: "2" }],
  ["blockchain", "minHeight=<H>&maxHeight=<H>", { minHeight: "<H>", maxHeight: "<H>" }],
  ["genesis_chunked", "chunk=0", { chunk: "0" }],
  ["block", "height=<H>", { height: "<H>" }],
  ["block_by_hash", "hash=0x<BLOCK>", { hash: "<BLOCK64>" }],
  ["block_by_hash", `hash=0x${"00".repeat(32)}`, { hash: base64("00".repeat(32)) }],
  ["block_results", "height=<H>", { height: "<H>" }],
  ["commit", "height=<H>", { height: "<H>" }],
  ["header", "height=<H>", { height: "<H>" }],
  ["header_by_hash", "hash=0x<BLOCK>", { hash: "<BLOCK>" }],
  ["check_tx", "tx=0x00", { tx: "AA==" }],
  ["tx", "hash=0x<TX>&prove=true", { hash: "<TX64>", prove: true }],
  ["tx", "hash=0x<TX>", { hash: "<TX64>" }],
  ["tx_search", 'query="tx.height>0"&prove=true', { query: "tx.height>0", prove: true }],
  ["tx_search", 'query="a.b=1"', { query: "a.b=1" }],
  ["block_search", 'query="block.height=<H>"', { query: "block.height=<H>" }],
  ["validators", "height=<H>", { height: "<H>" }],
  ["dump_consensus_state", "", {}],
  ["consensus_state", "", {}],
  ["consensus_params", "height=<H>", { height: "<H>" }],
  ["unconfirmed_txs", "limit=1", { limit: "1" }],
  ["num_unconfirmed_txs", "", {}],
  ["abci_info", "", {}],
  ["abci_query", 'path="/store/bank/key"&data=0x00', { path: "/store/bank/key", data: "00" }],
  ["abci_query", 'path="/cosmos.bank.v1beta1.Query/Params"', { path: "/cosmos.bank.v1beta1.Query/Params", data: "" }],
  ["abci_query", 'path="/nothing/at/all"', { path: "/nothing/at/all", data: "" }],
  ["abci_query", 'path="/app/version"', { path: "/app/version", data: "" }],
  ["broadcast_tx_sync", "tx=0x00", { tx: "AA==" }],
  ["broadcast_tx_commit", "tx=0x00", { tx: "AA==" }],
  ["broadcast_tx_async", "tx=0x01", { tx: "Ag==" }],
];

export const REFUSED: readonly Call[] = [
  ["nothing", "", {}],
  ["block", "height=0", { height: "0" }],
  ["block", "height=-1", { height: "-1" }],
  ["block", "height=999999", { height: "999999" }],
  ["block", "height=x", { height: "x" }],
  ["block_results", "height=999999", { height: "999999" }],
  ["commit", "height=999999", { height: "999999" }],
  ["header", "height=999999", { height: "999999" }],
  ["validators", "height=999999", { height: "999999" }],
  ["validators", "page=2", { page: "2" }],
  ["validators", "page=0", { page: "0" }],
  ["consensus_params", "height=999999", { height: "999999" }],
  ["blockchain", "minHeight=2&maxHeight=1", { minHeight: "2", maxHeight: "1" }],
  ["blockchain", "minHeight=-1&maxHeight=1", { minHeight: "-1", maxHeight: "1" }],
  ["genesis_chunked", "chunk=99", { chunk: "99" }],
  ["tx", `hash=0x${"00".repeat(32)}`, { hash: base64("00".repeat(32)) }],
  ["tx_search", 'query="tx.height>"', { query: "tx.height>" }],
  ["tx_search", 'query="tx.height>0"&order_by="up"', { query: "tx.height>0", order_by: "up" }],
  ["tx_search", 'query="tx.height>0"&page=99', { query: "tx.height>0", page: "99" }],
  ["tx_search", 'query="tx.height>0"&page=0', { query: "tx.height>0", page: "0" }],
  ["block_search", 'query="block.height"', { query: "block.height" }],
  ["block_search", 'query="block.height>0"&order_by="up"', { query: "block.height>0", order_by: "up" }],
  ["broadcast_tx_sync", "tx=5", { tx: 5 }],
  ["abci_query", "path=5", { path: 5 }],
  ["block", "height=999999", ["2", "3"]],
];

/** The node, with the block of a transaction. */
export async function asked(address: string, tx: string): Promise<Asked> {
  const url = address.replace("tcp:", "http:");
  const { body } = await told(await fetch(`${url}/tx?hash=0x${tx}`));
  const height = String((body.result as Record<string, Json>).height);
  return { url, tx, block: await blockHash(url, height), height };
}

/** Hash of a block, in hex. */
export async function blockHash(url: string, height: string): Promise<string> {
  const { body } = await told(await fetch(`${url}/block?height=${height}`));
  const { block_id } = body.result as { readonly block_id: { readonly hash: string } };
  return block_id.hash;
}
