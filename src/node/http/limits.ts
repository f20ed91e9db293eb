/** Limits on what the servers of a node hold for one client, and for all clients together. */

/** Bytes of all answers and events that clients have not read yet. */
export const MAX_UNREAD_BYTES = 128 * 1024 * 1024;
/** Bytes of all requests that have come in part, or wait for their answer, beyond the first part of each. */
export const MAX_SENT_BYTES = 64 * 1024 * 1024;
/** Time within which a client must have read an answer. */
export const READ_WITHIN_MS = 30_000;
/** Time within which the headers of a request must have arrived. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Time within which a whole request must have arrived. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Time for which a connection stays open for the next request. */
export const KEEP_ALIVE_MS = 75_000;

/** Time in which calls begin one after the other before other work of the thread has its turn. */
export const CALLS_SLICE_MS = 5;
