/** Bytes of the answers to one batch; what comes after them is refused. */
export const MAX_BATCH_BYTES = 10 * 1024 * 1024;
