/** Output of a container as the engine frames it: stream id, three zero bytes, length (big endian), payload. */
export interface Frame {
  readonly stream: "stdout" | "stderr";
  readonly data: Buffer;
}

const HEADER = 8;
/** A longer frame is not a frame: the stream is not what it should be. */
const MAX_FRAME = 64 << 20;

/** Cuts a framed byte stream, delivered in pieces of any size, into its frames. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Frame[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const frames: Frame[] = [];
    let at = 0;
    while (this.#pending.length - at >= HEADER) {
      const length = this.#pending.readUInt32BE(at + 4);
      if (length > MAX_FRAME) throw new Error(`frame of ${length} bytes in the output of a container`);
      if (this.#pending.length - at - HEADER < length) break;
      const stream = this.#pending[at] === 2 ? "stderr" : "stdout";
      frames.push({ stream, data: this.#pending.subarray(at + HEADER, at + HEADER + length) });
      at += HEADER + length;
    }
    this.#pending = this.#pending.subarray(at);
    return frames;
  }
}
