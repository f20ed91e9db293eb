import { ScalarType } from "@bufbuild/protobuf";
import { FIXED32, FIXED64, LENGTH_DELIMITED, VARINT, type WireReader } from "./reader.ts";
import type { BackwardWriter } from "./writer.ts";

/** Reading and writing of one scalar type. `isDefault` tells a value that implicit presence leaves out. */
export interface ScalarCodec {
  readonly wireType: number;
  readonly zero: unknown;
  isDefault(value: unknown): boolean;
  read(reader: WireReader): unknown;
  write(writer: BackwardWriter, value: unknown): void;
}

const TWO_64 = 1n << 64n;

export const int32Codec: ScalarCodec = {
  wireType: VARINT,
  zero: 0,
  isDefault: (value) => value === 0,
  read(reader) {
    reader.varint();
    const signExtended = reader.low >= 0x80000000 ? reader.high === 0xffffffff : reader.high === 0;
    if (reader.strict && !signExtended) reader.fail("number out of the range of 32 bits");
    return reader.low | 0;
  },
  write(writer, value) {
    const number = integer(value, -0x80000000, 0x7fffffff);
    if (number >= 0) writer.uint32(number);
    else writer.uint64(BigInt(number) + TWO_64);
  },
};

const uint32Codec: ScalarCodec = {
  wireType: VARINT,
  zero: 0,
  isDefault: (value) => value === 0,
  read(reader) {
    reader.varint();
    if (reader.strict && reader.high !== 0) reader.fail("number out of the range of 32 bits");
    return reader.low;
  },
  write: (writer, value) => writer.uint32(integer(value, 0, 0xffffffff)),
};

const boolCodec: ScalarCodec = {
  wireType: VARINT,
  zero: false,
  isDefault: (value) => value === false,
  read(reader) {
    reader.varint();
    if (reader.strict && (reader.low > 1 || reader.high !== 0)) reader.fail("a boolean is neither 0 nor 1");
    return reader.low !== 0 || reader.high !== 0;
  },
  write(writer, value) {
    if (typeof value !== "boolean") throw new Error(`${show(value)} is not a boolean`);
    writer.uint32(value ? 1 : 0);
  },
};

const uint64Codec: ScalarCodec = {
  wireType: VARINT,
  zero: 0n,
  isDefault: (value) => value === 0n,
  read(reader) {
    reader.varint();
    return reader.uint64();
  },
  write: (writer, value) => writer.uint64(bigInteger(value, 0n, TWO_64 - 1n)),
};

const int64Codec: ScalarCodec = {
  wireType: VARINT,
  zero: 0n,
  isDefault: (value) => value === 0n,
  read(reader) {
    reader.varint();
    return BigInt.asIntN(64, reader.uint64());
  },
  write: (writer, value) => writer.uint64(BigInt.asUintN(64, signed64(value))),
};

const sfixed64Codec: ScalarCodec = {
  wireType: FIXED64,
  zero: 0n,
  isDefault: (value) => value === 0n,
  read: (reader) => BigInt.asIntN(64, reader.fixed(8)),
  write: (writer, value) => writer.fixed(BigInt.asUintN(64, signed64(value)), 8),
};

const fixed64Codec: ScalarCodec = {
  wireType: FIXED64,
  zero: 0n,
  isDefault: (value) => value === 0n,
  read: (reader) => reader.fixed(8),
  write: (writer, value) => writer.fixed(bigInteger(value, 0n, TWO_64 - 1n), 8),
};

const fixed32Codec: ScalarCodec = {
  wireType: FIXED32,
  zero: 0,
  isDefault: (value) => value === 0,
  read: (reader) => Number(reader.fixed(4)),
  write: (writer, value) => writer.fixed(BigInt(integer(value, 0, 0xffffffff)), 4),
};

const stringCodec: ScalarCodec = {
  wireType: LENGTH_DELIMITED,
  zero: "",
  isDefault: (value) => value === "",
  read: (reader) => reader.takeString(),
  write(writer, value) {
    if (typeof value !== "string") throw new Error(`${show(value)} is not a string`);
    const before = writer.written;
    writer.string(value);
    writer.uint32(writer.written - before);
  },
};

const bytesCodec: ScalarCodec = {
  wireType: LENGTH_DELIMITED,
  zero: new Uint8Array(),
  isDefault: (value) => value instanceof Uint8Array && value.length === 0,
  read: (reader) => reader.takeBytes(),
  write(writer, value) {
    if (!(value instanceof Uint8Array)) throw new Error(`${show(value)} is not a byte string`);
    writer.bytes(value);
    writer.uint32(value.length);
  },
};

const CODECS: ReadonlyMap<ScalarType, ScalarCodec> = new Map([
  [ScalarType.INT32, int32Codec],
  [ScalarType.UINT32, uint32Codec],
  [ScalarType.BOOL, boolCodec],
  [ScalarType.INT64, int64Codec],
  [ScalarType.UINT64, uint64Codec],
  [ScalarType.SFIXED64, sfixed64Codec],
  [ScalarType.FIXED64, fixed64Codec],
  [ScalarType.FIXED32, fixed32Codec],
  [ScalarType.STRING, stringCodec],
  [ScalarType.BYTES, bytesCodec],
]);

/** The codec of a scalar type. Floating point is missing on purpose: it has no place in hashed bytes. */
export function scalarCodec(type: ScalarType): ScalarCodec {
  const codec = CODECS.get(type);
  if (codec === undefined) throw new Error(`scalar type ${ScalarType[type]} is not supported`);
  return codec;
}

function integer(value: unknown, low: number, high: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= low && value <= high) return value;
  throw new Error(`${show(value)} is not an integer from ${low} to ${high}`);
}

function bigInteger(value: unknown, low: bigint, high: bigint): bigint {
  if (typeof value === "bigint" && value >= low && value <= high) return value;
  throw new Error(`${show(value)} is not an integer (bigint) from ${low} to ${high}`);
}

function signed64(value: unknown): bigint {
  return bigInteger(value, -(1n << 63n), (1n << 63n) - 1n);
}

function show(value: unknown): string {
  return String(value).slice(0, 40);
}
