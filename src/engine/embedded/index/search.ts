import { fromHex, SvcError, toHexUpper } from "../../../util/index.ts";
import type { BlockReader } from "../blocks/block-store.ts";
import { type Heights, type TermKind, termText } from "./postings.ts";
import { type Attributes, type Condition, holds, matches, type Query } from "./query.ts";
import { type FoundTx, forEachIndexed, type TxReader } from "./tx-index.ts";

/** Searches stop with an error rather than read more entries than this. */
const MAX_ENTRIES = 200_000;
/** Most blocks or transactions whose events are read to decide a search. */
const MAX_READ = 10_000;

/** Bytes of a page of transactions or blocks; the first row is returned whatever its size. */
const MAX_PAGE_BYTES = 10 * 1024 * 1024;
/** Bytes of an attribute besides its key and value. */
const ATTRIBUTE_BYTES = 40;

/** A transaction's place, as one number: height x 2^17 + index. Blocks hold fewer transactions than 2^17. */
const PLACES = 2 ** 17;

const HASH_KEY = "tx.hash";

export interface SearchPage {
  readonly query: Query;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly descending: boolean;
}

export interface SearchResult<T> {
  readonly total: number;
  readonly found: readonly T[];
}

/** Where to search. */
export interface Searchable {
  readonly blocks: BlockReader;
  readonly index: TxReader;
}

/** Transactions whose events satisfy a query, one page of them. */
export function searchTxs(at: Searchable, page: SearchPage): SearchResult<FoundTx> {
  const places = txPlaces(at, page.query);
  const room = roomFor();
  const load = (place: number): FoundTx[] => {
    const found = at.index.txAt(BigInt(Math.floor(place / PLACES)), place % PLACES);
    if (found === undefined) return [];
    room(txBytes(found));
    return [found];
  };
  return takePage(places, page, load);
}

/** Heights of blocks whose own events satisfy a query, one page of them. */
export function searchBlocks(at: Searchable, page: SearchPage): SearchResult<bigint> {
  const room = roomFor();
  return takePage(blockHeights(at, page.query), page, (height) => {
    room(at.blocks.record(BigInt(height))?.size ?? 0);
    return [BigInt(height)];
  });
}

/** Counts the rows of a page. The first may be of any size: it could not be returned otherwise. */
function roomFor(): (bytes: number) => void {
  let taken = 0;
  return (bytes) => {
    if (taken > 0 && taken + bytes > MAX_PAGE_BYTES)
      throw refuse(`the page has more than ${MAX_PAGE_BYTES} bytes; ask for fewer rows with per_page`);
    taken += bytes;
  };
}

/** The approximate bytes of a transaction with its result. */
function txBytes({ tx, result }: FoundTx): number {
  let events = 0;
  for (const { type, attributes } of result.events) {
    events += type.length;
    for (const { key, value } of attributes) events += key.length + value.length + ATTRIBUTE_BYTES;
  }
  // A log that is made from the events holds the same texts.
  return tx.length + result.data.length + events + (result.log?.length ?? events);
}

function txPlaces(at: Searchable, query: Query): number[] {
  const hash = query.find(({ key, operator }) => key === HASH_KEY && operator === "=");
  if (hash !== undefined) return placeOfHash(at, query, hash);
  const plan = planSearch(at, query, "tx");
  const found =
    plan.terms.length === 0
      ? allPlaces(at, plan.heights)
      : intersect(plan.terms.map((term) => txsOf(at, term, plan.heights)));
  const places = found.filter((place) => isAt(plan, Math.floor(place / PLACES)));
  if (plan.verify.length === 0) return places;
  return readable(places).filter((place) => {
    const found = at.index.txAt(BigInt(Math.floor(place / PLACES)), place % PLACES);
    return found !== undefined && matches(plan.verify, txAttributes(found));
  });
}

function placeOfHash(at: Searchable, query: Query, hash: Condition): number[] {
  const text = hash.operand.kind === "none" ? "" : hash.operand.text;
  const found = /^[0-9a-fA-F]{64}$/.test(text) ? at.index.tx(fromHex(text)) : undefined;
  if (found === undefined) return [];
  const others = query.filter((condition) => condition !== hash);
  return matches(others, txAttributes(found)) ? [Number(found.height) * PLACES + found.index] : [];
}

function blockHeights(at: Searchable, query: Query): number[] {
  const plan = planSearch(at, query, "block");
  const found =
    plan.terms.length === 0
      ? allHeights(plan.heights)
      : intersect(
          plan.terms.map((term) =>
            limited(at.index.postings.find(term, plan.heights), ({ height }) => [Number(height)]),
          ),
        );
  const heights = found.filter((height) => isAt(plan, height));
  if (plan.verify.length === 0) return heights;
  return readable(heights).filter((height) => {
    const record = at.blocks.record(BigInt(height));
    return record !== undefined && matches(plan.verify, attributesOf(record.events));
  });
}

interface Plan {
  readonly heights: Heights;
  /** Terms that must all occur. */
  readonly terms: readonly string[];
  /** Conditions on the digits of a height. */
  readonly digits: readonly Condition[];
  /** Conditions that only the events themselves can decide. */
  readonly verify: readonly Condition[];
}

function isAt({ digits }: Plan, height: number): boolean {
  return digits.every((condition) => holds(condition, height.toString()));
}

/** Equalities are looked up; other comparisons look up the attribute and leave the rest to the events. */
function planSearch(at: Searchable, query: Query, kind: TermKind): Plan {
  const heightKey = `${kind}.height`;
  let heights: Heights = { from: at.blocks.base, to: at.blocks.height };
  const terms: string[] = [];
  const digits: Condition[] = [];
  const verify: Condition[] = [];
  for (const condition of query) {
    const { key, operator, operand } = condition;
    if (key === heightKey) {
      if (operator === "CONTAINS") digits.push(condition);
      else heights = narrow(heights, condition);
    } else if (key === HASH_KEY && kind === "tx") {
      // No term: each transaction has its own.
      verify.push(condition);
    } else if (operator === "=" && (operand.kind === "text" || operand.kind === "number")) {
      terms.push(termText(kind, key, operand.text));
    } else {
      terms.push(termText(kind, key));
      if (operator !== "EXISTS") verify.push(condition);
    }
  }
  return { heights, terms, digits, verify };
}

/** The heights that satisfy a condition too. Every block has one, and none is a time. */
function narrow(heights: Heights, condition: Condition): Heights {
  const { from, to } = heights;
  const { operator } = condition;
  if (operator === "EXISTS") return heights;
  const bound = boundOf(condition);
  if (bound === undefined) return { from: 1n, to: 0n };
  const [least, most] = [BigInt(Math.ceil(bound)), BigInt(Math.floor(bound))];
  const low = operator === "=" || operator === ">=" ? least : operator === ">" ? most + 1n : from;
  const high = operator === "=" || operator === "<=" ? most : operator === "<" ? least - 1n : to;
  return { from: low > from ? low : from, to: high < to ? high : to };
}

/** The number that a height is compared with, quoted or not; undefined if it is no number. */
function boundOf({ operand }: Condition): number | undefined {
  if (operand.kind === "text") return /^[1-9]\d{0,14}$/.test(operand.text) ? Number(operand.text) : undefined;
  if (operand.kind !== "number") return undefined;
  return Math.min(Math.max(operand.value, -1), Number.MAX_SAFE_INTEGER);
}

function txsOf(at: Searchable, term: string, heights: Heights): number[] {
  return limited(at.index.postings.find(term, heights), ({ height, indexes }) => {
    const base = Number(height) * PLACES;
    return indexes.map((index) => base + index);
  });
}

function allPlaces(at: Searchable, heights: Heights): number[] {
  if (heights.to - heights.from >= BigInt(MAX_READ)) throw tooMany(MAX_READ);
  return limited(heightsIn(heights), (height) => {
    const count = at.blocks.record(height)?.txCount ?? 0;
    return Array.from({ length: count }, (_, index) => Number(height) * PLACES + index);
  });
}

function allHeights(heights: Heights): number[] {
  return limited(heightsIn(heights), (height) => [Number(height)]);
}

function* heightsIn({ from, to }: Heights): Generator<bigint> {
  for (let height = from; height <= to; height++) yield height;
}

/** Collects places in ascending order, up to the cap on entries read. */
function limited<T>(entries: Iterable<T>, places: (entry: T) => readonly number[]): number[] {
  const found: number[] = [];
  let read = 0;
  for (const entry of entries) {
    for (const place of places(entry)) found.push(place);
    read += 1;
    if (read > MAX_ENTRIES || found.length > MAX_ENTRIES) throw tooMany(MAX_ENTRIES);
  }
  return found;
}

function readable(places: readonly number[]): readonly number[] {
  if (places.length > MAX_READ) throw tooMany(MAX_READ);
  return places;
}

function tooMany(limit: number): Error {
  return refuse(`the query would scan more than ${limit} entries; narrow it, for example with tx.height > N`);
}

function refuse(text: string): SvcError {
  return new SvcError("sdk", 18, text);
}

/** Numbers that are in all lists, each ascending. */
function intersect(lists: readonly (readonly number[])[]): number[] {
  const [shortest = [], ...others] = [...lists].sort((a, b) => a.length - b.length);
  const sets = others.map((list) => new Set(list));
  return shortest.filter((place) => sets.every((set) => set.has(place)));
}

function takePage<T>(places: number[], page: SearchPage, load: (place: number) => readonly T[]): SearchResult<T> {
  const pages = Math.max(1, Math.ceil(places.length / page.perPage));
  if (page.page > pages) throw refuse(`page should be within [1, ${pages}] range, given ${page.page}`);
  if (page.descending) places.reverse();
  const start = (page.page - 1) * page.perPage;
  return { total: places.length, found: places.slice(start, start + page.perPage).flatMap(load) };
}

/** Values by attribute, for queries. */
export function attributesOf(events: Parameters<typeof forEachIndexed>[0], more: [string, string][] = []): Attributes {
  const values = new Map<string, string[]>();
  const put = (key: string, value: string): void => {
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  };
  for (const [key, value] of more) put(key, value);
  forEachIndexed(events, put);
  return values;
}

/** The searchable attributes of a transaction: its events, hash and height. */
export function txAttributes({ hash, height, result }: Pick<FoundTx, "hash" | "height" | "result">): Attributes {
  return attributesOf(result.events, [
    ["tm.event", "Tx"],
    ["tx.hash", toHexUpper(hash)],
    ["tx.height", height.toString()],
  ]);
}
