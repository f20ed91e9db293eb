/** Output of a container as the engine frames it: stream id, three zero bytes, length (big endian), payload. */
export interface Frame {
  readonly stream: "stdout" | "stderr";
  readonly data: Buffer;
  /** Whether the data is the beginning of a frame. */
  readonly isStart: boolean;
}

const HEADER = 8;
/** A longer frame is invalid. */
const MAX_FRAME = 64 << 20;
/** Longer payloads are passed on in pieces, so that one long line does not fill memory. */
const PIECE = 64 << 10;
/** Bytes of the first piece at least: readers find the time of a record there. */
const FIRST_PIECE = 64;

/** Cuts a framed byte stream, delivered in pieces of any size, into its frames. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);
  /** The rest of a long frame. */
  #open: { readonly stream: Frame["stream"]; left: number } | undefined;

  /** One frame at a time, so that a slow reader keeps the bytes alone in memory. */
  *push(chunk: Buffer): Generator<Frame, undefined> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame;
  }

  #next(): Frame | undefined {
    const open = this.#open;
    if (open !== undefined) return this.#continue(open);
    const pending = this.#pending;
    if (pending.length < HEADER) return undefined;
    const length = pending.readUInt32BE(4);
    if (length > MAX_FRAME) throw new Error(`frame of ${length} bytes in the output of a container`);
    const isWhole = pending.length - HEADER >= length;
    if (!isWhole && (length <= PIECE || pending.length < HEADER + FIRST_PIECE)) return undefined;
    const stream = pending[0] === 2 ? "stderr" : "stdout";
    if (isWhole) return { stream, data: this.#take(HEADER + length).subarray(HEADER), isStart: true };
    const data = this.#take(pending.length).subarray(HEADER);
    this.#open = { stream, left: length - data.length };
    return { stream, data, isStart: true };
  }

  /** More of the frame that began earlier. */
  #continue(open: { readonly stream: Frame["stream"]; left: number }): Frame | undefined {
    if (this.#pending.length === 0) return undefined;
    const data = this.#take(Math.min(open.left, this.#pending.length));
    open.left -= data.length;
    if (open.left === 0) this.#open = undefined;
    return { stream: open.stream, data, isStart: false };
  }

  #take(count: number): Buffer {
    const taken = this.#pending.subarray(0, count);
    this.#pending = this.#pending.subarray(count);
    return taken;
  }
}
