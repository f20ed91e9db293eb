/** Bytes that a transaction takes in a block beside its own: a tag and its length. */
function overhead(size: number): number {
  let bytes = 2;
  for (let rest = size >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

/**
 * Takes transactions in their order until the block is full. One that could never fit is passed over; at the first that
 * does not fit any more it stops, because later ones of the same account build on it.
 */
export function fillBlock(txs: readonly Uint8Array[], maxBytes: number): Uint8Array[] {
  const chosen: Uint8Array[] = [];
  let size = 0;
  for (const tx of txs) {
    const needed = tx.length + overhead(tx.length);
    if (needed > maxBytes) continue;
    if (size + needed > maxBytes) break;
    size += needed;
    chosen.push(tx);
  }
  return chosen;
}
