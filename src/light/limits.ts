const SECOND = 1_000_000_000n;

/** Nanoseconds that a header may be ahead of the local clock. */
export const CLOCK_DRIFT = 10n * SECOND;

/** Nanoseconds for which a verified header is trusted by default: shorter than validators need to withdraw their stake. */
export const TRUST_PERIOD = 14n * 24n * 3600n * SECOND;

/** Headers that a store keeps; the oldest are deleted. */
export const MAX_TRUSTED_HEADERS = 1_000;

/** Headers that one request may fetch from a node. */
export const MAX_FETCHED_HEADERS = 2_000;

/** Validators of a set, as the engine limits them. */
export const MAX_VALIDATORS = 10_000;

/** Voting power of a whole set, as the engine limits it. */
export const MAX_TOTAL_POWER = (2n ** 63n - 1n) / 8n;

/** Bytes of a chain's name. */
export const MAX_CHAIN_ID_BYTES = 50;

/** Times that a witness that does not have a block yet is asked for it, and milliseconds between them. */
export const WITNESS_TRIES = 4;
export const WITNESS_PAUSE_MS = 1_000;
/** Milliseconds after which a witness that has not answered counts as one that does not show the block. */
export const WITNESS_WITHIN_MS = 15_000;
/** Milliseconds for which others are waited for when one witness has confirmed a block. */
export const WITNESS_GRACE_MS = 2_000;
