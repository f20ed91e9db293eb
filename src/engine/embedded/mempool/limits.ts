/** How much may wait for a block. */
export interface MempoolLimits {
  readonly maxTxs: number;
  readonly maxBytes: number;
  readonly maxTxBytes: number;
  /** Limits of the transactions of one signer. */
  readonly maxTxsPerSender: number;
  readonly maxBytesPerSender: number;
  /** Number of hashes of seen transactions to remember. */
  readonly cacheSize: number;
}

export const DEFAULT_MEMPOOL_LIMITS: MempoolLimits = {
  maxTxs: 50_000,
  maxBytes: 64 * 1024 * 1024,
  maxTxBytes: 1024 * 1024,
  maxTxsPerSender: 1_000,
  maxBytesPerSender: 8 * 1024 * 1024,
  cacheSize: 100_000,
};

/** Maximum bytes of waiting transactions in one answer: they are copied while no block is made. */
export const MAX_LISTED_BYTES = 2 * 1024 * 1024;

/** Percentage by which a replacement must raise the gas price. */
export const REPLACEMENT_RAISE = 10n;

/** Most transactions that make room for a single one. */
export const MAX_EVICTED = 1_000;

/** Transactions that no longer fit and that a block skips before it counts as full. */
export const MAX_PASSED_OVER = 100;
