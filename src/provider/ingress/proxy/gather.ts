import type { Readable } from "node:stream";

/** Parts that are smaller are gathered, up to as many bytes. */
const SMALL_BYTES = 4 << 10;
const GATHERED_BYTES = 64 << 10;

/**
 * Gathers the small parts of a body that come within one turn of the event loop, all but the first: each by itself would take as much
 * time and memory as a large one. `worked` is told of every part and gives the number of the turn.
 */
export function gatherParts(source: Readable, worked: () => number): void {
  const { push } = source;
  const gathered: Buffer[] = [];
  let size = 0;
  let turn = -1;
  const flush = (): void => {
    if (gathered.length === 0) return;
    const whole = Buffer.concat(gathered.splice(0));
    size = 0;
    if (!source.destroyed) push.call(source, whole);
  };
  const gather = (part: Buffer): boolean => {
    if (gathered.length === 0) setImmediate(flush);
    gathered.push(part);
    size += part.length;
    if (size >= GATHERED_BYTES) flush();
    return source.readableLength + size < source.readableHighWaterMark;
  };
  source.push = (part: Buffer | null): boolean => {
    const before = turn;
    turn = worked();
    if (part === null || turn !== before) flush();
    const isWhole = part === null || turn !== before || (gathered.length === 0 && part.length >= SMALL_BYTES);
    return isWhole ? push.call(source, part) : gather(part);
  };
}
