/** Limits on what the servers of a node hold for one client, and for all clients together. */

/** Bytes of all answers and events that clients have not read yet. */
export const MAX_UNREAD_BYTES = 128 * 1024 * 1024;
/** Bytes of all requests that have come in part, or wait for their answer, beyond the first part of each. */
export const MAX_SENT_BYTES = 64 * 1024 * 1024;
/** Time within which a client must have read an answer. */
export const READ_WITHIN_MS = 30_000;
/** Requests that may wait on one connection for the answers to those before them. */
export const MAX_WAITING_REQUESTS = 64;
/** Time within which the headers of a request must have arrived. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Time within which a whole request must have arrived. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Time for which a connection stays open for the next request. */
export const KEEP_ALIVE_MS = 75_000;

/** How long a connection is read after bytes that are not a request were answered. */
export const LINGER_MS = 1_000;

/** Time in which calls begin one after the other before other work of the thread has its turn. */
export const CALLS_SLICE_MS = 5;
/** Work that what is read of clients may make in one turn of the event loop; then it is read of some connections at a time. */
export const READING_SLICE_MS = 5;
/** Connections that are read again in each turn after that. */
export const READING_AT_A_TIME = 32;
/** Such turns in a row that make a flood. */
export const FLOOD_TURNS = 10;
/** A connection that has sent less is a newcomer: it has greeted, and may have asked its first question. */
export const FRESH_BYTES = 1024;
/** Turns in a row that only take new connections, where each brings one, before other work goes on. */
export const ACCEPTED_IN_A_ROW = 128;
