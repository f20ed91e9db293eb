/**
 * A height as seen by a chain that begins after block `last`: blocks of the older chain have 0 and negative heights.
 */
export function movedHeight(height: bigint, last: bigint): bigint {
  return height - last;
}

/** The same for a height at which something ended; 0 means that it has not ended, before and after. */
export function movedEnd(height: bigint, last: bigint): bigint {
  if (height === 0n) return 0n;
  return height === last ? -1n : height - last;
}

/** The same for a height at which something is due; overdue heights become due at once. */
export function movedDue(height: bigint, last: bigint): bigint {
  return height > last ? height - last : 0n;
}
