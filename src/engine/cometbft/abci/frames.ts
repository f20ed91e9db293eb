import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { concatBytes } from "../../../util/index.ts";

/** Bytes of the longest length. */
const MAX_LENGTH_BYTES = 5;

/** Splits a stream into frames, each after its length as a varint. Throws on a length that no frame may have. */
export class FrameReader {
  readonly #limit: () => number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes of the frame that comes next; undefined while its length is incomplete. */
  #length: number | undefined;

  /** `limit` is asked for every frame. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** The frames that are whole with this chunk. */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (;;) {
      this.#length ??= this.#readLength();
      if (this.#length === undefined || this.#bytes < this.#length) return;
      const length = this.#length;
      this.#length = undefined;
      yield this.#take(length);
    }
  }

  #readLength(): number | undefined {
    const head = this.#peek(MAX_LENGTH_BYTES);
    const end = head.findIndex((byte) => byte < 0x80);
    if (end < 0) {
      if (head.length < MAX_LENGTH_BYTES) return undefined;
      throw new Error("the length of a frame is malformed");
    }
    const length = head.slice(0, end + 1).reduce((sum, byte, i) => sum + (byte & 0x7f) * 2 ** (7 * i), 0);
    const limit = this.#limit();
    if (length === 0 || (end > 0 && head[end] === 0)) throw new Error("the length of a frame is malformed");
    if (length > limit) throw new Error(`a frame of ${length} bytes is longer than ${limit}`);
    this.#take(end + 1);
    return length;
  }

  /** Up to so many bytes, without taking them. */
  #peek(count: number): number[] {
    const bytes: number[] = [];
    for (const chunk of this.#chunks) {
      if (bytes.length >= count) break;
      for (const byte of chunk.subarray(0, count - bytes.length)) bytes.push(byte);
    }
    return bytes;
  }

  #take(count: number): Uint8Array {
    const taken: Uint8Array[] = [];
    let missing = count;
    while (missing > 0) {
      const [chunk] = this.#chunks;
      if (chunk === undefined) throw new Error("a frame is taken when it is whole");
      taken.push(chunk.subarray(0, missing));
      if (chunk.length > missing) this.#chunks[0] = chunk.subarray(missing);
      else this.#chunks.shift();
      missing -= Math.min(missing, chunk.length);
    }
    this.#bytes -= count;
    return taken.length === 1 && taken[0] !== undefined ? taken[0] : concatBytes(...taken);
  }
}

/** A frame's length, as a varint. */
export function frameHead(length: number): Uint8Array {
  return new BinaryWriter().uint32(length).finish();
}
