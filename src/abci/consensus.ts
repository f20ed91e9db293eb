/** A change of the voters; power 0 takes a validator out. */
export interface ValidatorUpdate {
  /** ed25519, 32 bytes. */
  readonly pubKey: Uint8Array;
  readonly power: bigint;
}

/** What all nodes of a chain must agree on beside the application. */
export interface ConsensusParams {
  /** `maxBytes` of -1 is the engine's own limit, `maxGas` of -1 none. */
  readonly block: { readonly maxBytes: bigint; readonly maxGas: bigint };
  /** Misbehaviour older than both ages is not evidence any more; the duration is in nanoseconds. */
  readonly evidence: { readonly maxAgeNumBlocks: bigint; readonly maxAgeDuration: bigint; readonly maxBytes: bigint };
  readonly validator: { readonly pubKeyTypes: readonly string[] };
}

/** Gas of a block of a new chain, so that a full one takes about a second of CPU time (`npm run bench -- gas`). */
export const DEFAULT_MAX_GAS = 30_000_000n;

/** Those of a new chain. */
export const DEFAULT_CONSENSUS_PARAMS: ConsensusParams = {
  block: { maxBytes: 22_020_096n, maxGas: DEFAULT_MAX_GAS },
  evidence: { maxAgeNumBlocks: 100_000n, maxAgeDuration: 172_800_000_000_000n, maxBytes: 1_048_576n },
  validator: { pubKeyTypes: ["ed25519"] },
};
