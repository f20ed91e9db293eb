import {
  checkBlock,
  checkBlockSearch,
  checkValidators,
  type RpcCall,
  type RpcClient,
  readHeaders,
} from "../../../client/index.ts";
import { fromHex, toBase64, tryParseInt } from "../../../util/index.ts";
import { encodeAddress, isArray, isObject, type JsonValue } from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { printAnswer, printResult } from "../../terminal/output.ts";
import { hashArgument } from "../../values/hash.ts";

const MAX_HEIGHT = (1n << 63n) - 1n;
/** Nodes return at most this many headers at once. */
const PER_CALL = 20n;
const MAX_BLOCKS = 1000n;
const MAX_FOUND = 100n;

/**
 * `query blocks [FROM] [TO]`: the headers of a range, by default of the last twenty blocks; with `--query` blocks
 * whole.
 */
export async function queryBlocks(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const [from, to] = args.map((text, at) => readHeight(text, at === 0 ? "from" : "to"));
  const query = flags.optional("query");
  checkRange(from, to, query);
  const search = query === undefined ? undefined : searchOf(flags, query);
  const context = createContext(input);
  const { rpc } = await context.unproven("blocks");
  const found =
    search === undefined ? await blockRange(rpc, from, to) : checkBlockSearch(await rpc.call("block_search", search));
  printResult(found as JsonValue, context.output, io);
}

/** The height of an argument: a whole number of at least 1. */
export function readHeight(text: string, name: string): bigint {
  const height = tryParseInt(text);
  if (height !== undefined && height > 0n && height <= MAX_HEIGHT) return height;
  if (/^\d{19,}$/.test(text)) throw usageError(`<${name}>: ${text.slice(0, 20)}... is more than any height`);
  throw usageError(`<${name}>: "${text.slice(0, 64)}" is not a height: write a whole number of at least 1`);
}

function checkRange(from: bigint | undefined, to: bigint | undefined, query: string | undefined): void {
  if (from !== undefined && query !== undefined) throw usageError("--query cannot be used together with <from>");
  if (from === undefined || to === undefined) return;
  if (to < from) throw usageError(`<to>: ${to} is before ${from}`, "give the smaller height first");
}

function searchOf(flags: Flags, query: string): Record<string, string> {
  const [page, limit] = [flags.uint64("page", 1n), flags.uint("limit", PER_CALL)];
  if (page === 0n) throw usageError("--page: pages are counted from 1");
  if (limit === 0n || limit > MAX_FOUND) throw usageError(`--limit: a page has 1 to ${MAX_FOUND} blocks, not ${limit}`);
  return { query, page: page.toString(), per_page: limit.toString(), order_by: flags.text("order-by") };
}

/** Headers in the order of their heights. */
async function blockRange(rpc: RpcClient, from: bigint | undefined, to: bigint | undefined): Promise<JsonValue> {
  const newest = await headers(rpc, 0n, 0n);
  const { last } = newest;
  const metas = from === undefined ? newest.metas : await headersFrom(rpc, from, rangeEnd(from, to, last));
  return { last_height: last.toString(), block_metas: metas };
}

function rangeEnd(from: bigint, to: bigint | undefined, last: bigint): bigint {
  const end = to === undefined || to > last ? last : to;
  if (from > last) throw commandError(`<from>: there is no block ${from} yet`, { hint: `the last one is ${last}` });
  if (end - from < MAX_BLOCKS) return end;
  throw commandError(`<to>: a range has at most ${MAX_BLOCKS} blocks`, {
    hint: `give <to> up to ${from + MAX_BLOCKS - 1n}`,
  });
}

/** A node returns this many headers at once; the others take further calls. */
async function headersFrom(rpc: RpcClient, from: bigint, end: bigint): Promise<readonly JsonValue[]> {
  const windows: (readonly JsonValue[])[] = [];
  for (let start = from; start <= end; start += PER_CALL) {
    const stop = start + PER_CALL - 1n;
    windows.push((await headers(rpc, start, stop < end ? stop : end)).metas);
  }
  return windows.flat();
}

/** Zeros mean the newest; the node begins with the last block of the range. */
async function headers(rpc: RpcClient, minHeight: bigint, maxHeight: bigint) {
  const range = { minHeight: minHeight.toString(), maxHeight: maxHeight.toString() };
  const { last_height: last, block_metas } = readHeaders(await rpc.call("blockchain", range));
  return { last, metas: ([...block_metas] as JsonValue[]).reverse() };
}

/** `query block [HEIGHT]`, or with `--type hash` its hash: the block as the node returns it. */
export async function queryBlock(input: CommandInput): Promise<void> {
  const { method, params } = callOf(input);
  const context = createContext(input);
  const { rpc } = await context.unproven("blocks");
  printAnswer(checkBlock(await rpc.call(method, params)), context.output, input.io);
}

function callOf({ args: [text], flags }: CommandInput): RpcCall {
  if (flags.text("type") === "hash") {
    if (text === undefined) throw usageError("missing required argument 'height': the hash of the block");
    return { method: "block_by_hash", params: { hash: toBase64(fromHex(hashArgument(text, "height", "a block"))) } };
  }
  return { method: "block", params: text === undefined ? {} : { height: readHeight(text, "height").toString() } };
}

/**
 * `query block-results [HEIGHT]`: the results of a block's transactions, and its own events, as the node returns them.
 */
export async function queryBlockResults(input: CommandInput): Promise<void> {
  const [text] = input.args;
  const params = text === undefined ? {} : { height: readHeight(text, "height").toString() };
  const context = createContext(input);
  const { rpc } = await context.unproven("blocks");
  printResult((await rpc.call("block_results", params)) as JsonValue, context.output, input.io);
}

/** Nodes return at most this many validators at once. */
const MAX_VALIDATORS = 100n;

/** `query comet-validator-set [HEIGHT]`: who signs blocks, with the addresses in the form that the chain shows. */
export async function queryValidatorSet(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const [text] = args;
  const height = text === undefined ? {} : { height: readHeight(text, "height").toString() };
  const [page, limit] = [flags.uint64("page", 1n), flags.uint("limit", MAX_VALIDATORS)];
  if (page === 0n) throw usageError("--page: pages are counted from 1");
  if (limit === 0n || limit > MAX_VALIDATORS) {
    throw usageError(`--limit: a page has 1 to ${MAX_VALIDATORS} validators, not ${limit}`);
  }
  const context = createContext(input);
  const { rpc } = await context.unproven("sets of validators");
  const request = { ...height, page: page.toString(), per_page: limit.toString() };
  const answer = checkValidators(await rpc.call("validators", request)) as JsonValue;
  const { block_height = "0", validators = [] } = isObject(answer) ? answer : {};
  const shown = (isArray(validators) ? validators : []).map((each) => bech32Address(each, flags.profile.bech32Prefix));
  printResult({ block_height, validators: shown }, context.output, io);
}

function bech32Address(validator: JsonValue, prefix: string): JsonValue {
  if (!isObject(validator) || typeof validator.address !== "string") return validator;
  return { ...validator, address: encodeAddress(fromHex(validator.address), "valcons", prefix) };
}
