/** A transaction that could come into a block. */
export interface Candidate {
  readonly tx: Uint8Array;
  /** Gas that it asks for. */
  readonly gas: bigint;
}

/** Total limits of the transactions of one block. */
export interface BlockRoom {
  /** Each transaction counts with its tag and length. */
  readonly maxBytes: number;
  /** Negative = no limit. */
  readonly maxGas: bigint;
}

/** Bytes that a transaction takes in a block besides its own: a tag and its length. */
function overhead(size: number): number {
  let bytes = 2;
  for (let rest = size >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

/**
 * Takes transactions in their order until the block is full. A transaction that could never fit is skipped; the first
 * that no longer fits ends the block, because later ones of the same account build on it.
 */
export function fillBlock(candidates: readonly Candidate[], room: BlockRoom): Uint8Array[] {
  const chosen: Uint8Array[] = [];
  let bytes = 0;
  let wanted = 0n;
  for (const { tx, gas } of candidates) {
    const size = tx.length + overhead(tx.length);
    if (!isWithin(room, size, gas)) continue;
    if (!isWithin(room, bytes + size, wanted + gas)) break;
    bytes += size;
    wanted += gas;
    chosen.push(tx);
  }
  return chosen;
}

function isWithin({ maxBytes, maxGas }: BlockRoom, bytes: number, gas: bigint): boolean {
  return bytes <= maxBytes && (maxGas < 0n || gas <= maxGas);
}
