/** Limits on the resources that a node's servers hold for one client, and for all clients together. */

/** A client may have one of so many parts of all connections. */
export const CONNECTION_SHARES = 8;
/** Bytes of all answers and events that clients have not read yet. */
export const MAX_UNREAD_BYTES = 128 * 1024 * 1024;
/** Bytes of all requests that have come in part, or wait for their answer, beyond the first part of each. */
export const MAX_SENT_BYTES = 64 * 1024 * 1024;
/** Bytes that a part of a request counts beside its contents: the memory of a buffer and its place in a list. */
export const PART_BYTES = 512;
/** Parts in which a body may arrive. */
export const MAX_BODY_PARTS = 4_096;
/** Time within which a client must have read an answer. */
export const READ_WITHIN_MS = 30_000;
/** Time within which the headers of a request must have arrived. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Time within which a whole request must have arrived. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Time for which a connection stays open for the next request. */
export const KEEP_ALIVE_MS = 75_000;
/** Seconds of a client's rate that it may use at once. */
export const BURST_SECONDS = 2;
