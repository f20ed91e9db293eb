/** Output of a container as the engine frames it: stream id, three zero bytes, length (big endian), payload. */
export interface Frame {
  readonly stream: "stdout" | "stderr";
  readonly data: Buffer;
}

const HEADER = 8;
/** A longer frame is not a frame: the stream is not what it should be. */
const MAX_FRAME = 64 << 20;
/** Longer payloads are passed on in pieces as they come, so that one line of a program fills no memory. */
const PIECE = 64 << 10;

/** Cuts a framed byte stream, delivered in pieces of any size, into its frames. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);
  /** What is still to come of a long frame. */
  #open: { readonly stream: Frame["stream"]; left: number } | undefined;

  push(chunk: Buffer): Frame[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const frames: Frame[] = [];
    let at = this.#continue(frames);
    while (this.#pending.length - at >= HEADER) {
      const length = this.#pending.readUInt32BE(at + 4);
      if (length > MAX_FRAME) throw new Error(`frame of ${length} bytes in the output of a container`);
      const stream = this.#pending[at] === 2 ? "stderr" : "stdout";
      if (this.#pending.length - at - HEADER < length) {
        if (length <= PIECE) break;
        frames.push({ stream, data: this.#pending.subarray(at + HEADER) });
        this.#open = { stream, left: length - (this.#pending.length - at - HEADER) };
        at = this.#pending.length;
        break;
      }
      frames.push({ stream, data: this.#pending.subarray(at + HEADER, at + HEADER + length) });
      at += HEADER + length;
    }
    this.#pending = this.#pending.subarray(at);
    return frames;
  }

  /** Returns how many of the pending bytes belong to the frame that began earlier. */
  #continue(frames: Frame[]): number {
    const open = this.#open;
    if (open === undefined) return 0;
    const count = Math.min(open.left, this.#pending.length);
    if (count > 0) frames.push({ stream: open.stream, data: this.#pending.subarray(0, count) });
    open.left -= count;
    if (open.left === 0) this.#open = undefined;
    return count;
  }
}
