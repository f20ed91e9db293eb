import { JsonList, type JsonObject, type JsonValue } from "../wire/index.ts";

/** How long a list is to be read in parts, and how long these are at least, in bytes. */
export interface ListSizes {
  readonly long: number;
  readonly part: number;
}

const SIZES: ListSizes = { long: 1024 * 1024, part: 256 * 1024 };

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c] as const;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

/** A list between its brackets, with the commas at which its parts end. */
interface ListExtent {
  readonly start: number;
  readonly end: number;
  readonly cuts: readonly number[];
}

/**
 * Reads JSON like `JSON.parse`, except that long lists of its outermost object are read in parts when they are walked;
 * invalid JSON in a list throws then.
 */
export function readWithLists(bytes: Buffer, sizes: ListSizes = SIZES): unknown {
  const lists = bytes.length < sizes.long ? undefined : longLists(bytes, sizes);
  if (lists === undefined || lists.size === 0) return JSON.parse(bytes.toString("utf8"));
  const found = [...lists.values()].filter((list) => list !== undefined);
  // An object: its lists were found in it.
  const json: Record<string, JsonValue> = JSON.parse(withoutLists(bytes, found));
  for (const [name, list] of lists) {
    if (list === undefined) continue;
    const value = new JsonList(() => itemsOf(bytes, list));
    Object.defineProperty(json, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return json satisfies JsonObject;
}

function withoutLists(bytes: Buffer, lists: readonly ListExtent[]): string {
  let text = "";
  let at = 0;
  for (const { start, end } of lists.toSorted((a, b) => a.start - b.start)) {
    text += bytes.toString("utf8", at, start);
    at = end;
  }
  return text + bytes.toString("utf8", at);
}

function* itemsOf(bytes: Buffer, { start, end, cuts }: ListExtent): Iterable<readonly JsonValue[]> {
  let from = start;
  for (const to of [...cuts, end]) {
    const items: JsonValue[] = JSON.parse(`[${bytes.toString("utf8", from, to)}]`);
    if (items.length === 0 && cuts.length > 0) throw new SyntaxError("a list has a comma without an item beside it");
    yield items;
    from = to + 1;
  }
}

/**
 * The long lists by member name, and undefined for members with other values; undefined if the text is not JSON or has
 * escapes in its outermost texts.
 */
function longLists(bytes: Buffer, sizes: ListSizes): Map<string, ListExtent | undefined> | undefined {
  const lists = new Map<string, ListExtent | undefined>();
  let depth = 0;
  let key = "";
  let start = -1;
  let cuts: number[] = [];
  let last = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      const end = endOfText(bytes, i);
      if (depth === 1) key = bytes.toString("utf8", i + 1, end);
      if (depth === 1 && key.includes("\\")) return undefined;
      i = end;
    } else if (byte === COLON && depth === 1) lists.set(key, undefined);
    else if (byte === COMMA && depth === 2 && start >= 0 && i - last >= sizes.part) {
      cuts.push(i);
      last = i;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (depth === 0 && byte === OPEN_LIST) return undefined;
      if (depth === 1 && byte === OPEN_LIST) [start, last, cuts] = [i + 1, i + 1, []];
      depth += 1;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth !== 1 || start < 0) continue;
      if (byte !== CLOSE_LIST) return undefined;
      if (i - start >= sizes.long) {
        if (!lists.has(key)) return undefined;
        lists.set(key, { start, end: i, cuts });
      }
      start = -1;
    }
  }
  return depth === 0 ? lists : undefined;
}

/** The quote at the end of a text that begins with one; the end of the bytes where there is none. */
function endOfText(bytes: Buffer, start: number): number {
  for (let i = start + 1; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i += 1;
  }
  return bytes.length;
}
