/** How much one client, and all clients together, may have a node hold for them. */

/** Bytes of the answers to one batch; what comes after them is refused. */
export const MAX_BATCH_BYTES = 10 * 1024 * 1024;
/** Bytes of all answers and events that clients have not read yet. */
export const MAX_UNREAD_BYTES = 128 * 1024 * 1024;
/** Time in which a client must have read an answer. */
export const READ_WITHIN_MS = 30_000;
/** Requests that may wait on one connection for the answers to those before them. */
export const MAX_WAITING_REQUESTS = 64;
