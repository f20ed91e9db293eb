import { errorText, fromBase64, fromHex, fromUtf8 } from "../../../util/index.ts";

/** Where a parameter's value comes from: JSON of a call, or the query of a GET. */
export type ParamSource = "json" | "uri";

/** How one parameter is read; an absent one is undefined. Throws one sentence on a value of the wrong form. */
export type Param<T> = (value: unknown, source: ParamSource) => T;

/** A 64-bit number: a text or a plain number in JSON, digits with or without quotes in a query. */
export const int64: Param<bigint | undefined> = (value) => {
  if (value === undefined || value === null || value === "") return undefined;
  const text = typeof value === "number" && Number.isSafeInteger(value) ? value.toString() : value;
  const digits = typeof text === "string" ? /^"?(-?\d{1,19})"?$/.exec(text)?.[1] : undefined;
  const number = digits === undefined ? undefined : BigInt(digits);
  if (number === undefined || number >= 2n ** 63n) throw new Error(`expected a whole number, got ${shown(value)}`);
  return number;
};

export const bool: Param<boolean | undefined> = (value) => {
  if (value === undefined || value === null || value === "") return undefined;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new Error(`expected true or false, got ${shown(value)}`);
};

/** A text; in a query it is in double quotes, or `0x` and the hex of its bytes. */
export const text: Param<string | undefined> = (value, source) => {
  if (value === undefined || value === null || value === "") return undefined;
  const plain = source === "uri" ? uriText(value) : value;
  if (typeof plain !== "string") throw new Error(`expected a string, got ${shown(value)}`);
  return plain;
};

/** Bytes: base64 in JSON; `0x` and hex, or a text in double quotes, in a query. */
export const bytes: Param<Uint8Array | undefined> = (value, source) => {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw new Error(`expected bytes in base64, got ${shown(value)}`);
  return source === "uri" ? uriBytes(value) : fromBase64(value);
};

/** Bytes: hex in JSON; `0x` and hex, or a text in double quotes, in a query. */
export const hexBytes: Param<Uint8Array | undefined> = (value, source) => {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw new Error(`expected bytes in hex, got ${shown(value)}`);
  return source === "uri" ? uriBytes(value) : fromHex(value);
};

/** A value of any form: JSON in a query. */
export const json: Param<unknown> = (value, source) => {
  if (source !== "uri" || value === undefined || value === "") return value;
  try {
    return JSON.parse(String(value));
  } catch (error) {
    throw new Error(`expected JSON, got ${shown(value)}: ${errorText(error)}`);
  }
};

/** A required parameter. */
export function required<T>(param: Param<T | undefined>): Param<T> {
  return (value, source) => {
    const found = param(value, source);
    if (found === undefined) throw new Error("is missing");
    return found;
  };
}

function uriText(value: unknown): unknown {
  return typeof value === "string" && HEX.test(value) ? fromUtf8(fromHex(value.slice(2))) : quoted(value);
}

const HEX = /^0x/i;

function uriBytes(value: string): Uint8Array {
  if (HEX.test(value)) return fromHex(value.slice(2));
  const plain = quoted(value);
  if (typeof plain !== "string")
    throw new Error(`expected 0x and hex, or a string in double quotes, got ${shown(value)}`);
  return Buffer.from(plain);
}

/** The text of a JSON string literal. */
function quoted(value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith('"')) {
    throw new Error(`expected a string in double quotes, got ${shown(value)}`);
  }
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new Error(`expected a string in double quotes, got ${shown(value)}: ${errorText(error)}`);
  }
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}
