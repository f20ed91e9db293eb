import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { bytesToUint64, uint64ToBytes } from "../../util/index.ts";
import { decodeMessage, encodeMessage } from "../../wire/index.ts";

/** Turns a typed value into the bytes that are stored and hashed, always the same for equal values. */
export interface ValueCodec<V> {
  encode(value: V): Uint8Array;
  decode(bytes: Uint8Array): V;
}

/** A protobuf message in its canonical bytes; unknown fields are left out. */
export function protoValue<D extends DescMessage>(schema: D): ValueCodec<MessageShape<D>> {
  return {
    encode: (message) => encodeMessage(schema, message),
    decode: (bytes) => decodeMessage(schema, bytes),
  };
}

/** An integer of any size as decimal text. */
export const bigintValue: ValueCodec<bigint> = {
  encode: (value) => Buffer.from(value.toString(), "latin1"),
  decode: (bytes) => BigInt(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")),
};

/** An unsigned 64-bit number in eight bytes, big endian. */
export const uint64Value: ValueCodec<bigint> = { encode: uint64ToBytes, decode: bytesToUint64 };

export const bytesValue: ValueCodec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };

/** UTF-8. */
export const stringValue: ValueCodec<string> = {
  encode: (value) => Buffer.from(value, "utf8"),
  decode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"),
};

const EMPTY = new Uint8Array(0);

/** Nothing: for collections that are sets of keys. */
export const emptyValue: ValueCodec<true> = { encode: () => EMPTY, decode: () => true };
