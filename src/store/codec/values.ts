import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { bytesToUint64, fromUtf8, uint64ToBytes } from "../../util/index.ts";
import { decodeMessage, encodeMessage } from "../../wire/index.ts";

/**
 * Turns a typed value into the bytes that are stored and hashed: always the same for equal values, and at least one, since
 * no proof can show a value without bytes.
 */
export interface ValueCodec<V> {
  encode(value: V): Uint8Array;
  decode(bytes: Uint8Array): V;
}

const NOTHING = new Uint8Array(0);
/** A message of defaults, which has no bytes of its own: a zero byte, with which no message begins. */
const DEFAULTS = Uint8Array.of(0);

/** A protobuf message in its canonical bytes; unknown fields are left out. */
export function protoValue<D extends DescMessage>(schema: D): ValueCodec<MessageShape<D>> {
  return {
    encode(message) {
      const bytes = encodeMessage(schema, message);
      return bytes.length === 0 ? DEFAULTS : bytes;
    },
    decode: (bytes) => decodeMessage(schema, bytes[0] === 0 && bytes.length === 1 ? NOTHING : bytes),
  };
}

/** Numbers of so many digits are exact as numbers of JavaScript. */
const SAFE_DIGITS = 15;
const ZERO = 0x30;

/** An integer of any size as decimal text. */
export const bigintValue: ValueCodec<bigint> = {
  encode(value) {
    const text = value.toString();
    const out = new Uint8Array(text.length);
    for (let i = 0; i < out.length; i++) out[i] = text.charCodeAt(i);
    return out;
  },
  decode(bytes) {
    let number = 0;
    for (const byte of bytes) {
      const digit = byte - ZERO;
      if (bytes.length > SAFE_DIGITS || digit < 0 || digit > 9) return BigInt(fromUtf8(bytes));
      number = number * 10 + digit;
    }
    return BigInt(number);
  },
};

/** An unsigned 64-bit number in eight bytes, big endian. */
export const uint64Value: ValueCodec<bigint> = { encode: uint64ToBytes, decode: bytesToUint64 };

/** The value of an entry whose key says everything. */
export const PRESENT = Uint8Array.of(1);

/** A value without content: for collections that are sets of keys. */
export const presentValue: ValueCodec<true> = { encode: () => PRESENT, decode: () => true };

/** Unchanged bytes. */
export const bytesValue: ValueCodec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };
