import { MessageChannel } from "node:worker_threads";

/**
 * Memory for what clients send and do not finish. The allocator of the C library keeps what it took in a flood, in holes
 * between what is still in use; V8 takes a buffer that may change its size from the system by pages, and gives them back as soon
 * as the size is zero.
 */
export function lendMemory(bytes: number): Buffer {
  return Buffer.from(new Resizable(bytes, { maxByteLength: bytes }));
}

/** Gives it back to the system at once; what still looks at it sees no bytes. */
export function returnMemory(lent: Buffer): void {
  const { buffer } = lent;
  if (isResizable(buffer)) buffer.resize(0);
}

export function isLent({ buffer }: Buffer): boolean {
  return isResizable(buffer);
}

/** What is smaller is not worth the call of the system. */
const LEAST_BYTES = 4 * 1024;

/** A copy of what was read in lent memory, instead of the memory that it came in; undefined for what is small. */
export function movedPart(part: Buffer): Buffer | undefined {
  if (part.length < LEAST_BYTES) return undefined;
  const lent = lendMemory(part.length);
  part.copy(lent);
  forget(part);
  return lent;
}

/** What Node.js has had since version 20, and the types of the language since ES2024. */
interface ResizableBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}
const Resizable: new (bytes: number, options: { readonly maxByteLength: number }) => ArrayBuffer = ArrayBuffer;

function isResizable(buffer: ArrayBufferLike): buffer is ResizableBuffer {
  return "resizable" in buffer && buffer.resizable === true;
}

const { port1: nobody, port2: deaf } = new MessageChannel();
deaf.close();
nobody.unref();

/**
 * Frees the memory of what was read, if nothing else is in it, without waiting for a collection of garbage: in a flood,
 * that comes too late. A message to nobody takes its memory with it. Not for parts of HTTP/2, which Node.js itself still reads
 * while it hands them over.
 */
export function forget(part: Buffer): void {
  const { buffer, byteOffset, length } = part;
  if (length < LEAST_BYTES || byteOffset !== 0 || buffer.byteLength !== length) return;
  if (buffer instanceof ArrayBuffer) nobody.postMessage(undefined, [buffer]);
}
