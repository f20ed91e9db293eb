import { COIN_TYPE } from "../../util/index.ts";

const HARDENED = 0x8000_0000;
const ELEMENT = /^(\d{1,10})('?)$/;
/** BIP-32 stores the depth in one byte. */
const MAX_DEPTH = 255;

/** Child numbers of a path, the hardened ones with bit 31 set. */
export type HdPath = readonly number[];

/**
 * Parses `m/44'/118'/0'/0/0`; the `m/` may be left out, any depth is allowed and a trailing slash is ignored.
 * Throws one clear sentence.
 */
export function parseHdPath(text: string): HdPath {
  const path = text.replace(/\/+$/, "");
  if (!path.includes("/")) throw new Error(`path '${path}' doesn't contain '/' separators`);
  const parts = path.split("/");
  if (parts[0] === "m") parts.shift();
  if (parts.length > MAX_DEPTH)
    throw new Error(`invalid BIP 32 path ${text.slice(0, 80)}: more than ${MAX_DEPTH} levels`);
  return parts.map((part) => parseElement(part, text));
}

function parseElement(part: string, path: string): number {
  const match = ELEMENT.exec(part);
  const index = Number(match?.[1] ?? Number.NaN);
  if (match === null || index >= HARDENED) {
    throw new Error(`invalid BIP 32 path ${path.slice(0, 80)}: "${part.slice(0, 20)}" is not a number below 2^31`);
  }
  return match[2] === "'" ? index + HARDENED : index;
}

/** The path of an account by its three numbers: `m/44'/<coinType>'/<account>'/0/<index>`. */
export function bip44Path(numbers: { coinType?: number; account?: number; index?: number } = {}): string {
  return `m/44'/${numbers.coinType ?? COIN_TYPE}'/${numbers.account ?? 0}'/0/${numbers.index ?? 0}`;
}
