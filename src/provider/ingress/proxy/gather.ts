import type { Readable } from "node:stream";

/** Parts that are smaller are gathered, up to as many bytes. */
const SMALL_BYTES = 4 << 10;
const GATHERED_BYTES = 64 << 10;
/** Parts of a request's body that may arrive together; programs that send small parts do so over time. */
const MAX_PARTS_OF_CLIENT = 1_000;

/** The same as `gatherParts` for the body of a request. A request whose parts are far too many and small is broken off. */
export function gatherClientParts(source: Readable): void {
  gatherParts(source, MAX_PARTS_OF_CLIENT);
}

/**
 * Gathers small parts of a body that arrive together, all but the first: each by itself would take as much time and memory as a large
 * part.
 */
export function gatherParts(source: Readable, maxParts = Number.POSITIVE_INFINITY): void {
  const { push } = source;
  let gathered: Buffer | undefined;
  let size = 0;
  let parts = 0;
  let isGathering = false;
  let isBroken = false;
  const flush = (): void => {
    const whole = gathered?.subarray(0, size);
    gathered = undefined;
    size = 0;
    if (whole !== undefined && !source.destroyed) push.call(source, whole);
  };
  const gather = (part: Buffer): boolean => {
    parts += 1;
    if (parts > maxParts) {
      // A stream of HTTP/2 must not end within its own callback.
      if (!isBroken) setImmediate(() => source.destroy());
      isBroken = true;
      return false;
    }
    if (size + part.length > GATHERED_BYTES) flush();
    gathered ??= Buffer.allocUnsafe(GATHERED_BYTES);
    size += part.copy(gathered, size);
    return source.readableLength + size < source.readableHighWaterMark;
  };
  const begin = (): void => {
    isGathering = true;
    parts = 0;
    setImmediate(() => {
      isGathering = false;
      flush();
    });
  };
  source.push = (part: Buffer | null): boolean => {
    if (part !== null && isGathering && part.length < SMALL_BYTES) return gather(part);
    flush();
    if (part !== null && !isGathering) begin();
    return push.call(source, part);
  };
}
