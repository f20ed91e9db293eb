import { fromUtf8 } from "../../util/index.ts";
import { alignmentOf, type DBusType, type DBusValue, parseSignature, Variant } from "./types.ts";

/** Variants may hold variants: no message that makes sense nests them deeper. */
const MAX_VARIANTS = 16;

/** Reads values in the wire format of D-Bus. Throws on anything that is not a well-formed message. */
export class DBusReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #little: boolean;
  #at = 0;
  #variants = 0;

  constructor(bytes: Uint8Array, littleEndian: boolean) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#little = littleEndian;
  }

  readAll(signature: string): DBusValue[] {
    return parseSignature(signature).map((type) => this.#read(type));
  }

  align(boundary: number): void {
    this.#take((boundary - (this.#at % boundary)) % boundary);
  }

  /** Everything that was not read yet. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  /** Steps over some bytes; returns where they begin. */
  #take(size: number): number {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw new Error("D-Bus message is cut off");
    this.#at += size;
    return at;
  }

  #read(type: DBusType): DBusValue {
    this.align(alignmentOf(type.code));
    if (type.code === "a") return this.#readArray(type);
    if (type.code === "(" || type.code === "{") return type.inner.map((field) => this.#read(field));
    if (type.code === "v") return this.#readVariant();
    if (type.code === "s" || type.code === "o" || type.code === "g") return this.#readText(type.code);
    return this.#readNumber(type.code);
  }

  #readNumber(code: string): DBusValue {
    const at = this.#take(alignmentOf(code));
    const [view, little] = [this.#view, this.#little];
    if (code === "y") return view.getUint8(at);
    if (code === "b") return view.getUint32(at, little) !== 0;
    if (code === "n") return view.getInt16(at, little);
    if (code === "q") return view.getUint16(at, little);
    if (code === "i") return view.getInt32(at, little);
    if (code === "u") return view.getUint32(at, little);
    if (code === "x") return view.getBigInt64(at, little);
    return code === "t" ? view.getBigUint64(at, little) : view.getFloat64(at, little);
  }

  #readText(code: string): string {
    const lengthAt = this.#take(code === "g" ? 1 : 4);
    const length = code === "g" ? this.#view.getUint8(lengthAt) : this.#view.getUint32(lengthAt, this.#little);
    const at = this.#take(length + 1);
    return fromUtf8(this.#bytes.subarray(at, at + length));
  }

  #readVariant(): Variant {
    const signature = this.#readText("g");
    this.#variants += 1;
    if (this.#variants > MAX_VARIANTS) throw new Error("D-Bus message is nested too deep");
    const values = this.readAll(signature);
    const [value] = values;
    this.#variants -= 1;
    if (value === undefined || values.length !== 1) throw new Error("D-Bus variant is not one value");
    return new Variant(signature, value);
  }

  #readArray(type: DBusType): DBusValue {
    const [element] = type.inner;
    if (element === undefined) throw new Error("D-Bus array without a type");
    const length = this.#view.getUint32(this.#take(4), this.#little);
    this.align(alignmentOf(element.code));
    const start = this.#at;
    if (element.code === "y") return this.#bytes.slice(this.#take(length), this.#at);
    const end = start + length;
    const values: DBusValue[] = [];
    while (this.#at < end) values.push(this.#read(element));
    if (this.#at !== end) throw new Error("D-Bus array does not end where it says");
    return values;
  }
}
