/** A place in bytes being decoded. */
export interface KeyCursor {
  readonly bytes: Uint8Array;
  offset: number;
}

/**
 * Turns a typed key into bytes whose order is the order of the keys, and back. `P` is the type of a prefix of the key
 * (tuples only). Every codec but `restKey` marks its own end, so that codecs can follow one another.
 */
export interface KeyCodec<K, P = never> {
  /** Exact number of bytes that `write` needs. Throws on a key that cannot be encoded. */
  size(key: K): number;
  /** Writes at `offset` and returns the offset behind. */
  write(key: K, out: Uint8Array, offset: number): number;
  /** Reads at the cursor and moves it. Throws on bytes that are not such a key. */
  read(cursor: KeyCursor): K;
  /** The bytes that all keys with this prefix begin with. */
  prefix(prefix: P): Uint8Array;
}

export function encodeKey<K>(codec: KeyCodec<K, unknown>, key: K): Uint8Array {
  const out = new Uint8Array(codec.size(key));
  codec.write(key, out, 0);
  return out;
}

/** Decodes a whole key; throws on bytes left over. */
export function decodeKey<K>(codec: KeyCodec<K, unknown>, bytes: Uint8Array): K {
  const cursor = { bytes, offset: 0 };
  const key = codec.read(cursor);
  if (cursor.offset !== bytes.length) throw new Error("invalid key: bytes left over");
  return key;
}

function noPrefix(): never {
  throw new Error("only tuple keys have prefixes");
}

function take(cursor: KeyCursor, length: number): Uint8Array {
  const end = cursor.offset + length;
  if (end > cursor.bytes.length) throw new Error("invalid key: too short");
  const part = cursor.bytes.subarray(cursor.offset, end);
  cursor.offset = end;
  return part;
}

/** One length byte and 0 to 255 raw bytes: addresses, hashes. Sorts by length first. */
export const bytesKey: KeyCodec<Uint8Array> = {
  size(key) {
    if (key.length > 255) throw new Error(`a key part has at most 255 bytes, not ${key.length}`);
    return key.length + 1;
  },
  write(key, out, offset) {
    out[offset] = key.length;
    out.set(key, offset + 1);
    return offset + 1 + key.length;
  },
  read: (cursor) => take(cursor, take(cursor, 1)[0] ?? 0),
  prefix: noPrefix,
};

/** An account address: one length byte and the raw bytes. */
export const addressKey: KeyCodec<Uint8Array> = {
  ...bytesKey,
  size(key) {
    if (key.length === 0) throw new Error("an address has at least one byte");
    return bytesKey.size(key);
  },
};

/** Eight bytes, big endian. */
export const uint64Key: KeyCodec<bigint> = {
  size(key) {
    if (key < 0n || key > 0xffff_ffff_ffff_ffffn) throw new Error(`${key} is not an unsigned 64-bit number`);
    return 8;
  },
  write(key, out, offset) {
    writeUint32(out, offset, Number(key >> 32n));
    writeUint32(out, offset + 4, Number(key & 0xffff_ffffn));
    return offset + 8;
  },
  read(cursor) {
    const high = readUint32(take(cursor, 4));
    return (BigInt(high) << 32n) | BigInt(readUint32(take(cursor, 4)));
  },
  prefix: noPrefix,
};

/** Four bytes, big endian. */
export const uint32Key: KeyCodec<number> = {
  size(key) {
    if (!Number.isInteger(key) || key < 0 || key > 0xffff_ffff)
      throw new Error(`${key} is not an unsigned 32-bit number`);
    return 4;
  },
  write(key, out, offset) {
    writeUint32(out, offset, key);
    return offset + 4;
  },
  read: (cursor) => readUint32(take(cursor, 4)),
  prefix: noPrefix,
};

/** One byte, for small enumerations. */
export const uint8Key: KeyCodec<number> = {
  size(key) {
    if (!Number.isInteger(key) || key < 0 || key > 0xff) throw new Error(`${key} is not an unsigned 8-bit number`);
    return 1;
  },
  write(key, out, offset) {
    out[offset] = key;
    return offset + 1;
  },
  read: (cursor) => take(cursor, 1)[0] ?? 0,
  prefix: noPrefix,
};

/** UTF-8 and a zero byte, so that strings sort as their bytes and one string is not a prefix of another's keys. */
export const stringKey: KeyCodec<string> = {
  size(key) {
    if (key.includes("\0")) throw new Error("a text used as a key must not hold a zero byte");
    return Buffer.byteLength(key) + 1;
  },
  write(key, out, offset) {
    const end = offset + writeText(key, out, offset);
    out[end] = 0;
    return end + 1;
  },
  read(cursor) {
    const end = cursor.bytes.indexOf(0, cursor.offset);
    if (end < 0) throw new Error("invalid key: text without an end");
    const text = asBuffer(cursor.bytes).toString("utf8", cursor.offset, end);
    cursor.offset = end + 1;
    return text;
  },
  prefix: noPrefix,
};

/** All remaining bytes unchanged; only as the last part of a key. */
export const restKey: KeyCodec<Uint8Array> = {
  size: (key) => key.length,
  write(key, out, offset) {
    out.set(key, offset);
    return offset + key.length;
  },
  read: (cursor) => take(cursor, cursor.bytes.length - cursor.offset),
  prefix: noPrefix,
};

/** The leading parts of a tuple: none, the first, the first two, ... */
export type TuplePrefix<T extends readonly unknown[]> = T extends readonly [infer Head, ...infer Tail]
  ? readonly [] | readonly [Head, ...TuplePrefix<Tail>]
  : readonly [];

type Codecs<T extends readonly unknown[]> = { readonly [I in keyof T]: KeyCodec<T[I], unknown> };

/** Parts one after the other; ordered by the first, then the second, ... Any leading parts make a prefix. */
export function tupleKey<T extends readonly unknown[]>(...codecs: Codecs<T>): KeyCodec<T, TuplePrefix<T>>;
export function tupleKey(
  ...parts: readonly KeyCodec<unknown, unknown>[]
): KeyCodec<readonly unknown[], readonly unknown[]> {
  const sizeOf = (key: readonly unknown[]): number =>
    key.reduce<number>((size, part, i) => size + (parts[i]?.size(part) ?? 0), 0);
  const writeTo = (key: readonly unknown[], out: Uint8Array, offset: number): number =>
    key.reduce<number>((at, part, i) => parts[i]?.write(part, out, at) ?? at, offset);
  return {
    size: sizeOf,
    write: writeTo,
    read: (cursor) => parts.map((part) => part.read(cursor)),
    prefix(prefix) {
      const out = new Uint8Array(sizeOf(prefix));
      writeTo(prefix, out, 0);
      return out;
    },
  };
}

/** Any key type; naming the empty tuple lets the compiler see `[a, b]` as a tuple where a key is inferred. */
export type AnyKey = [] | object | string | number | bigint | boolean;

/** A key of another shape (an id object) over a codec; prefixes keep the codec's shape. */
export function mappedKey<K, T extends AnyKey, P>(
  codec: KeyCodec<T, P>,
  convert: { readonly to: (key: K) => T; readonly from: (parts: T) => K },
): KeyCodec<K, P> {
  return {
    size: (key) => codec.size(convert.to(key)),
    write: (key, out, offset) => codec.write(convert.to(key), out, offset),
    read: (cursor) => convert.from(codec.read(cursor)),
    prefix: (prefix) => codec.prefix(prefix),
  };
}

/** Writes UTF-8 and returns its length. Nearly all texts in keys are short ASCII, for which a view of the bytes costs more. */
function writeText(text: string, out: Uint8Array, offset: number): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return asBuffer(out).write(text, offset);
    out[offset + i] = code;
  }
  return text.length;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function writeUint32(out: Uint8Array, offset: number, value: number): void {
  out[offset] = value >>> 24;
  out[offset + 1] = value >>> 16;
  out[offset + 2] = value >>> 8;
  out[offset + 3] = value;
}

function readUint32(bytes: Uint8Array): number {
  return (((bytes[0] ?? 0) << 24) | ((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0)) >>> 0;
}
