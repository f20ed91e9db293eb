/** The smallest of some numbers. */
export function lowest(first: bigint, others: readonly bigint[]): bigint {
  let least = first;
  for (const each of others) if (each < least) least = each;
  return least;
}
