/** Reads numbers and texts at fixed places of a stored record, without decoding the rest. */
export class Cells {
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** An unsigned number of one to six bytes. */
  number(at: number, width: number): number {
    return this.#bytes.readUIntBE(at, width);
  }

  /** An unsigned number of any width. */
  integer(at: number, width: number): bigint {
    return BigInt(`0x${this.#bytes.toString("hex", at, at + width)}`);
  }

  text(at: number, length: number): string {
    return this.#bytes.toString("latin1", at, at + length);
  }
}
