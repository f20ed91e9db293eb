import { Transform } from "node:stream";
import { Decompress } from "fzstd";

/** Bytes of an earlier part that a frame may refer to; the library moves as many for each block. Usual levels have 8 MiB. */
const MAX_WINDOW = 32 << 20;
/** Bytes that are unpacked before the time is looked at. */
const SLICE = 4_096;
/** Processor seconds that are always granted, and bytes for which each further one is: a tenth of the usual speed. */
const TIME = { seconds: 10, bytesPerSecond: 10 << 20 };

/** Unpacks zstd (RFC 8878) if zlib cannot. Too much memory or time is an error. */
export function unpackZstd(time = TIME): Transform {
  const frames = new FrameReader();
  const began = process.cpuUsage();
  let bytes = 0;
  const out = (part: Uint8Array) => {
    bytes += part.length;
    if (part.length > 0) stream.push(Buffer.from(part.buffer, part.byteOffset, part.length));
  };
  const unpack = new Decompress(out);
  const inTime = () => {
    const seconds = process.cpuUsage(began).user / 1e6;
    if (seconds > time.seconds + bytes / time.bytesPerSecond) throw new Error("it takes too long");
  };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < chunk.length; at += SLICE) {
          const slice = chunk.subarray(at, at + SLICE);
          frames.push(slice);
          // The library keeps bytes that it cannot read yet.
          unpack.push(new Uint8Array(slice.buffer, slice.byteOffset, slice.length));
          bytes += slice.length;
          inTime();
        }
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
    flush(done) {
      if (!frames.isWhole) return done(new Error("it breaks off"));
      unpack.push(new Uint8Array(0), true);
      done();
    },
  });
  return stream;
}

const MAGIC = 0xfd2fb528;
/** The lowest of sixteen numbers. */
const SKIPPABLE = 0x184d2a50;
const RLE = 1;
const RESERVED = 3;

type State = "magic" | "skippable" | "header" | "block" | "contents" | "checksum";

/** Follows frames and blocks without unpacking them, so that no frame with a large window comes to the library. */
class FrameReader {
  #state: State = "magic";
  /** Remaining bytes of the current part, and its bytes kept so far. */
  #left = 4;
  #part: Buffer = Buffer.alloc(0);
  #isLast = false;
  #hasChecksum = false;

  /** Whether nothing is left open. */
  get isWhole(): boolean {
    return this.#state === "magic" && this.#part.length === 0;
  }

  push(data: Buffer): void {
    for (let at = 0; at < data.length; ) {
      const taken = Math.min(this.#left, data.length - at);
      if (this.#state !== "contents") {
        this.#part = Buffer.concat([this.#part, data.subarray(at, at + taken)]);
      }
      at += taken;
      this.#left -= taken;
      while (this.#left === 0) this.#next();
    }
  }

  #await(state: State, bytes: number): void {
    this.#state = state;
    this.#left = bytes;
    this.#part = Buffer.alloc(0);
  }

  #next(): void {
    const part = this.#part;
    if (this.#state === "magic") this.#magic(part.readUInt32LE());
    else if (this.#state === "skippable") this.#await("contents", part.readUInt32LE());
    else if (this.#state === "header") this.#header(part);
    else if (this.#state === "block") this.#block(part.readUIntLE(0, 3));
    else if (this.#state === "contents") this.#ended();
    else this.#await("magic", 4);
  }

  #magic(magic: number): void {
    if (magic === MAGIC) {
      this.#await("header", 1);
      return;
    }
    if (magic >>> 4 !== SKIPPABLE >>> 4) throw new Error("a frame begins in an unknown way");
    [this.#isLast, this.#hasChecksum] = [true, false];
    this.#await("skippable", 4);
  }

  /** The descriptor tells how long the rest of the header is. */
  #header(part: Buffer): void {
    const descriptor = part[0] ?? 0;
    const isSingle = (descriptor & 0x20) !== 0;
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
    const before = 1 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
    if (part.length < before + sizeBytes) {
      this.#left = before + sizeBytes - part.length;
      return;
    }
    const window = isSingle ? sizeOf(part.subarray(before)) : windowOf(part[1] ?? 0);
    if (window > MAX_WINDOW)
      throw new Error(`its window is larger than ${MAX_WINDOW >> 20} MiB, pack it at a lower level`);
    this.#hasChecksum = (descriptor & 4) !== 0;
    this.#await("block", 3);
  }

  #block(header: number): void {
    const kind = (header >> 1) & 3;
    if (kind === RESERVED) throw new Error("a block has an unknown type");
    this.#isLast = (header & 1) === 1;
    this.#await("contents", kind === RLE ? 1 : header >> 3);
  }

  #ended(): void {
    if (!this.#isLast) this.#await("block", 3);
    else if (this.#hasChecksum) this.#await("checksum", 4);
    else this.#await("magic", 4);
  }
}

function sizeOf(field: Buffer): number {
  if (field.length === 8) return Number(field.readBigUInt64LE());
  return field.readUIntLE(0, field.length) + (field.length === 2 ? 256 : 0);
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}
