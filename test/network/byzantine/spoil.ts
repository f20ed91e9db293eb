import { randomBytes } from "node:crypto";

/** Proposals of a byzantine validator. `buildByzantine` puts this file into a copy of the program; no release has it. */

/** The last height whose proposal is spoiled. */
export const LAST_SPOILED = 100n;
/** The height after which the node has another state than the others. */
export const LIE_HEIGHT = 105n;
/** Transactions of earlier checks, which are valid, late, or more than a block has gas for. */
const seen: Uint8Array[] = [];
const MOST_SEEN = 200;
const KINDS = ["unreadable", "too much gas", "twice the same", "one byte over"] as const;

export function see(tx: Uint8Array): void {
  if (seen.push(tx) > MOST_SEEN) seen.shift();
}

/** The transactions that the node proposes in place of valid ones. */
export function spoil(height: bigint, txs: readonly Uint8Array[], maxBytes: number): readonly Uint8Array[] {
  if (height > LAST_SPOILED) return txs;
  switch (KINDS[Number(height) % KINDS.length]) {
    case "too much gas":
      return [...txs, ...seen];
    case "twice the same":
      return [...txs, ...[txs[0] ?? randomBytes(100)].flatMap((tx) => [tx, tx])];
    case "one byte over":
      // A tag and four bytes of length stand before it.
      return [randomBytes(maxBytes - 4)];
    default:
      return [...txs, randomBytes(200)];
  }
}

/** The hash of the state that the node claims. */
export function lie(height: bigint, appHash: Uint8Array): Uint8Array {
  return height === LIE_HEIGHT ? Uint8Array.from(appHash, (byte) => byte ^ 0xff) : appHash;
}
