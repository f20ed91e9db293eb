/** A value of a D-Bus message: integers of 64 bits are bigint, arrays of bytes are Uint8Array, dictionaries lists of pairs. */
export type DBusValue = string | number | bigint | boolean | Uint8Array | Variant | readonly DBusValue[];

/** A value that carries its type. */
export class Variant {
  readonly signature: string;
  readonly value: DBusValue;

  constructor(signature: string, value: DBusValue) {
    this.signature = signature;
    this.value = value;
  }
}

/** A complete type: the letter of its signature, and the types inside an array, structure or dictionary entry. */
export interface DBusType {
  readonly code: string;
  readonly inner: readonly DBusType[];
}

const BASIC = "ybnqiuxtdsogv";
/** Depth of nesting that the specification allows. */
const MAX_DEPTH = 64;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "{": "}" };

/** The types that a signature lists (D-Bus specification, "Type system"). Throws on anything else. */
export function parseSignature(text: string): readonly DBusType[] {
  const types: DBusType[] = [];
  for (let at = 0; at < text.length; ) {
    const [type, end] = parseType(text, at, 0);
    types.push(type);
    at = end;
  }
  return types;
}

function parseType(text: string, at: number, depth: number): readonly [DBusType, number] {
  const code = text.charAt(at);
  if (depth > MAX_DEPTH) throw new Error("D-Bus signature is nested too deep");
  if (code !== "" && BASIC.includes(code)) return [{ code, inner: [] }, at + 1];
  if (code === "a") {
    const [element, end] = parseType(text, at + 1, depth + 1);
    return [{ code, inner: [element] }, end];
  }
  const closing = CLOSING[code];
  if (closing === undefined) throw new Error(`D-Bus signature "${text}" is not understood`);
  const inner: DBusType[] = [];
  let end = at + 1;
  while (text.charAt(end) !== closing) {
    const [type, next] = parseType(text, end, depth + 1);
    inner.push(type);
    end = next;
  }
  if (inner.length === 0 || (code === "{" && inner.length !== 2))
    throw new Error(`D-Bus signature "${text}" is not understood`);
  return [{ code, inner }, end + 1];
}

/** Boundary, in bytes, at which a value of the type begins. */
export function alignmentOf(code: string): number {
  if ("ygv".includes(code)) return 1;
  if ("nq".includes(code)) return 2;
  return "xtd({".includes(code) ? 8 : 4;
}
