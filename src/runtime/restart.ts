/** A height as a chain tells it that begins behind block `last`: blocks of the older chain have 0 and negative ones. */
export function movedHeight(height: bigint, last: bigint): bigint {
  return height - last;
}

/** The same of a height at which something ended; 0 says that nothing has, before and after. */
export function movedEnd(height: bigint, last: bigint): bigint {
  if (height === 0n) return 0n;
  return height === last ? -1n : height - last;
}

/** The same of a height at which something is due: what is late is due at once. */
export function movedDue(height: bigint, last: bigint): bigint {
  return height > last ? height - last : 0n;
}
