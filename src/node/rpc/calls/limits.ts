/** Bytes of the answers to one batch; calls beyond them are refused. */
export const MAX_BATCH_BYTES = 10 * 1024 * 1024;
