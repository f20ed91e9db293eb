import { toUtf8 } from "../../util/index.ts";
import { alignmentOf, type DBusType, type DBusValue, parseSignature, Variant } from "./types.ts";

const FIRST_SIZE = 256;

/** Writes values in the wire format of D-Bus, little-endian. A value that is not of its type is a mistake of the caller. */
export class DBusWriter {
  #buffer = new DataView(new ArrayBuffer(FIRST_SIZE));
  #length = 0;

  get bytes(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, 0, this.#length);
  }

  writeAll(signature: string, values: readonly DBusValue[]): this {
    const types = parseSignature(signature);
    if (types.length !== values.length) throw new Error(`${values.length} values for the signature "${signature}"`);
    types.forEach((type, index) => {
      this.#write(type, values[index] ?? "");
    });
    return this;
  }

  align(boundary: number): this {
    this.#grow((boundary - (this.#length % boundary)) % boundary);
    return this;
  }

  append(bytes: Uint8Array): this {
    const at = this.#grow(bytes.length);
    new Uint8Array(this.#buffer.buffer).set(bytes, at);
    return this;
  }

  /** Makes room for some zero bytes; returns where they begin. The buffer may be another one afterwards. */
  #grow(size: number): number {
    const at = this.#length;
    this.#length += size;
    if (this.#length > this.#buffer.byteLength) {
      const larger = new Uint8Array(Math.max(this.#length, this.#buffer.byteLength * 2));
      larger.set(new Uint8Array(this.#buffer.buffer));
      this.#buffer = new DataView(larger.buffer);
    }
    return at;
  }

  #write(type: DBusType, value: DBusValue): void {
    this.align(alignmentOf(type.code));
    if (type.code === "a") this.#writeArray(type, value);
    else if (type.code === "(" || type.code === "{") this.#writeFields(type, value);
    else if (type.code === "v") this.#writeVariant(value);
    else if (type.code === "s" || type.code === "o" || type.code === "g") this.#writeText(type.code, value);
    else this.#writeNumber(type.code, value);
  }

  #writeNumber(code: string, value: DBusValue): void {
    if (code === "x" || code === "t") {
      if (typeof value !== "bigint") throw mismatch(code);
      const at = this.#grow(8);
      this.#buffer.setBigUint64(at, BigInt.asUintN(64, value), true);
      return;
    }
    const number = typeof value === "boolean" ? Number(value) : value;
    if (typeof number !== "number" || (code === "b") !== (typeof value === "boolean")) throw mismatch(code);
    const at = this.#grow(alignmentOf(code));
    if (code === "d") this.#buffer.setFloat64(at, number, true);
    else if (code === "y") this.#buffer.setUint8(at, number);
    else if (code === "n" || code === "q") this.#buffer.setUint16(at, number, true);
    else this.#buffer.setUint32(at, number, true);
  }

  #writeText(code: string, value: DBusValue): void {
    if (typeof value !== "string") throw mismatch(code);
    const bytes = toUtf8(value);
    if (code === "g") this.#writeNumber("y", bytes.length);
    else this.#writeNumber("u", bytes.length);
    this.append(bytes).#grow(1);
  }

  #writeVariant(value: DBusValue): void {
    if (!(value instanceof Variant)) throw mismatch("v");
    this.#writeText("g", value.signature);
    this.writeAll(value.signature, [value.value]);
  }

  #writeFields(type: DBusType, value: DBusValue): void {
    if (!Array.isArray(value) || value.length !== type.inner.length) throw mismatch(type.code);
    type.inner.forEach((field, index) => {
      this.#write(field, value[index]);
    });
  }

  /** The length comes first and counts neither itself nor the padding before the first element. */
  #writeArray(type: DBusType, value: DBusValue): void {
    const [element] = type.inner;
    if (element === undefined) throw mismatch("a");
    const lengthAt = this.#grow(4);
    const start = this.align(alignmentOf(element.code)).#length;
    if (element.code === "y" && value instanceof Uint8Array) this.append(value);
    else if (Array.isArray(value)) for (const each of value) this.#write(element, each);
    else throw mismatch("a");
    this.#buffer.setUint32(lengthAt, this.#length - start, true);
  }
}

function mismatch(code: string): Error {
  return new Error(`value is not of the D-Bus type "${code}"`);
}
