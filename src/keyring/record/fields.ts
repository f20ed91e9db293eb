import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * A message as a plain list of numbered fields. Key records of both generations have few fields, and their type URLs
 * differ from our own chain's, so they are read and written here directly.
 */
export interface Fields {
  /** Content of a length-delimited field; empty where it is missing. */
  bytes(field: number): Uint8Array;
  /** Contents of a repeated field. */
  all(field: number): readonly Uint8Array[];
  has(field: number): boolean;
  /** A varint below 2^32; 0 where it is missing. */
  number(field: number): number;
  text(field: number): string;
}

/** Throws on anything that is not a well-formed message. */
export function readFields(message: Uint8Array): Fields {
  const contents = new Map<number, Uint8Array[]>();
  const numbers = new Map<number, number>();
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType === WireType.Varint) numbers.set(field, reader.uint32());
    else if (wireType === WireType.LengthDelimited)
      contents.set(field, [...(contents.get(field) ?? []), reader.bytes()]);
    else throw new Error(`unexpected wire type ${wireType}`);
  }
  if (reader.pos !== reader.len) throw new Error("message is cut off");
  const all = (field: number): readonly Uint8Array[] => contents.get(field) ?? [];
  const bytes = (field: number): Uint8Array => all(field).at(-1) ?? new Uint8Array();
  return {
    all,
    bytes,
    has: (field) => contents.has(field),
    number: (field) => numbers.get(field) ?? 0,
    text: (field) => new TextDecoder("utf-8", { fatal: true }).decode(bytes(field)),
  };
}

/** A field to write: number and value; empty values and zeros are written only when asked for by `always`. */
export type Field = readonly [field: number, value: Uint8Array | string | number | boolean, always?: "always"];

export function writeFields(fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [field, value, always] of fields) {
    if (typeof value === "number" || typeof value === "boolean") {
      if (Number(value) !== 0) writer.tag(field, WireType.Varint).uint32(Number(value));
      continue;
    }
    const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
    if (bytes.length > 0 || always !== undefined) writer.tag(field, WireType.LengthDelimited).bytes(bytes);
  }
  return writer.finish();
}
