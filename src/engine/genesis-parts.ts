import { errorText, SvcError } from "../util/index.ts";
import { readWithLists } from "./genesis-lists.ts";

/** The place of a value in the file. */
interface Extent {
  readonly start: number;
  readonly end: number;
}

export interface GenesisReading {
  /** Whether long lists of the members are a `JsonList`, which is read when it is walked; arrays otherwise. */
  readonly longLists?: boolean;
}

/** A genesis file whose `app_state` is read member by member. */
export interface GenesisParts {
  /** The JSON of the file. Each member of `app_state` is replaced by a number, by which `part` finds it. */
  readonly json: unknown;
  /** Reads a member of `app_state`, again with every call: nothing of it is kept. */
  readonly part: (name: string, number: unknown) => unknown;
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c] as const;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;
const APP_STATE = '"app_state"';

/**
 * Reads a genesis file without the members of its `app_state`: there may be a million accounts, and `JSON.parse` needs
 * several times their bytes. Throws the errors of `JSON.parse`.
 */
export function readGenesisParts(file: Uint8Array, { longLists = false }: GenesisReading = {}): GenesisParts {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const extents = membersOfAppState(bytes);
  if (extents === undefined) return { json: JSON.parse(bytes.toString("utf8")), part: (_, value) => value };
  const json: unknown = JSON.parse(withNumbers(bytes, extents));
  return { json, part: (name, number) => readPart(bytes, { name, longLists, extent: extents[Number(number)] }) };
}

interface Part {
  readonly name: string;
  readonly longLists: boolean;
  readonly extent: Extent | undefined;
}

function readPart(file: Buffer, { name, longLists, extent }: Part): unknown {
  try {
    const bytes = file.subarray(extent?.start, extent?.end ?? 0);
    return longLists ? readWithLists(bytes) : JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new SvcError("genesis", 1, `invalid genesis: app_state.${name}: ${errorText(cause)}`, {
      cause,
      hint: "correct the genesis file, or copy it again",
    });
  }
}

/** The text with a number in the place of each member. */
function withNumbers(bytes: Buffer, extents: readonly Extent[]): string {
  let text = "";
  let at = 0;
  for (const [number, { start, end }] of extents.entries()) {
    text += `${bytes.toString("utf8", at, start)} ${number} `;
    at = end;
  }
  return text + bytes.toString("utf8", at);
}

/**
 * The places of the members of `app_state`, found by counting braces outside of texts; undefined for a file that is not
 * JSON or has escapes in its outermost texts, which is then read whole.
 */
function membersOfAppState(bytes: Buffer): Extent[] | undefined {
  const extents: Extent[] = [];
  let depth = 0;
  let isInside = false;
  /** The last text of the outermost object. */
  let key = "";
  let start = -1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      const end = endOfText(bytes, i);
      if (depth === 1) {
        key = bytes.toString("latin1", i, end + 1);
        if (key.includes("\\")) return undefined;
      }
      i = end;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (depth === 1) isInside = byte === OPEN_OBJECT && key === APP_STATE;
      depth += 1;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte === COMMA) {
      if (isInside && depth === 2 && start >= 0) {
        extents.push({ start, end: i });
        start = -1;
      }
      if (byte !== COMMA) depth -= 1;
      else if (depth === 1) key = "";
    } else if (byte === COLON && isInside && depth === 2) start = i + 1;
  }
  return depth === 0 ? extents : undefined;
}

/** The quote at the end of a text that begins with one; the end of the file where there is none. */
function endOfText(bytes: Buffer, start: number): number {
  for (let i = start + 1; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i += 1;
  }
  return bytes.length;
}
