import { DBusReader } from "./reader.ts";
import { type DBusValue, Variant } from "./types.ts";
import { DBusWriter } from "./writer.ts";

export const MESSAGE = { call: 1, reply: 2, error: 3, signal: 4 } as const;
const VERSION = 1;
const HEADER = "yyyyuua(yv)";
/** Header fields by their numbers (D-Bus specification, "Header fields"). */
const FIELD = { path: 1, interface: 2, member: 3, error: 4, replySerial: 5, destination: 6, sender: 7, signature: 8 };
/** Byte order, type, flags, version, lengths of body and header fields, serial. */
const FIXED_HEADER = 16;
/** Far above any message that a keyring sends or gets. */
const MAX_MESSAGE = 4 * 1024 * 1024;

/** A call of a method of an object on the bus. */
export interface MethodCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** Types of the body; absent if there is no body. */
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
}

/** A message from the bus; texts that were not in the header are empty. */
export interface Incoming {
  readonly type: number;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly error: string;
  readonly replySerial: number;
  readonly body: readonly DBusValue[];
}

/** The bytes of a call. */
export function encodeCall(call: MethodCall, serial: number): Uint8Array {
  const { signature = "", body = [] } = call;
  const content = new DBusWriter().writeAll(signature, body).bytes;
  const fields: DBusValue[] = [
    [FIELD.path, new Variant("o", call.path)],
    [FIELD.interface, new Variant("s", call.interface)],
    [FIELD.member, new Variant("s", call.member)],
    [FIELD.destination, new Variant("s", call.destination)],
  ];
  if (signature !== "") fields.push([FIELD.signature, new Variant("g", signature)]);
  const header = [0x6c, MESSAGE.call, 0, VERSION, content.length, serial, fields];
  return new DBusWriter().writeAll(HEADER, header).align(8).append(content).bytes;
}

/** Length of the message that begins here; undefined while too little of it has arrived to tell. */
export function messageLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < FIXED_HEADER) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const little = isLittleEndian(bytes);
  const fields = view.getUint32(12, little);
  const length = Math.ceil((FIXED_HEADER + fields) / 8) * 8 + view.getUint32(4, little);
  if (length > MAX_MESSAGE) throw new Error("D-Bus message is too large");
  return length;
}

/** Reads one whole message. */
export function decodeMessage(bytes: Uint8Array): Incoming {
  const little = isLittleEndian(bytes);
  const reader = new DBusReader(bytes, little);
  const [, type, , , , , pairs] = reader.readAll(HEADER);
  reader.align(8);
  const fields = headerFields(pairs);
  const text = (field: number): string => {
    const value = fields.get(field);
    return typeof value === "string" ? value : "";
  };
  const replySerial = fields.get(FIELD.replySerial);
  return {
    type: typeof type === "number" ? type : 0,
    path: text(FIELD.path),
    interface: text(FIELD.interface),
    member: text(FIELD.member),
    error: text(FIELD.error),
    replySerial: typeof replySerial === "number" ? replySerial : 0,
    body: new DBusReader(reader.rest(), little).readAll(text(FIELD.signature)),
  };
}

function headerFields(pairs: DBusValue | undefined): ReadonlyMap<number, DBusValue> {
  const fields = new Map<number, DBusValue>();
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    const [field, variant] = pair;
    if (variant instanceof Variant) fields.set(field, variant.value);
  }
  return fields;
}

function isLittleEndian(bytes: Uint8Array): boolean {
  if (bytes[0] === 0x6c) return true;
  if (bytes[0] === 0x42) return false;
  throw new Error("D-Bus message begins with no byte order");
}
